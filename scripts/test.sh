#!/usr/bin/env bash
# All tests. The heavy ones mount, fill disks and kill daemons: one package at a time.
set -eu
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin:/sbin
export CTXFS_ALL_CLIENTS=1 # a missing client program is a failure here, not a skip
go build -buildvcs=false ./...
# -count=1: the packages under tests/ build the daemon themselves, which the test cache does not see.
exec go test -count=1 -timeout 20m -p 1 "$@" ./... </dev/null
