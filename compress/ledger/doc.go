// Package ledger keeps a ledger of files: which were created, changed, moved and deleted by what the calls
// of a session did, what stands in them, and where that was seen.
//
// A [State] is folded over records, of which it reads calls and results alone ([toolcall.Record]). It says
// that a file is there, is gone, or has a content only where the calls and their results show that. All
// else is [Unsure], or a text that is nil: a script of which a part may not have run, a program that
// writes files of its own, a pattern whose matches are not known. [State.Sure] and [State.SureText] also say
// whether a program ran since that may have changed files without a trace.
//
// # Scripts
//
// A script is followed as bash would run it ([run]), with what is known of files, variables and the
// directory. Each command went well, failed, or may have done either (tri): by the exit status, by its
// place in && and ||, by set -e, and since cp, mv, rm and their like complain where others are silent. What may
// have run is followed, too, but leaves what it touches unsure. A program that is not known better makes
// the files unsure that it writes by its options, and counts as one without a trace.
//
// Two things are taken on trust: that the result of a call shows what its commands complain of where the
// script does not send it elsewhere, and that a name that was never heard of and has an extension
// is no directory.
//
// # Paths
//
// A path is relative to where the session began unless that is known ([State.In], or pwd showed it). Two
// paths of different roots, of which one ends like the other, may be the same file, and an effect on one
// makes the other unsure.
//
// # Bounds
//
// A state holds [MaxFiles] files, of which the least recently touched leave, 64 KiB of a content and
// 2 MiB of all. Scripts of more than 128 KiB, or with brackets nested a hundred deep, are not read, since the
// parser takes time in the square of the depth.
//
// # Own code
//
// Scripts are parsed by mvdan.cc/sh/v3/syntax, as elsewhere in this project, and their braces expanded by
// its package expand. Its interpreter is not used: it runs scripts, on the files of the machine, and
// knows no command that may or may not have run.
//
// # Files, from top to bottom
//
//	lines.go      a line for each file
//	state.go      State
//	tools.go      calls of tools for files
//	agent.go      commands of an agent's own shell
//	shell.go      calls that run scripts
//	script.go     scripts
//	walk.go       statements
//	redirect.go   redirections
//	call.go       commands
//	git.go        git and patches
//	programs.go   programs that are not followed
//	copy.go       cp and mv
//	coreutils.go  rm, mkdir, touch, ln
//	builtins.go   cd, echo, cat, set
//	operands.go   options and operands of commands
//	match.go      the files that words name
//	vars.go       variables
//	words.go      words and patterns
//	outcome.go    how a part of a script went
//	bound.go      what leaves a state
//	effects.go    effects on files
//	names.go      second names: links, roots
//	store.go      files by their paths
//	file.go       files, contents, paths
package ledger
