#!/usr/bin/env bash
# What `make run-cluster` shows, on one screen: three servers and two mounts on this machine, an agent that moves
# from one mount to the other while a server is killed. It leaves nothing behind.
set -eu
repo=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/ctxfs-run.XXXXXX")
export PATH=$repo/bin:$PATH
chmod 755 "$dir"
cd "$dir"
servers=()
end() {
	local status=$?
	cd /
	for host in a b; do ctxfs umount --stop "$dir/$host" >/dev/null 2>&1 || true; done
	for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
	if [ "$status" != 0 ]; then
		echo "run-cluster: it ended half-way; what the servers said last:" >&2
		tail -n 3 "$dir"/*.log >&2 || true
	fi
	rm -rf --one-file-system "$dir"
	exit "$status"
}
trap end EXIT

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; else bold='' dim='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
show() {
	printf '%s$ %s%s\n' "$dim" "$1" "$plain"
	(eval "$1") 2>&1 | LC_ALL=C.UTF-8 sed -E 's/^[^ ]*run-cluster\.sh: line [0-9]+: /bash: /; s/^(.{99}).{2,}/\1…/'
}
# patiently CMD... tries a command until it succeeds, two minutes long.
patiently() {
	local end=$((SECONDS + 120))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || { echo "run-cluster: in vain: $*" >&2; "$@" || return 1; }
		sleep 0.2
	done
}
# Ports that are free now, below those that the kernel chooses.
ports=()
while [ ${#ports[@]} -lt 6 ]; do
	port=$((12000 + RANDOM % 18000))
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
done

title "Three servers keep what is appended on two disks of three. Here all run on this machine."
ctxfs cluster init --dir n1 --tokens tokens --server "n1=127.0.0.1:${ports[0]}:${ports[1]}" \
	--server "n2=127.0.0.1:${ports[2]}:${ports[3]}" --server "n3=127.0.0.1:${ports[4]}:${ports[5]}" >/dev/null
for n in n2 n3; do ctxfs cluster join --dir "$n" --token-file "tokens/$n.token" >/dev/null; done
for n in n1 n2 n3; do
	ctxfs cluster serve --dir "$n" >"$n.log" 2>&1 &
	servers+=($!)
done
printf '%s$ ctxfs cluster serve          # on n1, n2 and n3%s\n' "$dim" "$plain"
patiently ctxfs cluster status --dir n1
show "ctxfs cluster status --dir n1 | head -n 6"

title "Two hosts mount the cluster, each with a store of its own."
mkdir a b
show "ctxfs mount --cluster=n1 --store store-a a && ctxfs mount --cluster=n2 --store store-b b"
at=home/$(id -u)/agent/coder/session/refresh
say() { echo "echo '{\"role\":\"$1\",\"content\":\"$2\"}' >> $3/messages.jsonl"; }

title "An agent begins on host a, and goes on on host b."
show "mkdir -p a/$at && ln -s a/$at on-a && ln -s b/$at on-b"
show "$(say user 'Login fails after the token expires.' on-a)"
show "cat on-b/messages.jsonl"
show "$(say assistant 'The refresh runs too late. I mend it.' on-b)"
show "cat on-a/messages.jsonl"

id=$(cat "store-a/$at/.ctxfs/id")
stream=CTXJ_0$(printf %s "$id" | sha256sum | cut -c2)
leader=$(ctxfs cluster status --dir n1 | awk -v s="$stream" '$1 == s { print $2 }') || true
title "The server that leads this session is killed, and host a, too. Host b goes on."
case $leader in n[123]) i=$((${leader#n} - 1)) ;; *) i=2 leader=n3 ;; esac
disown "${servers[$i]}"
kill -9 "$(pgrep -P "${servers[$i]}" | head -n 1)" "${servers[$i]}" 2>/dev/null || true
pid=$(awk -F'[:,}]' '{ for (k = 1; k < NF; k++) if ($k ~ /"pid"/) print $(k + 1) }' store-a/ctxfs.daemon | tr -d ' ')
kill -9 "$pid"
printf '%s$ kill -9 %s (server %s)  %s (mount a)%s\n' "$dim" "${servers[$i]}" "$leader" "$pid" "$plain"
show "time -p $(say user 'Does it work now?' on-b) " | grep -v '^user\|^sys'
patiently ctxfs mount --cluster=n1 --store store-a a
printf '%s$ ctxfs mount --cluster=n1 --store store-a a%s\n' "$dim" "$plain"
show "tail -n 1 on-a/messages.jsonl"

title "Both build the same prompt, and every record is there once."
show "sha256sum on-a/context/pack.md on-b/context/pack.md | cut -c1-20,65-; wc -l on-a/messages.jsonl on-b/messages.jsonl | head -n 2"
patiently cmp on-a/context/pack.md on-b/context/pack.md
patiently cmp on-a/messages.jsonl on-b/messages.jsonl
[ "$(wc -l <on-a/messages.jsonl)" = 3 ]
title "All of it is removed now. docs/cluster.md has how to run it on three machines."
