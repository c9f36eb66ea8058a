#!/usr/bin/env bash
# deb.sh [DIR]: builds ctxfs_VERSION_ARCH.deb in DIR (default .) from bin/ctxfs. The same source gives the
# same bytes: the date is that of SOURCE_DATE_EPOCH (default: of the last commit).
set -eu
cd "$(dirname "$0")/.."
out=${1:-.}
mkdir -p "$out"
arch=$(dpkg --print-architecture)
# 0.1.0-dev comes before 0.1.0: ~ says that.
version=$(bin/ctxfs version --json | sed -n 's/^ *"version": "\(.*\)",$/\1/p' | tr - '~')
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || echo 0)}
[ -n "$version" ] || { echo "deb: bin/ctxfs tells no version" >&2; exit 1; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
chmod 755 "$root"

DESTDIR=$root PREFIX=/usr SYSCONFDIR=/etc SBINDIR=/usr/sbin dist/install.sh install
mkdir "$root/usr/share/zsh/vendor-completions" # where Debian's zsh looks
mv "$root/usr/share/zsh/site-functions/_ctxfs" "$root/usr/share/zsh/vendor-completions/" && rmdir "$root/usr/share/zsh/site-functions"
ln -sf ../bin/ctxfs "$root/usr/sbin/mount.fuse.ctxfs"
doc=$root/usr/share/doc/ctxfs
rm "$doc/LICENSE"
cp dist/debian/copyright "$doc/copyright"
{
	printf 'ctxfs (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz in this directory.\n\n' "$version"
	printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' dist/debian/control)" "$(date -R -u -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$doc/changelog.gz"
gzip -9n "$doc/CHANGELOG.md"
gzip -9n "$root"/usr/share/man/man*/*
install -D -m 644 dist/debian/lintian-overrides "$root/usr/share/lintian/overrides/ctxfs"

mkdir "$root/DEBIAN"
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@SIZE@/$(du -sk --apparent-size --exclude DEBIAN "$root" | cut -f1)/" dist/debian/control >"$root/DEBIAN/control"
echo /etc/default/ctxfs >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 755 "dist/debian/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/md5sums" "$root/DEBIAN/control" "$root/DEBIAN/conffiles"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
deb=$out/ctxfs_${version}_$arch.deb
new=$(mktemp "$out/.ctxfs-deb.XXXXXX") # a package under its name is whole, also if this is interrupted
trap 'rm -rf "$root" "$new"' EXIT
trap 'exit 130' INT TERM HUP
dpkg-deb --root-owner-group -Zxz -z2 --build "$root" "$new" >/dev/null
chmod 644 "$new"
mv "$new" "$deb"
echo "$deb"
