// Package names keeps what an owner, a user or a space, has beside the records of sessions: the names of
// agents and sessions, and the ordinary files of agents' homes that a prompt is made of. All of it stands in
// the owner's journal, in one order for all hosts.
//
//	state := names.New(subject)             // what the entries so far amount to; pure
//	applied, err := state.Apply(entry)      // the next one
//	r := names.NewReplica(engine, "host", subject)
//	applied, err = r.Commit(ctx, names.CreateSession{...}) // planned on the state, stored, applied
//
// # Rows
//
// The content of a row is JSON that begins with the version of its form. It has one form only: what is
// parsed and encoded again is the same, byte for byte. Rows have no bodies.
//
//	n  Name      a home, an agent or a session is made; a session, or an agent with all it has, is
//	             renamed or removed; a session is parked, or may have children
//	f  File      an ordinary file has this content: its hash, size, mode, owner, time and attributes
//	k  Link      mkdir, rmdir, unlink, symlink, rename, and attributes of a directory
//	S  Snapshot  the state before this entry lies among the objects
//
// Content itself is an object "b/" and its SHA-256 ([ContentKey]), stored before the row that names it.
//
// # The state
//
// A [State] follows from the entries alone, so that two hosts that have read the same entries hold the same
// state, value for value, and have refused the same rows for the same reason. An entry is one step: when one
// of its rows is refused, none of them counts. Who commits plans on the state that ends with the sequence
// that his append expects, so that what is stored is never refused; a refusal tells of a host that did not.
// Entries of a later version stop a state, rather than being passed over: see journal.ErrVersion.
//
// [State.Encode] returns one form of equal states. [Replica.Checkpoint] stores it, names it in the journal and
// removes the entries before; a replica that finds the beginning of a journal gone goes on from there.
//
// # Parents
//
// Which sessions are the children of another one stands in the journal of that one. So that who renames or removes a
// session need not read the journals of all, a row [Parent] notes that a session may have children, before its first
// child is made; it stays noted. A row [Parents], which stands with the one that makes the owner's home, says that none
// has children that is not noted. Journals that began before there were such rows get them when a host has looked at all
// sessions. Both are of [ParentsVersion], and so is a state that has applied one.
//
// # Ordinary files
//
// [Shared] decides which paths are in the journal: regular files of at most [MaxFile] bytes, directories and
// symbolic links, below skills, memory, knowledge and playbooks of an agent's home, its context.yaml,
// system_prompt.md and tools.json, every *.yaml and *.yml in it, which recipes may import; the notes of a
// user's workspaces, and his trust.jsonl. All other files are those of one host. A directory that is not
// shared itself may hold a shared file; it is made where the file is.
//
// Files are close-to-open: a [WriteFile] carries the hash of the content that its writer had opened. When the
// file has another content by then, or is gone, both sides have changed it: the later one keeps its own as
// NAME.ctxfs-conflict-HOST-N, which is a file like others, and takes the other as NAME. Both rows are one
// entry. Of trust.jsonl, which nobody reads under another name, the later one wins.
//
// # Files, from top to bottom
//
//	replica.go     an owner's journal as one host has read it, and commits to it
//	checkpoint.go  journals that are trimmed
//	plan_files.go  operations of users on files
//	plan.go        and on names
//	apply.go       entries
//	apply_files.go rows of files
//	snapshot.go    states in bytes
//	state.go       what entries amount to, and the questions to it
//	rows.go        rows in bytes
//	shared.go      which paths are in a journal
//	errors.go      refusals
package names
