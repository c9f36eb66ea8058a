// Package world connects the collector of package gc with a real store: its sessions, the packs
// that a builder holds in memory, and the files that are open in a mount. The mount and the verb gc
// use it.
//
//	mount, verb gc → world.Collector → gc.Collector, which decides
//	                   gc.Store   = storeView    → store, open files of the mount
//	                   gc.Session = sweptSession → session, packs of the builder
//
// It is a separate package so that gc imports neither session nor pack, and a test of a plan can
// use a world of its own. Nothing here imports go-fuse, because the verb gc works without a mount.
//
// # Decisions
//
//   - which things of a session are items, with size and time of last use: Items in items.go.
//     Caches are dedup, notes, the search index, and outputs; swap is listed and always stays
//   - how an item is removed, and under which lock: Remove in items.go
//   - whether a record, a file, or a pack names a content: names.go. It searches for the 64 hex
//     digits of a hash; files above 64 MiB count as naming every content
//   - how hashes are found in bytes: hashes.go
//   - open handles, parents, packs, and the store for gc: collector.go
//   - files that fsck knows from the collector: FileKinds in collector.go
//
// # Locks
//
// An item is removed under the lock that guards it: the lock of the blob, the cache, the log, or
// the session. names.mu comes after the lock of a blob; logs, packs, and files of the session are
// read while it is held. storeView.mu is held alone.
//
// # Files, from top to bottom
//
//	items.go      items of a session, and their removal
//	collector.go  Collector, views of the store and of its sessions
//	names.go      references to a content in records, files, and packs
//	hashes.go     search for hashes in bytes
package world
