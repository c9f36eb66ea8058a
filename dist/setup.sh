#!/usr/bin/env bash
# setup.sh run|test|matrix|race|bench|bench-ui|bench-peers: installs the Debian packages that are missing for that make target, and nothing else.
# Everything is found by the program (or file) it brings, so a machine that has them otherwise is left alone.
set -eu
what=${1:?run, test, matrix, race, bench, bench-ui or bench-peers}
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin # where Go's own installer puts it

say() { printf '%s\n' "$*" >&2; }
die() { say "setup: $1"; shift; for line in "$@"; do say "       $line"; done; exit 1; }

# Go. A Go from 1.21 on fetches the toolchain that go.mod asks for by itself.
want=$(awk '$1 == "go" { print $2 }' go.mod)
go=$(command -v "${GO:-go}") || die "Go is missing." \
	"Install Go $want or newer from https://go.dev/dl/ so that 'go version' works, then run this again." \
	"(Debian 12's own golang package is too old.)"
have=$("$go" version | sed -E 's/^go version go([0-9.]+).*/\1/')
newest=$(printf '%s\n%s\n' "$have" 1.21 | sort -V | tail -n 1)
[ "$newest" = "$have" ] || die "Go $have ($go) is too old; $want is needed." \
	"Install it from https://go.dev/dl/ and put its bin directory first in PATH."
"$go" env GOVERSION >/dev/null 2>&1 || die "Go $have cannot switch to Go $want by itself (GOTOOLCHAIN=$("$go" env GOTOOLCHAIN 2>/dev/null))." \
	"Install Go $want from https://go.dev/dl/, or unset GOTOOLCHAIN."

# program=package, or /file=package
needs="fusermount3=fuse3"
case $what in
	# Small packages alone; a test that needs others belongs to the matrix (internal/suite).
	test | matrix | race) needs="$needs jq=jq vim=vim rsync=rsync strace=strace setfattr=attr setfacl=acl ps=procps python3=python3
		mount=mount mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs setpriv=util-linux curl=curl make=make git=git zstdcat=zstd tmux=tmux" ;;
	bench) needs="$needs gcc=gcc /usr/include/stdlib.h=libc6-dev jq=jq git=git setpriv=util-linux" ;; # SQLite is C
	bench-peers) needs="$needs node=nodejs npm=npm python3=python3 make=make g++=g++" ;; # better-sqlite3 may be compiled
	bench-ui) needs="$needs chromium=chromium" ;;
esac
if [ "$what" = race ]; then
	needs="$needs gcc=gcc /usr/include/stdlib.h=libc6-dev" # the C compiler links the race detector
fi
if [ "$what" = matrix ]; then
	needs="$needs node=nodejs npm=npm podman=podman conmon=conmon runc=runc dockerd=docker.io docker=docker.io busybox=busybox-static
		/usr/lib/postgresql=postgresql docker-compose=docker-compose sshd=openssh-server ssh=openssh-client systemctl=systemd nsenter=util-linux lintian=lintian dpkg-deb=dpkg chromium=chromium"
fi
missing=
for pair in $needs; do
	PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%=*}" >/dev/null || [ -e "${pair%%=*}" ] || missing="$missing ${pair#*=}"
done
missing=${missing# }

if [ -n "$missing" ]; then
	as=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "missing: $missing" "As root: apt-get install $missing"
		as="sudo"
	fi
	command -v apt-get >/dev/null || die "missing: $missing" "Install these with your system's package manager."
	say "installing $missing"
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# What comes with a service, as docker.io does, is not to start it: the tests run their own.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e "$policy" ]; then
		trap 'rm -f "$log"; $as rm -f "$policy"' EXIT
		printf '#!/bin/sh\nexit 101\n' | $as tee "$policy" >/dev/null
		$as chmod 755 "$policy"
	fi
	# shellcheck disable=SC2086 # lists of words on purpose
	install() {
		$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
			-o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold $missing >"$log" 2>&1 </dev/null
	}
	install || { $as apt-get update -q >"$log" 2>&1 </dev/null && install; } || {
		tail -n 15 "$log" >&2
		die "could not install: $missing" "As root: apt-get update && apt-get install $missing"
	}
fi

# udev gives /dev/fuse to everybody; a machine without udev may not, and then no user can mount.
case $what in test | matrix | race) own_mounts=1 ;; *) own_mounts=0 ;; esac
if [ $own_mounts = 1 ] && [ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && [ "$(stat -c %a /dev/fuse)" != 666 ]; then
	say "chmod 666 /dev/fuse (as udev does it), for the tests of a user's own mount"
	chmod 666 /dev/fuse
fi

# An installer or a container's runtime makes /etc/mtab; a bare debootstrap does not, and fusermount3 -u asks for it.
if [ "$(id -u)" = 0 ] && [ ! -e /etc/mtab ]; then
	say "ln -s ../proc/self/mounts /etc/mtab (as other systems have it), for fusermount3"
	ln -s ../proc/self/mounts /etc/mtab
fi

if [ ! -c /dev/fuse ]; then
	[ "$(id -u)" = 0 ] && modprobe fuse 2>/dev/null || true
	[ -c /dev/fuse ] || die "/dev/fuse is missing." \
		"On a machine: modprobe fuse, as root." \
		"In a container: start it with --device /dev/fuse --cap-add SYS_ADMIN."
fi
