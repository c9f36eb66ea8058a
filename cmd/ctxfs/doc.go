// Command ctxfs mounts a store of agent sessions as a filesystem and works on stores from a shell.
// With the name mount.fuse.ctxfs it is the helper of mount(8).
//
// The command has no logic of its own: the packages below it register their verbs, and main runs
// one command line. An error of a verb is one sentence on standard error and an exit code.
//
// # Files to read first
//
//	main.go        the program under its two names
//	root.go        the root command and the packages that register verbs
//	doctor.go      doctor, which collects the checks of all folders
//	completion.go  completion scripts of shells
//	version.go     version
package main
