// Command ctxfs mounts a store of agent sessions as a filesystem and works on stores from a shell.
// With the name mount.fuse.ctxfs it is the helper of mount(8).
//
// The command has no verb of a single folder: the cli package of each folder registers its verbs.
// Only the verbs that look at all folders are here. Code of several verbs is in internal/cli.
//
// # Files, from top to bottom
//
//	main.go        the program under its two names
//	root.go        the root command and the packages that register verbs
//	doctor.go      doctor, which collects the checks of all folders
//	genman.go      the man pages
//	completion.go  completion scripts of shells
//	version.go     version
package main
