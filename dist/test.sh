#!/usr/bin/env bash
# All tests, or what the arguments of go test narrow them to. Packages share the machine, as many at once as it has
# processors: each has its own stores, mounts, users and disks (images in files).
set -eu
cd "$(dirname "$0")/.."
umask 022 # tests act as several users, who run what is built here
export PATH=$PATH:/usr/sbin:/sbin
export CTXFS_ALL_CLIENTS=1 # a missing client program is a failure here, not a skip
go build -buildvcs=false ./...
# The program under test, built once for all packages of this run and for no other.
bin=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-test-bin-XXXXXX")
trap 'rm -rf "$bin"' EXIT
chmod 755 "$bin"
go build -buildvcs=false -o "$bin/ctxfs" ./cmd/ctxfs
export CTXFS_BIN=$bin/ctxfs
# The longest come first, those that compute beside those that wait, so that no processor is idle and none of them is left alone at the end.
module=$(go list -m)
first="pack tests/container eval tests/host session tests/recipe cmd/ctxfs tests/fsck tests/bench tests/gc"
# shellcheck disable=SC2086 # a list of words
packages=$({ printf "$module/%s\n" $first; go list ./...; } | awk '!seen[$0]++')
# -count=1: the test cache does not see which program is under test. -vet=off: dist/lint.sh vets, and more than this.
# The timeout is for what hangs, on machines however slow.
# shellcheck disable=SC2086
run() { go test -count=1 -vet=off -timeout 60m "$@" $packages </dev/null; }
[ $# = 0 ] || { run "$@"; exit; }
# The compiler of packs keeps 85 % of its statements under its own tests, at least.
set -o pipefail
run -cover | tee "$bin/results"
awk -v pack="$module/pack" '$1 == "ok" && ($2 == pack || $2 == pack "/recipe") { seen++; for (i = 3; i < NF; i++) if ($i == "coverage:" && $(i+1) + 0 < 85) low = low "\n" $2 ": " $(i+1) " of its statements are covered, less than 85%" }
	END { if (seen < 2) low = low "\nthe coverage of pack/ was not told"; if (low) { print substr(low, 2) > "/dev/stderr"; exit 1 } }' "$bin/results"
