// Package world is what the collector of package gc plans and removes from: the sessions of a store,
// the packs that a builder has in memory, and the files that are open in a mount.
//
// It is a package of its own so that gc imports neither session nor pack: its plan is a function
// that a test can call with a world of its own making. The arrows go fs → gc/world → gc and
// cmd/ctxfs → gc/world. Nothing here imports go-fuse, because `ctxfs gc` needs no mount.
//
// # Files, from top to bottom
//
//	items.go      the items of a session, and how each is removed
//	collector.go  Collector; the store and its sessions
//	names.go      what names a content: records, files, packs
//	hashes.go     hashes in bytes
//
// # Locks
//
// An item is removed under the lock that guards it: that of the blob, of the cache, of the log or of
// the session. names.mu comes after the lock
// of a blob; while it is held, logs, packs and files of the session are read. storeView.mu is held
// alone.
package world
