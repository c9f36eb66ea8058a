#!/usr/bin/env bash
# packs-same.sh COMMIT: compare the prompts of COMMIT and of this tree, byte by byte.
# Both programs mount a copy of one store and read the prompt of every session at four budgets: every format at
# the end of the history, and pack.md and pack.json (which has the id) at a third and at two thirds of it.
# The sessions are examples/**/*.jsonl and, if the directory exists, all *.jsonl below CTXFS_TESTDATA (default:
# ../shared/data).
# Exit status: 0 if all files are equal, 1 if one differs (its name and both hashes are printed).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: make packs-same BASE=COMMIT" >&2; exit 2; }
export PATH=$PATH:/usr/local/go/bin
data=${CTXFS_TESTDATA:-../shared/data}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-packs-same.XXXXXX")
mounted=()
cleanup() {
	local m
	for m in "${mounted[@]}"; do "$dir/new" umount --stop "$m" >/dev/null 2>&1 || "$dir/new" umount --force "$m" || true; done
	git worktree remove --force "$dir/tree" 2>/dev/null || true
	rm -rf "$dir"
}
trap cleanup EXIT
export XDG_RUNTIME_DIR=$dir/run
mkdir -m 700 "$dir/run"

go build -buildvcs=false -o "$dir/new" ./cmd/ctxfs
git worktree add -q --detach "$dir/tree" "$1"
go -C "$dir/tree" build -buildvcs=false -o "$dir/old" ./cmd/ctxfs

# One store for both programs. The names are numbers, because a file's name may be no session's name.
n=0
for f in $(find examples -name '*.jsonl' | sort) $([ ! -d "$data" ] || find "$data" -name '*.jsonl' -size -8M | sort); do
	n=$((n + 1))
	"$dir/old" import --store "$dir/store" "$f" "pack/$n" >/dev/null 2>&1 || echo "packs-same: skipped, import refuses it: $f" >&2
done
user=$(id -u)
sessions=store/home/$user/agent/pack/session
count=$(find "$dir/$sessions" -mindepth 1 -maxdepth 1 -type d | wc -l)
[ "$count" -gt 0 ] || { echo "packs-same: no session could be imported" >&2; exit 1; }

for program in old new; do
	for budget in 4000 8000 16000 32000; do
		# Both programs use the same path in turn: a prompt names the mountpoint.
		cp -a "$dir/store" "$dir/copy"
		mkdir "$dir/ctx"
		"$dir/$program" mount --store "$dir/copy" --budget $budget "$dir/ctx" >/dev/null
		mounted=("$dir/ctx")
		(
			cd "$dir/ctx/home/$user/agent/pack/session"
			for s in *; do
				messages=$(wc -l <"$s/messages.jsonl")
				for f in pack.{md,json,report.md,openai.json,anthropic.json,responses.json,gemini.json,genai.json} \
					at/$((messages / 3))/pack.{md,json} at/$((2 * messages / 3))/pack.{md,json}; do
					if hash=$(sha256sum 2>&1 <"$s/context/$f"); then echo "$budget $s/$f ${hash%% *}"; else echo "$budget $s/$f: ${hash##*: }"; fi
				done
			done
		) >>"$dir/$program.txt" 2>&1
		"$dir/$program" umount --stop "$dir/ctx" >/dev/null
		mounted=()
		rm -rf "$dir/copy" "$dir/ctx"
	done
done
[ "$(grep -c 'pack.md [0-9a-f]' "$dir/new.txt")" -ge $((4 * count)) ] || { echo "packs-same: packs could not be read:" >&2; grep -v ' [0-9a-f]\{64\}$' "$dir/new.txt" | head >&2; exit 1; }
if ! diff "$dir/old.txt" "$dir/new.txt"; then
	echo "packs-same: the prompts above differ from those of $1" >&2
	exit 1
fi
echo "$(wc -l <"$dir/new.txt") prompt files of $count sessions at 4 budgets are equal to those of $1"
