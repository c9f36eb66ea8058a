// Package mounts finds the ctxfs mounts of this machine and whether their
// daemons answer, without ever touching a mount: a stat, an open or a statfs of
// one whose daemon is stopped returns when the daemon goes on, or never.
//
// [Ctxfs] reads the table of the kernel (/proc/self/mountinfo), which no daemon
// has a part in. [At] finds the mount in which a path lies; it follows links
// up to the mount and no further.
//
// [Asker.Ask] asks a daemon on its socket, which has an abstract name made of the
// mount's device number and its store, and which the daemon serves with [Listen]. The kernel
// names the process and the user behind a socket, so that nobody else can
// answer for a mount, and the state of a stopped process is known at once.
// Where there is no such socket (in a container, whose network is another one;
// with an older daemon) a child process touches the mount. The deadline holds for
// both: a child that hangs is killed, and nobody waits for it.
//
// # Files, from top to bottom
//
//	ask.go      whether the daemon of a mount answers
//	listen.go   its side of that
//	attr.go     attributes of files in a mount
//	refused.go  why a mount refused something
//	table.go    the mounts of the kernel
package mounts
