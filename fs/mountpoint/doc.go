// Package mountpoint is what a mount needs of the machine: whether a directory can become a mountpoint, what a kernel or
// fusermount3 that refuses means, and how a mountpoint is given up again.
//
// While nothing is mounted there, a mountpoint is an ordinary directory. Programs that write into it then believe that
// they append to a session. So a [Bare] directory is protected from its first mount until its use ends, and what was
// written into it all the same is moved to the store.
//
// # Files, from top to bottom
//
//	mountpoint.go  Prepare; a mount that is taken away
//	stray.go       what programs wrote into the directory below a mount
//	bare.go        that directory, and its protection
package mountpoint
