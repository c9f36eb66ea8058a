#!/usr/bin/env bash
# The tour of `make run`: mounts a temporary store, loads the example session and shows what a session can do.
set -eu
cd "$(dirname "$0")/.."
repo=$PWD
dist/stop.sh quiet

dir=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-run.XXXXXX")
chmod 755 "$dir"
mkdir -p .run "$dir/ctx"
echo "$dir" >.run/dir
export PATH=$repo/bin:$PATH
trap 'echo "run: the tour ended half-way, see above; make stop cleans up" >&2' ERR
ctx=$dir/ctx

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# show CMD: prints a command as a user would type it, then runs it in the session.
show() { printf '%s$ %s%s\n' "$dim" "$1" "$plain"; (eval "$1") 2>&1 | sed -E 's/^[^ ]*run\.sh: line [0-9]+: /bash: /' | cut -c1-160; }

title "Mount a store (the daemon goes on in the background)"
printf '%s$ ctxfs mount --store %s --budget 16000 %s%s\n' "$dim" "$dir/store" "$ctx" "$plain"
bin/ctxfs mount --store "$dir/store" --budget 16000 "$ctx"

session=$ctx/home/$(id -u)/agent/coder/session/refresh
title "mkdir makes a session; its files are there at once"
show "mkdir -p $session"
cd "$session"
show 'ls -m . context'

# The example: its system prompt belongs to the agent, the rest to the session.
cp "$repo/examples/session/system_prompt.md" ../..
cp "$repo/examples/session/pinned/rules.md" context/pinned/
cp "$repo/examples/session/todo.md" context/todo.md
echo "$repo/examples/workspace" >cwd
cat "$repo/examples/session/messages.jsonl" >>messages.jsonl
cat "$repo/examples/session/events.jsonl" >>events.jsonl
title "Now it holds the example: a coding agent that repairs a token refresh"
show 'wc -lc messages.jsonl events.jsonl'
show "find . -type f -printf '%M %8s  %P\\n' | sort -k3"

title "Appending a message is >>"
show "echo '{\"role\":\"user\",\"content\":\"Is it Thursday yet? How do the retries look?\"}' >> messages.jsonl"
show 'tail -n 1 messages.jsonl'

title "The prompt: begins with the rules, ends with the goal, fits its budget"
show 'head -n 24 context/pack.md'
printf '%s\n' '  ...'
show 'tail -n 14 context/pack.md'

title "The report says what is in it and what was left out"
show 'head -n 40 context/pack.report.md'

title "What goes into it is a recipe, a YAML file; without one this applies"
show 'ctxfs recipe default | grep -o "type: .*" | paste -sd " "'
show "printf '%s\n' 'sources:' '  - {type: system_role}' '  - {type: computed_file, id: now, generator: [date, +%A], refresh: compaction}' '  - {type: journal, max_iterations: 5, step: 3}' > context/context.yaml"
show 'ctxfs recipe check context/context.yaml'
show 'grep "^# Context Block" context/pack.md; grep -A 1 "Block: now" context/pack.md'
rm context/context.yaml

title "History cannot be lost, whoever tries"
show 'echo oops > messages.jsonl'
show 'truncate -s 0 messages.jsonl'
show 'rm messages.jsonl'
show 'echo "not a record" >> messages.jsonl'
show "grep -o '\"op\".*' context/errors.jsonl"

title "A transcript of another program is a session in one command"
cd "$repo"
show "ctxfs import --store $dir/store examples/transcripts/claude-code.jsonl coder/imported"
cd "${session%/*}/imported"
show 'tail -n 4 context/pack.md'
show 'cat context/decisions.jsonl'

title "Go on"
cat <<TXT
  cd $session
  cat context/pack.md                  the prompt; try: echo 4000 > context/budget
  cat context/line/12                  any record by its number
  less $repo/docs/recipe.md; ls $repo/examples      recipes, and small agents to copy
  ls; cat $ctx/README.md
  $repo/bin/ctxfs --help
  $repo/bin/ctxfs session show --store $dir/store coder/refresh
Stop and remove it:  make stop
TXT
