#!/usr/bin/env bash
# test.sh: all tests, those of the matrix in their short form (internal/suite), or what the arguments of go test narrow
# them to.
# test.sh matrix: the tests that internal/suite/matrix.txt lists, in full, and how much of the compiler of packs its own
# tests cover.
# A test that fails is run once more, alone: many wait for daemons, servers and foreign programs on a machine that has other
# work. What fails again has failed, and so has a package that ends in a panic, does not build, or has many failures.
# Packages share the machine, one more at once than it has processors, because many wait more than they compute: each
# has its own stores, mounts, users and disks (images in files).
set -euo pipefail
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
list=internal/suite/matrix.txt
module=$(go list -m)
# -count=1: the test cache does not see which program is under test. -vet=off: dist/lint.sh vets, and more than this.
# -ldflags=-w: test programs are linked in half the time without what a debugger needs. The timeout is for what hangs,
# on machines however slow.
once() { go test -count=1 -p $(($(nproc) + 1)) -vet=off -ldflags=-w -timeout 60m "$@" </dev/null; }

# run is once, and then once more for tests that failed. What it prints of the first failures begins with "first run: ".
run() {
	local pkg tests arg flags=()
	if once "$@" 2>&1 | tee "$bin/first" | sed -u -E 's/^(--- FAIL|FAIL)/first run: &/'; then
		return
	fi
	awk -F '\t' '/^--- FAIL: / { split($0, w, " "); names = names "|" w[3]; n++ } /^(panic|fatal error|signal): / { crashed = 1 }
		/^(ok|FAIL|---|\?)\t/ { if ($1 == "FAIL") print $2, crashed || names == "" ? "-" : substr(names, 2); names = ""; crashed = 0 }
		END { if (n > 6) print "more-than-6-tests -" }' "$bin/first" >"$bin/failed"
	[ -s "$bin/failed" ] || return 1
	if grep ' -$' "$bin/failed" | sed 's/^\([^ ]*\).*/FAIL\t\1/' | grep .; then
		return 1
	fi
	for arg in "$@"; do
		[[ $arg == "$module"* ]] || flags+=("$arg")
	done
	while read -r pkg tests; do
		echo "once more, alone: $tests"
		once "${flags[@]}" -p 1 -run "^($tests)\$" "$pkg" || return 1
	done <"$bin/failed"
}

if [ "${1:-}" = matrix ]; then
	names=$(cut -d ' ' -f 2 "$list" | paste -s -d '|')
	packages=$(cut -d ' ' -f 1 "$list" | uniq | sed "s,^,$module/,")
	# shellcheck disable=SC2086 # a list of words
	CTXFS_MATRIX=1 run -run "^($names)\$" $packages
	# The server of a cluster, which is a module of its own.
	go -C cluster/embed test -count=1 -vet=off -timeout 10m ./...
	# The files for Kubernetes and compose, read into the types of those programs: a module of its own, too.
	go -C tests/manifests test -count=1 -timeout 30m ./...
	# The compiler of packs keeps 85 % of its statements under its own tests, at least.
	once -cover ./pack/... | tee "$bin/results"
	awk -v pack="$module/pack" '$1 == "ok" && ($2 == pack || $2 == pack "/recipe") { seen++; for (i = 3; i < NF; i++) if ($i == "coverage:" && $(i+1) + 0 < 85) low = low "\n" $2 ": " $(i+1) " of its statements are covered, less than 85%" }
		END { if (seen < 2) low = low "\nthe coverage of pack/ was not told"; if (low) { print substr(low, 2) > "/dev/stderr"; exit 1 } }' "$bin/results"
	exit
fi

# The longest come first, those that compute beside those that wait, so that no processor is idle and none of them is
# left alone at the end.
first="tests/recipe pack cmd/ctxfs tests/crash eval tests/memory session tests/examples tests/pack tests/adapter run/runner agents/adapter/formats"
# shellcheck disable=SC2086
packages=$({ printf "$module/%s\n" $first; go list ./...; } | awk '!seen[$0]++')
if [ $# = 0 ]; then
	echo "$(wc -l <"$list") tests are left to make test-matrix, or run in a short form ($list)"
fi
# shellcheck disable=SC2086
run "$@" $packages
