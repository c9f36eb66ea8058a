#!/usr/bin/env bash
# All tests. The heavy ones mount, fill disks and kill daemons: one package at a time.
set -eu
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin:/sbin
export CTXFS_ALL_CLIENTS=1 # a missing client program is a failure here, not a skip
go build -buildvcs=false ./...
exec go test -timeout 20m -p 1 "$@" ./... </dev/null
