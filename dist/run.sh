#!/usr/bin/env bash
# What `make run` shows, on one screen: it mounts a temporary store and loads the example session into it.
# tests/examples/run_test.go holds the screen to 60 lines of 100 columns.
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
repo=${scripts%/*}
cd "$repo"
"$scripts/stop.sh" quiet

dir=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-run.XXXXXX")
chmod 755 "$dir"
mkdir -p .run "$dir/ctx"
echo "$dir" >.run/dir
export PATH=$repo/bin:$PATH
trap 'echo "run: it ended half-way, see above; make stop cleans up" >&2' ERR

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# show CMD prints a command as a user would type it, then runs it and prints what fits on the screen.
show() {
	printf '%s$ %s%s\n' "$dim" "$1" "$plain"
	(eval "$1") 2>&1 | LC_ALL=C.UTF-8 sed -E 's/^[^ ]*run\.sh: line [0-9]+: /bash: /; s/^(.{99}).{2,}/\1…/'
}

title "Mount a store. mkdir makes a session, >> appends a record."
cd "$dir"
show "ctxfs mount --store store --budget 16000 ctx"
session=$dir/ctx/home/$(id -u)/agent/coder/session/refresh
show "mkdir -p ctx/home/$(id -u)/agent/coder/session/refresh"
cd "$session"
# The example: its system prompt belongs to the agent, the rest to the session.
cp "$repo/examples/session/system_prompt.md" ../..
cp "$repo/examples/session/pinned/rules.md" context/pinned/
cp "$repo/examples/session/todo.md" context/todo.md
echo "$repo/examples/workspace" >cwd
cat "$repo/examples/session/messages.jsonl" >>messages.jsonl
cat "$repo/examples/session/events.jsonl" >>events.jsonl
show "echo '{\"role\":\"user\",\"content\":\"Is it Thursday yet? How do the retries look?\"}' >> messages.jsonl"
show 'wc -lc messages.jsonl'

title "The prompt begins with the rules, ends with the goal, and fits its budget."
show 'head -n 3 context/pack.md; echo "  ..."; tail -n 5 context/pack.md'
show "sed -n '4,6p' context/pack.report.md"

title "Why is record 57 not there? What did anybody say about it?"
show 'ctxfs why . messages:57 | grep -v whole'
show "cat 'context/search/lockout after invalid_grant?n=1&tokens=99'"

title "History cannot be lost, whoever tries."
show 'rm messages.jsonl'
show 'echo "not a record" >> messages.jsonl'
show "grep -o '\"reason\".*' context/errors.jsonl"

title "Go on"
cat <<TXT
  cd $session
  cat context/pack.md        the prompt; less of it: echo 4000 > context/budget
  cat context/line/57        a record by its number
Read docs/tour.md for everything else, step by step. Stop and remove all of this: make stop
TXT

title "Look at it in the browser: in that directory, until Ctrl-C"
cat <<TXT
  $repo/bin/ctxfs ui .
TXT
