#!/usr/bin/env bash
# Run gofmt, go vet, staticcheck, and the checks of the source tree in tests/. Print only failures.
# .ci/run sets CTXFS_RAN: make test then leaves out tests/ (see dist/test.sh).
set -eu
cd "$(dirname "$0")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { printf 'gofmt -w these:\n%s\n' "$unformatted"; exit 1; }
go vet ./...
go run "$staticcheck" ./...
checks=$(go test -count=1 -vet=off ./tests 2>&1) || { printf '%s\n' "$checks"; exit 1; }
[ -z "${CTXFS_RAN:-}" ] || echo tests >>"$CTXFS_RAN/packages"
