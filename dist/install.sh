#!/usr/bin/env bash
# install.sh install|uninstall: what `make install` puts below DESTDIR, and how it goes away again.
# PREFIX (/usr/local), SYSCONFDIR (/etc) and SBINDIR (/sbin, where mount(8) looks for its helpers) say where; without
# rights to the latter two: make install PREFIX=$HOME/.local SYSCONFDIR= SBINDIR=
set -eu
umask 022 # all users read what is installed, whoever installs it
what=${1:?install or uninstall}
cd "$(dirname "$0")/.."
PREFIX=${PREFIX:-/usr/local} SYSCONFDIR=${SYSCONFDIR-/etc} SBINDIR=${SBINDIR-/sbin} DESTDIR=${DESTDIR-}
bin=$DESTDIR$PREFIX/bin
share=$DESTDIR$PREFIX/share
units=$DESTDIR$PREFIX/lib/systemd
bash=$share/bash-completion/completions/ctxfs
zsh=$share/zsh/site-functions/_ctxfs
fish=$share/fish/vendor_completions.d/ctxfs.fish
doc=$share/doc/ctxfs

# reload has systemd read the units anew, where they are those of this machine.
reload() {
	if [ -z "$DESTDIR" ] && [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ]; then
		systemctl daemon-reload || true
	fi
}

case $what in
install)
	newer=$(find . -name '*.go' -newer bin/ctxfs -print -quit)
	[ -z "$newer" ] || echo "install: bin/ctxfs is older than $newer; make build builds it again" >&2
	man=$(mktemp -d) # not in the clone, which may belong to another user
	trap 'rm -rf "$man"' EXIT
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || true)} bin/ctxfs gen-man "$man" docs/files.md
	install -D -m 755 bin/ctxfs "$bin/ctxfs"
	for section in 1 5 8; do
		install -d "$share/man/man$section"
		install -m 644 "$man"/*."$section" "$share/man/man$section/"
	done
	install -d "${bash%/*}" "${zsh%/*}" "${fish%/*}"
	bin/ctxfs completion bash >"$bash"
	bin/ctxfs completion zsh >"$zsh"
	bin/ctxfs completion fish >"$fish"
	for unit in ctxfs.service ctxfs-volume.socket user/ctxfs.service; do
		to=$units/system/$unit
		[ "${unit#user/}" = "$unit" ] || to=$units/$unit
		install -d "${to%/*}"
		sed "s,@BINDIR@,$PREFIX/bin," "dist/systemd/$unit" >"$to"
		chmod 644 "$to"
	done
	install -d "$doc/docs"
	install -m 644 README.md CHANGELOG.md LICENSE "$doc/"
	install -m 644 docs/*.md docs/*.svg "$doc/docs/"
	cp -R examples dist/docker "$doc/"
	rm -r "$doc/examples/gen" # makes one of the others, with the source beside it
	find "$doc" -type d -exec chmod 755 {} + -o -type f -exec chmod u=rwX,go=rX {} +
	if [ -n "$SBINDIR" ]; then
		install -d "$DESTDIR$SBINDIR"
		ln -sf "$PREFIX/bin/ctxfs" "$DESTDIR$SBINDIR/mount.fuse.ctxfs"
	fi
	if [ -n "$SYSCONFDIR" ] && [ ! -e "$DESTDIR$SYSCONFDIR/default/ctxfs" ]; then
		install -D -m 644 dist/ctxfs.default "$DESTDIR$SYSCONFDIR/default/ctxfs"
	fi
	reload
	;;
uninstall)
	rm -f "$bin/ctxfs" "$bash" "$zsh" "$fish" "$units/system/ctxfs.service" "$units/system/ctxfs-volume.socket" "$units/user/ctxfs.service"
	rm -f "$share"/man/man1/ctxfs.1 "$share"/man/man1/ctxfs-*.1 "$share/man/man5/ctxfs.5" "$share/man/man8/mount.fuse.ctxfs.8"
	rm -rf "$doc"
	[ -z "$SBINDIR" ] || rm -f "$DESTDIR$SBINDIR/mount.fuse.ctxfs"
	config=$DESTDIR$SYSCONFDIR/default/ctxfs
	if [ -n "$SYSCONFDIR" ] && [ -e "$config" ]; then
		if cmp -s dist/ctxfs.default "$config"; then rm "$config"; else echo "kept $config, which was changed"; fi
	fi
	reload
	;;
*) echo "install.sh install|uninstall" >&2; exit 2 ;;
esac
