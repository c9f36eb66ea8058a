#!/usr/bin/env bash
# Unmounts what `make run` mounted and removes its temporary directory. Harmless when there is nothing.
set -eu
cd "$(dirname "$0")/.."
[ -f .run/dir ] || { [ "${1:-}" = quiet ] || echo "nothing to stop"; exit 0; }
dir=$(cat .run/dir)
case $dir in
	*/ctxfs-run.*) ;;
	*) echo "stop: .run/dir names $dir, which make run did not make; remove .run by hand" >&2; exit 1 ;;
esac
if grep -qs " $dir/ctx fuse" /proc/mounts; then
	bin/ctxfs umount --stop "$dir/ctx" || {
		echo "stop: the daemon does not let go of $dir/ctx; detaching it" >&2
		umount -l "$dir/ctx" 2>/dev/null || fusermount3 -uz "$dir/ctx"
	}
fi
bin/ctxfs umount --force --store "$dir/store" "$dir/ctx" || : # a daemon that was killed leaves it protected
rm -rf --one-file-system "$dir"
rm -rf .run
[ "${1:-}" = quiet ] || echo "stopped; $dir is gone"
