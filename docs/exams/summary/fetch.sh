#!/bin/sh
# Rebuilds the eleven histories of this exam from local clones of their sources.
#
#	fetch.sh CLONES OUT
#
# CLONES holds one clone for each source, CLONES/OWNER/NAME (bare or with a work tree; OWNER+NAME and
# OWNER+NAME/repo are found too). The commits are in convert/sources.py and README.md; clone with full
# history, because the commit of dark-factory is not the newest. OUT gets one file NAME.jsonl for each history:
# one message a line in the form of OpenAI Chat. The script fails if a file differs from its recorded sum.
# It needs git, python3 (standard library only) and sha256sum.
set -eu
[ $# -eq 2 ] || { echo "usage: fetch.sh CLONES OUT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
PYTHONDONTWRITEBYTECODE=1 CLONES=$1 python3 "$here/convert/build.py" "$here/convert/sources.py" "$2"
cd "$2"
sha256sum -c <<SUMS
36e8b49f0b16c88fc06160643deda0328a65e018c07cb7be30876ea0380ad3b5  bhavana.jsonl
6476f391a299aa38971d20a3592c0a2a6cc817e9396e7e05d1c7aadddf7410a3  figma-page.jsonl
c41d64f8db6483b46fc22e33c68459dd1de5d158b8647746ca94c3ad5c476520  hate-corpus.jsonl
3cc4715f771b83e9c53d5bbb06e7218700cd6e64d1cc6a02dd39527971b85f3c  orders-desk.jsonl
60d1d4e9d88742d03c02c3e252a9d324cb41868ee9872dcdf0f097f87447f5d5  penny-dashboard.jsonl
75ba428a4765036ade073ca1ca19bec35d333d1e801f836b3202306b317bd039  pointing-audit.jsonl
abc73e68bbec73abc724e3630f0847c886541c8c6f1edf445854a78eb84a0c0a  proto-deps.jsonl
d642494715764b58dece3c3205133b42b3c718c3cc12ce7c2408bd580ac72a61  provenance-lib.jsonl
040af18c4d664a6f891a9f368d013538e41f90e1d60f7924df4e8ca718a1a1a2  raveera.jsonl
ff193c007cfe57cd6d63ca0170adf49b30e0488682a509945b3426b4ec5feee7  sql-adapters.jsonl
942ede90aa74dcfe54a3fb6f13eecc126a2b68a4e520c7596dc756d20a534918  subtitle-hunt.jsonl
SUMS
