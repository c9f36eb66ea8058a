#!/usr/bin/env bash
# All tests. The heavy ones mount, fill disks and kill daemons: one package at a time.
set -eu
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin:/sbin
go build -buildvcs=false ./...
exec go test -timeout 20m -p 1 "$@" ./... </dev/null
