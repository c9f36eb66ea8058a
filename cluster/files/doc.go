// Package files lets the hosts of a cluster share the ordinary files of agents' homes: it stands between the
// tree of a mount, which calls files by their paths in the store, and the keeper of names, which commits them
// to the journals of their owners. It satisfies the interface Files of package fs.
//
//	f := files.New(files.Options{Freshness: time.Second})
//	k := keeper.New(keeper.Options{Changing: f.Changing, ...})
//	f.Attach(k)
//	fs.Mount(ctx, fs.Options{Files: f, ...})
//
// # Promises
//
//   - What a call that makes, removes or renames something has answered stands in the owner's journal.
//   - So does the content of a file when its close has returned, and when an fsync has: files are
//     close-to-open. An open on another host that begins later sees it, as long as that host reaches the
//     cluster: it asks for the end of the journal, and waits until what stands there is on its disk.
//   - Where two hosts changed a file, the later close keeps its own as NAME.ctxfs-conflict-HOST-N and takes the
//     other as NAME. A directory that is removed meanwhile comes back for it.
//   - Files of more than 256 KiB stay of the host that wrote them, and so do pipes and sockets. What
//     others had under the name before, they have still. A file that becomes small enough again is shared again.
//   - What cannot be committed, because the cluster does not answer, is on this host, as its close has
//     reported, and is committed when the cluster answers again. Directories, links, renames and removals
//     are not made at all then.
//   - A host that is cut off reads what it knows. It waits for the cluster only now and then.
//
// Which paths are shared decides names.Shared.
//
// # Files, from top to bottom
//
//	files.go   what the tree asks
//	owners.go  paths of the store, and errors
package files
