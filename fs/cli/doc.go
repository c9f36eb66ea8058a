// Package cli has the verbs that mount and unmount: mount, umount, mount.fuse.ctxfs, and the hidden
// child that touches a mount. It also runs the daemon. It registers the verbs with [Register].
//
// It may not import views or agents:
//
//	mount ─► daemonise ─► mount --foreground ─► serve ─► fs.Mount
//	                                                 ─► ending.wait
//
// # Files, from top to bottom
//
//	verbs.go        all verbs of this package
//	mounthelper.go  mount.fuse.ctxfs, the helper of mount(8)
//	mount.go        mount
//	serve.go        the daemon
//	serve_end.go    the end of the daemon
//	daemonise.go    its start: in the background, and with a socket of systemd
//	cluster.go      refuses commands for the removed cluster
//	umount.go       umount
//	touch.go        the hidden child that touches a mount
package cli
