// Package keeper makes the names and ordinary files of owners true in the store of a host, and commits what
// its users change. It is a session.ChangeCommitter's half for names ([Keeper.CommitName]).
//
//	k := keeper.New(keeper.Options{Engine: e, Host: "host-a"})
//	store, _ := session.Open(dir, session.Options{Committer: ...}) // one whose CommitName is that of k
//	err := k.Attach(store)
//	err = k.Enter(ctx, ctxabi.Ref{UID: 1000})                      // what that user has is here now
//	err = k.Fresh(ctxabi.Ref{UID: 1000}, time.Now())               // and still is: asked of the cluster, within a bound
//	applied, err := k.Commit(ctx, ref, names.ChangeLink{...}, nil) // entry first, then the disk
//
// # What is on the disk
//
//	<store>/cluster/<owner>.state    the owner's state when the copy was begun, and its sequence
//	<store>/cluster/<owner>.entries  the entries since, as the engine has them, and how far they were made true
//
// The copy lets a host show names while it is cut off, and tells after a crash how far it had come. An entry is
// in the copy, durably, before anything of it is done. Steps are such that they may be done again: a session is
// known by its id, a file by its content, and an agent's home, which has nothing of the kind, by the inode that
// was noted before it was renamed.
//
// The copy is no truth: without it, or where it is damaged, the journal is read anew.
//
// # What is here already
//
// A keeper removes or replaces nothing that is not in the journal. Where a session, an agent or a file of this
// host alone stands in the way of one that others share, it gets the name NAME.ctxfs-conflict-HOST-N, and a file
// is then shared under that name. What a user changed and the host did not commit before it died is committed
// when the owner is entered again, and what could not be committed when it was closed, at the next look. An agent's home that others have removed stays as long as it has files
// of this host.
//
// # Locks
//
// One goroutine at a time makes the entries of one owner true. It holds no lock of the store, and whoever
// commits a name holds at most those that session.ChangeCommitter names. None is waited for here.
//
// # Files, from top to bottom
//
//	fresh.go   looks at the ends of journals, shared by who waits for them
//	write.go   what users do to files
//	keeper.go  owners, and commits
//	recover.go what a crash left, and what was here before
//	apply.go   the difference of two states, made on the disk
//	places.go  sessions
//	agents.go  agents' homes
//	files.go   ordinary files
//	owner.go   one owner
//	tree.go    the disk below a store's directory
//	copy.go    the copy of a journal
package keeper
