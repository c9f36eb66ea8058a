#!/usr/bin/env bash
# bench.sh [smoke]: the benches of tests/bench; ratios against baselines of the same run.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = smoke ]; then export CTXFS_BENCH=smoke; else export CTXFS_BENCH=full; fi
exec go test -count=1 -timeout 60m -v ./tests/bench </dev/null
