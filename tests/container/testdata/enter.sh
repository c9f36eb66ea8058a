# enter.sh DIR CTXFS SOURCE: the first process of a world. DIR is an empty directory; CTXFS the program to test; SOURCE this
# repository, which is /usr/src/ctxfs in the world, wherever it is outside.
# It runs in mount and pid namespaces of its own, and becomes the shell that the test talks to.
set -eu
world=$1
# Of other tests: their daemons would wait for this world to end. What one of them ends meanwhile, mountpoint and all, is gone here as well.
umount -l -a -t fuse.ctxfs 2> /dev/null || :
mount -t tmpfs -o mode=755 world "$world"
mkdir "$world/upper" "$world/work" "$world/root"
mount -t overlay -o "lowerdir=/,upperdir=$world/upper,workdir=$world/work" world "$world/root"
cp "$2" "$world/root/usr/local/bin/ctxfs"
mkdir -p "$world/source" "$world/source-work" "$world/root/usr/src/ctxfs"
mount -t overlay -o "lowerdir=$3,upperdir=$world/source,workdir=$world/source-work" source "$world/root/usr/src/ctxfs"
cd "$world/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mkdir .host
pivot_root . .host
umount -l /.host
rmdir /.host
cd /root
mount --make-rshared / # as systemd has it

mkdir -p /etc/containers
rm -f /etc/containers/containers.conf /etc/containers/storage.conf /etc/docker/daemon.json
# Limits are lowered instead of raised, which needs no privilege.
cat > /etc/containers/containers.conf <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[engine.volume_plugins]
ctxfs = "/run/docker/plugins/ctxfs.sock"
END
cat > /etc/containers/storage.conf <<END
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
for file in /etc/subuid /etc/subgid; do
	printf 'daemon:100000:65536\n' > $file # for dockerd --userns-remap
done

# dockerd NAME FLAGS...: starts one, with state and control groups of its own, and waits until it answers.
start_dockerd() {
	name=$1
	shift
	dockerd --data-root "/var/lib/$name" --exec-root "/run/$name" --pidfile "/run/$name.pid" -H "unix:///run/$name.sock" \
		--storage-driver vfs --iptables=false --bridge=none --ip-forward=false --cgroup-parent "/${world##*/}" "$@" > "/var/log/$name.log" 2>&1 &
	disown
	until docker -H "unix:///run/$name.sock" version > /dev/null 2>&1; do
		kill -0 $! || { cat "/var/log/$name.log"; return 1; }
		sleep 0.05
	done
}
set +eu
export LANG=C.UTF-8 PATH=/usr/local/bin:$PATH:/usr/sbin:/sbin
unset DOCKER_HOST
