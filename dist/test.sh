#!/usr/bin/env bash
# test.sh [argument of go test ...]: all tests, in short form if they have one (internal/suite).
# test.sh matrix: the tests that internal/suite/matrix.txt lists, in full form, and all tests of
# pack and pack/recipe with their coverage.
# test.sh race: the packages with concurrency, under the race detector.
#
# If a test fails, it runs once more, alone: many tests wait for daemons, servers, and foreign
# programs on a busy machine. The run fails if a test fails twice, or if a package panics, does not
# build, or has more than six failures. Packages run in parallel, one more than the machine has
# processors, because many wait more than they compute: each has its own stores, mounts, users, and
# disks (images in files).
#
# .ci/run sets CTXFS_RAN to a directory so that no test runs twice. A run that passes adds lines to
# these files, and a later run leaves out the tests that they name:
#   packages  packages of which all tests passed, except for those in "plain"
#   plain     tests that still need a run without the race detector
#   tests     single tests that passed in full form
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022 # tests act as several users, and all of them run the program
export PATH=$PATH:/usr/sbin:/sbin
export CTXFS_ALL_CLIENTS=1 # a missing client program is a failure, not a skip
export npm_config_fetch_timeout=30000 npm_config_fetch_retries=4 # npm waits five minutes for a stalled download
mode=all
case ${1:-} in matrix | race) mode=$1 && shift ;; esac
list=internal/suite/matrix.txt
module=$(go list -m)
bin=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-test-bin-XXXXXX")
trap 'rm -rf "$bin"' EXIT
chmod 755 "$bin"
ran=${CTXFS_RAN:-$bin}
touch "$ran/packages" "$ran/plain" "$ran/tests"

# -count=1: the test cache does not see the program under test. -vet=off: dist/lint.sh vets.
# -ldflags=-w: without debug information, linking takes half the time. The timeout ends tests that
# hang, even on a slow machine.
once() { go test -count=1 -p $(($(nproc) + 1)) -vet=off -ldflags=-w -timeout 60m "$@" </dev/null; }

# run calls once, and then once more for failed tests. Output of first failures begins with
# "first run: ".
run() {
	local pkg tests arg flags=()
	if once "$@" 2>&1 | tee "$bin/first" | sed -u -E 's/^(--- FAIL|FAIL)/first run: &/'; then
		return
	fi
	awk -F '\t' '/^--- FAIL: / { split($0, w, " "); names = names "|" w[3]; n++ }
		/^(panic|fatal error|signal): / { crashed = 1 }
		/^(ok|FAIL|---|\?)\t/ {
			if ($1 == "FAIL") print $2, crashed || names == "" ? "-" : substr(names, 2)
			names = ""; crashed = 0
		}
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

# build builds the program under test, once for all packages. Runs of .ci/run share it.
build() {
	go build -buildvcs=false ./...
	export CTXFS_BIN=$ran/ctxfs
	[ -e "$CTXFS_BIN" ] || go build -buildvcs=false -o "$CTXFS_BIN" ./cmd/ctxfs
}

# pattern prints a regular expression for the tests in lines "package test".
pattern() { printf '^(%s)$' "$(cut -d ' ' -f 2 | sort -u | paste -s -d '|')"; }

# packages prints the import paths of the packages in lines "package [test]", each once.
packages() { awk -v module="$module" '!seen[$1]++ { print module "/" $1 }'; }

# without removes the lines of a file from its input.
without() { grep -vxF -f "$1" || true; }

# The longest packages come first, so that none of them is left alone at the end. Packages that
# compute alternate with packages that wait.
first="tests/recipe pack cmd/ctxfs tests/crash eval tests/memory session tests/examples
	tests/pack tests/adapter run/runner agents/adapter/formats"
matrix_first="tests/agents session tests/ui tests/memory eval"

run_race() {
	# pack and pack/recipe start no goroutine (TestPackStartsNoGoroutine).
	go list ./run/runner ./session/... ./pack/... ./fs ./internal/mounts ./gc/... ./internal/volume \
		./agents/mcp/... ./tests/gc | sed "s,^$module/,," | grep -vxE 'pack|pack/recipe' >"$bin/raced"
	# The listed tests of session and pack/builder use one goroutine; the matrix runs them. Those of
	# other packages run here, in full form.
	grep -E '^(session|pack/builder) ' "$list" >"$bin/plain-race"
	awk 'NR == FNR { raced[$1] = 1; next } $1 in raced' "$bin/raced" "$list" |
		without "$bin/plain-race" >"$bin/tests-race"
	# shellcheck disable=SC2046 # a list of words
	CTXFS_MATRIX=1 CTXFS_PLAIN=$bin/plain-race run -race -skip "$(pattern <"$bin/plain-race")" \
		$(packages <"$bin/raced")

	sed -nE 's,^func (Test\w*(Concurrent|Cache)\w*)\(.*,internal/tokens \1,p' internal/tokens/*_test.go >"$bin/tokens"
	run -race -run "$(pattern <"$bin/tokens")" "$module/internal/tokens"

	cat "$bin/raced" >>"$ran/packages"
	cat "$bin/tests-race" "$bin/tokens" >>"$ran/tests"
	cat "$bin/plain-race" >>"$ran/plain"
}

run_matrix() {
	build
	grep -vE '^pack ' "$list" | without "$ran/tests" >"$bin/matrix"
	# shellcheck disable=SC2046,SC2086 # lists of words
	CTXFS_MATRIX=1 run -run "$(pattern <"$bin/matrix")" $({ printf '%s\n' $matrix_first && cat "$bin/matrix"; } | packages)
	# The files for Kubernetes and compose: a module of its own.
	go -C tests/manifests test -count=1 -timeout 30m ./...

	# The tests of pack and pack/recipe cover at least 85 % of their statements.
	CTXFS_MATRIX=1 run -cover "$module/pack" "$module/pack/recipe"
	awk '/^coverage: / { failed = $2 } # of a package with a test that passed in the second run
		$1 == "ok" { for (i = 3; i < NF; i++) if ($i == "coverage:") check($2, $(i+1)) }
		$1 == "FAIL" && NF > 1 { check($2, failed) }
		function check(pkg, share) {
			seen++
			if (share + 0 < 85) { print pkg ": tests cover " share ", less than 85%"; low = 1 }
		}
		END { if (seen < 2) print "go test reported no coverage of pack or pack/recipe"; exit low || seen < 2 }' \
		"$bin/first" >&2
	cat "$bin/matrix" >>"$ran/tests"
	printf '%s\n' pack pack/recipe >>"$ran/packages"
}

run_all() {
	build
	if [ $# = 0 ]; then
		echo "$(wc -l <"$list") tests run in full form in make test-matrix ($list)"
	fi
	sort -u "$ran/plain" | without "$ran/tests" >"$bin/rest"
	if [ -s "$bin/rest" ]; then
		# shellcheck disable=SC2046 # a list of words
		run "$@" -run "$(pattern <"$bin/rest")" $(packages <"$bin/rest")
	fi
	if [ -s "$ran/tests" ]; then
		set -- "$@" -skip "$(pattern <"$ran/tests")"
	fi
	# shellcheck disable=SC2046,SC2086 # lists of words
	run "$@" $({ printf '%s\n' $first && go list ./... | sed "s,^$module/,,"; } | without "$ran/packages" | packages)
}

"run_$mode" "$@"
