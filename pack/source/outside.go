package source

import (
	"context"
	"time"
)

// WorkspaceFile is one file of a workspace as its owner sees it.
type WorkspaceFile struct {
	Path   string // as asked for
	Exists bool
	Stale  bool // the answer did not come in time: this is the last known content
	Data   []byte
	// Foreign reports that the file belongs neither to the session's user nor to root.
	Foreign bool
	Reason  string // why it was not used (not readable, not a regular file, too large), else ""
}

// Workspace reads files outside the store as the owner of a session. The
// implementation is run/runner, a process of its own.
type Workspace interface {
	// ReadFiles reads paths as uid with that user's groups, at most max bytes
	// each, and waits at most wait for all of them. It answers from its cache
	// when a file's identity, size and times did not change.
	ReadFiles(ctx context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]WorkspaceFile, error)
}

// Generators runs commands that make content, as the owner of a session and
// outside of this process. The implementation is run/runner.
type Generators interface {
	// Run runs one command and returns when nothing of it is left: not the
	// command, nor what it started. Cancelling ctx kills it all. A command that fails is an Output with Failed;
	// the error is for a runner that cannot do its work.
	Run(ctx context.Context, uid, gid uint32, c Command) (Output, error)

	// Inputs returns a fingerprint of the files that match globs (doublestar, relative to
	// dir) as the user sees them: it changes when one is added, removed or changed.
	// reason returns why it cannot be known (dir is not readable, too many files). It waits at most wait, and
	// stale is true when the answer is an earlier one.
	Inputs(ctx context.Context, uid, gid uint32, dir string, globs []string, wait time.Duration) (fingerprint string, stale bool, reason string)

	// Inside returns the session that a process is a generator of, or was started by a generator of.
	Inside(pid uint32) (session string, ok bool)
}

// Command is one run of a generator, everything expanded.
type Command struct {
	Session string // its id, for [Generators.Inside]
	Args    []string
	Env     []string // NAME=value; all there is
	Dir     string
	Empty   bool // run in a new, empty directory instead of Dir
	Stdin   []byte
	Output  string // file that the command may write; "": standard output is the content
	Timeout time.Duration
	Root    string // what Held lies in: the mountpoint
	Held    []Held
	Delta   *Delta // nil: the session has no workspace
}

// DeltaDir is the directory of Delta Engine in a workspace.
const DeltaDir = ".delta"

// Delta is where a program that was written for Delta Engine looks for the conversation, relative to its directory:
// .delta/<Run>/journal.jsonl is a link to Journal, and .delta/LATEST has Run. What is there and leads to no session of ctxfs stays
// as it is. Where there is no .delta, none of this is made unless Make is set.
type Delta struct {
	Run     string // the name of the session
	Journal string // the path of its context/journal.jsonl
	Make    bool   // an output of the commands lies in .delta
}

// HeldKind is how a run finds a file that others may replace.
type HeldKind int

const (
	HeldCopy   HeldKind = iota // with the bytes that were looked at, and nobody can write it
	HeldOwn                    // as it is, if it is the user's and nobody else can write it; or a link of the user's that leads out of Root
	HeldNone                   // not at all; a directory may be there
	HeldOutput                 // as it is; one that is not there is made, empty
)

// Held is a file that a command may run, in a place where others than its user may replace it. The run finds it at its
// path and as it is said here, whatever is done to the file, or to the directories that lead to it, before the run is over. These
// directories have what they had when the run began, and cannot be changed by it.
type Held struct {
	Path string // relative to the command's Root, clean
	Kind HeldKind
	Data []byte // of a HeldCopy
	Exec bool   // a HeldCopy can be executed
}

// Bounds of what a generator gives.
const (
	MaxGenerated = 4 << 20 // bytes of content
	StderrTail   = 4 << 10 // bytes of standard error that are kept
)

// Output is what a command came to.
type Output struct {
	Data    []byte // standard output, or the output file's content where the command touched that
	Failed  string // why there is no content ("exit status 3", "timed out after 30s", "the output is a FIFO"), else ""
	Stderr  string // its tail
	Sandbox string // the level that was applied: "uid 1000, no capabilities, no_new_privs, rlimits, pid namespace"
}
