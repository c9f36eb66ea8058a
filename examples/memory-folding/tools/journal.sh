#!/bin/sh
# Runs a program that was written for Delta Engine, in the workspace: puts the conversation where such a program looks for it, in the form
# of Delta's journal, and then runs it. In context.yaml:
#
#   generator: {command: ["sh", "${AGENT_HOME}/tools/journal.sh", "python3", "${AGENT_HOME}/tools/summarize.py"]}
set -eu
dir=.delta/$DELTA_RUN_ID
mkdir -p "$dir"
jq -c '
	def text: if type == "array" then map(.text? // empty) | join("\n") else . // "" end;
	if .role == "user" then {type: "USER_MESSAGE", payload: {content: (.content | text)}}
	elif .role == "assistant" then {type: "THOUGHT", payload: ({content: (.content | text)} + if .tool_calls then {tool_calls} else {} end)}
	elif .role == "tool" then {type: "ACTION_RESULT", payload: {action_id: .tool_call_id, observation_content: (.content | text)}}
	else empty end' "$CTX_SESSION/messages.jsonl" > "$dir/journal.$$"
mv "$dir/journal.$$" "$dir/journal.jsonl"
echo "$DELTA_RUN_ID" > .delta/LATEST
exec "$@"
