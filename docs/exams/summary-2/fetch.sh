#!/bin/sh
# Rebuilds the twelve histories of this exam from local clones of their sources.
#
#	fetch.sh CLONES OUT
#
# CLONES holds one clone for each source, CLONES/OWNER/NAME (bare or with a work tree; OWNER+NAME and
# OWNER+NAME/repo are found too). The commits are in convert/sources.py and README.md; clone with full
# history, because a commit may not be the newest. OUT gets one file NAME.jsonl for each history: one message
# a line in the form of OpenAI Chat. The script fails if a file differs from its recorded sum. The converters of
# the first exam are used too. It needs git, python3 (standard library only) and sha256sum.
set -eu
[ $# -eq 2 ] || { echo "usage: fetch.sh CLONES OUT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
PYTHONDONTWRITEBYTECODE=1 CLONES=$1 python3 "$here/../summary/convert/build.py" "$here/convert/sources.py" "$2"
cd "$2"
sha256sum -c <<SUMS
85d6a657d6654ea3bd8983a6171c8026786c90382ffa745a079d2548a31c077e  airline-desk.jsonl
bdbba9fe42a5ab06442fbe27af096d838f27aa3681b131b4411282440added28  avd-root.jsonl
1daef26485959eebcce001f8383cb5f14dd4f638d911c4222ef3d881b467556d  bsc-tests.jsonl
ab05e328d45c8c90e3bf9c6201b93a82d824368b159598de0f65203fa4e37a3a  campaign-audit.jsonl
59ceb2fbbfb8d62db35f36c215f7f8514b0658a40a30d62fbea54dddc79d98c0  capital-game.jsonl
f47347e586b5729fa9bbdb8fe0b2f133584fe5b7037b1fd9732cc9b464b46d67  faraday.jsonl
cdc906b2b39af21eb955b5c2adecb7750c8c6b359a653c7e7fd6f02844dad779  finance-groups.jsonl
0123746eb7301e1923407b49b7b9846317cea39087c8ae8c8ed4e66f6ab0ca92  finhealth-spec.jsonl
fce18442b639ffa5ed20e5354715f1474af1311e14f0da2bb2959957b06632c4  skill-paper.jsonl
caa1da1f03c3de5785b095b13c3b452ab7903ca8c547e413a8c4a7c9b5c7a675  travel-claims.jsonl
6a7c9d93f8c17f6f4b5dda0e2805dd11f26027a9ef284c6e612e0381a514b4e6  welpy.jsonl
688b0dda2f532fb71448c0fbe6295d73d7a54db151eec80800469ddb83119ce1  will-it-rain.jsonl
SUMS
