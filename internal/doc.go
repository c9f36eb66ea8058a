// Package internal holds no code. It describes the libraries below the core. They know no prompts
// and no FUSE, and import only ctxabi and each other; daemon, locate, and cli import session too.
//
// Disk and memory:
//
//	vfs      the disk of a store as an interface, with a variant for tests in session/sessiontest
//	beneath  opens of paths that a symbolic link cannot lead out of a directory
//	handles  shares of file descriptors per user
//	memory   reservations, so that heavy reads fail with ENOMEM before the kernel ends the process
//	lru      order of use, for caches
//	coder    binary encoding of caches
//	lazy     values made at their first use
//
// Texts and numbers:
//
//	tokens   exact, offline token counts
//	redact   secrets in texts and JSON
//	picture  images that each provider accepts
//	figures  numbers in messages
//
// Processes and machines:
//
//	daemon   the running daemon of a store, and how other processes reach it
//	mounts   mounts of this machine, and whether their daemons answer
//	locate   the session, mount, or store that a user names
//	process  the agent process that works in a session
//	jobs     imports that go on after a hook has answered
//	volume   Docker's volume protocol
//
// Verbs and tests:
//
//	cli      exit codes, flags, opening of stores, printing: for the cli package of each folder
//	inputs   files named on a command line
//	usage    wrong usage, as opposed to failed work
//	suite    length and random choices of tests
package internal
