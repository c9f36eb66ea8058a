#!/usr/bin/env bash
# gofmt, go vet and staticcheck, each silent when content.
set -eu
cd "$(dirname "$0")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { printf 'gofmt -w these:\n%s\n' "$unformatted"; exit 1; }
go vet ./...
go run "$staticcheck" ./...
