// Package doctor checks whether a mount will work on this machine, and how the program is tied into it.
//
// [Examine] looks at the kernel, /dev/fuse and fusermount3, at a store with its lock, disk and descriptors, at a
// mountpoint, and at what connects the program with the machine: other mounts, units of systemd, fstab, Docker. Each
// [Finding] that is not [OK] has a remedy, as it is to be typed, where there is one. [Serves] is a health check.
//
// Nothing is changed by looking, and no mount is touched before its daemon has answered. A check that cannot look says so
// in its finding: none of them fails.
//
// # Files, from top to bottom
//
//	doctor.go  Examine, Serves
//	host.go    how the program is tied into the machine
//	store.go   the store, mountpoints, descriptors
//	stray.go   records that were written at a mountpoint without its mount
//	system.go  the kernel, /dev/fuse, fusermount3
package doctor
