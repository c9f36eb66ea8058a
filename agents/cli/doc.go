// Package cli has the verbs that connect agent programs and carry transcripts: install, hook, mcp,
// memory, snippet, import, and export. It registers them with [Register].
//
// It may not import fs. doctor lists the connected programs with [CheckPrograms].
//
// # Files to read first
//
//	verbs.go    all verbs of this package
//	install.go  install
//	hook.go     hook
//	import.go   import of one session; import_all.go imports all of them
//	export.go   export
package cli
