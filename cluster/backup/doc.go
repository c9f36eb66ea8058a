// Package backup copies a cluster into a directory of plain files, and a copy back into a new cluster.
//
//	report, err := backup.Take(ctx, dir, cluster, store)   // under the maintenance user, while hosts append
//	report, err := backup.Verify(dir, 0)                   // reads the directory alone
//	pruned, err := backup.Prune(ctx, dir, backup.Keep{Last: 7}, time.Now())
//	report, err := backup.Restore(ctx, dir, 0, cluster)    // into a cluster that has nothing
//	report, err := backup.Mend(ctx, dir, 0, cluster)       // into one whose servers have lost objects
//
// # On disk
//
//	ctxfs-backup.json                         which cluster the directory is of
//	lock                                      held by who writes
//	objects/<owner>/<name>                    an object under its name
//	entries/<owner>/<journal>/<i>-<sha256>    entries of a journal from number i on; names: the owner's
//	lists/<sha256>                            the objects that an owner had: hash, size and name
//	backups/<number>-<sha256>.json            one backup, which names all of the above
//
// The hash in a name is that of the file. Files never change, so that a backup costs what is new since
// the one before it, and the directory can be copied by anything while nobody writes to it. Backups have
// numbers, 1, 2, 3, …, because two may begin in one second. A file is whole before another one names it,
// and that of the backup comes last: one that was cut short is none, and what it has copied is used by the
// next.
//
// # Promises
//
//   - A backup has of each journal a beginning that its chain holds together, with all that was
//     acknowledged before the backup began. It does not hold up anybody.
//   - What is restored has the same entries: the same numbers, chains, ids, rows and bytes. Sequences are
//     those of the new cluster, and so are keys, users and the id of the store: a host's copies of the old
//     cluster are of no use there.
//   - A session counts if its owner's journal has it at the end of the backup.
//   - Nothing is put into a cluster that has other journals than the backup. A restore that was cut short
//     goes on when it is run again. Names come last: before that no host sees a session.
//   - Where the cluster has less of a journal than the backup before it, or other entries, that one's are
//     kept, and the report names the journal.
//   - No file is believed: each is held against its hash, and entries against their chain.
//
// What was acknowledged after the last backup began is not in it. That, and what a directory beside the
// cluster does not survive, is what there is to lose.
//
// # Files, from top to bottom
//
//	take.go      a backup is made
//	mend.go      what servers have lost of objects
//	restore.go   a backup into a cluster
//	prune.go     old backups go
//	verify.go    a backup held against its hashes
//	read.go      journals of a cluster
//	owner.go     what an owner's journal says
//	manifest.go  the form of backups
//	dir.go       files of the directory
//	chunk.go     the form of entries
package backup
