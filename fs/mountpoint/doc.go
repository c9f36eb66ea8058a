// Package mountpoint is what a mount needs of the machine: whether a directory can become a mountpoint, what a kernel or
// fusermount3 that refuses means, and how a mountpoint is given up again.
//
// Without a mount, a mountpoint is an ordinary directory, and programs that write into it believe
// that they append to a session. Therefore the daemon protects the [Bare] directory from its first
// mount until the mountpoint is no longer used, and moves stray files in it to the store.
//
// # Files, from top to bottom
//
//	mountpoint.go  Prepare; removing a mount
//	stray.go       files that programs wrote into the directory below a mount
//	bare.go        the directory below a mount, and its protection
package mountpoint
