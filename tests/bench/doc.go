// Package bench measures ctxfs. One command runs everything and prints tables:
//
//	make bench
//	CTXFS_MATRIX=1 go test ./tests/bench -run TestBench -v -timeout 3h -args -full [-only small,growth] [-against COMMIT] [-out FILE]
//
// Without -full it is a smoke run of less than a minute, which checks that every
// measurement still works. Nothing fails because it is slow; a read that brings
// half a record fails.
//
// The same client program does the same work in these places of one machine,
// in turns, within the same minute:
//
//   - native: a directory of the file system that holds everything else
//   - loopback: go-fuse's own loopback example on such a directory, without
//     CAP_SYS_ADMIN, so that every read and write goes through its process
//   - passthrough: the same program with that capability, where the kernel
//     reads and writes the backing file by itself
//   - SQLite, by the program of peers/sqlite: a module of its own, in full runs
//   - before: the program of the commit that -against names
//   - ctxfs: the built binary on a store in such a directory
//
// A figure is the median of the rounds; a round's figure is the mean over its
// operations where operations are short, and a percentile where the table says
// so. Ratios are those of the two figures, with their interval by bootstrap.
//
// What is measured is what users see: files through a mount, and the daemon in
// /proc. Histories are written through the mount, so that the store of each
// place is its own program's.
//
//   - bench_test.go, doc.go: the groups, their sizes, the flags
//   - place_test.go, sqlite_test.go: the places; the plainest prompt of SQLite
//   - client_test.go, operations_test.go, turns_test.go: what the client does
//   - history_test.go: the made-up records
//   - small_test.go: appends, reads, programs, packs that do not change
//   - torn_test.go: reads beside a writer
//   - growth_test.go: packs of histories of several lengths
//   - sessions_test.go: real sessions, many in turns and the first pack of one
//   - busy_test.go: memory of one session, idleness, disk
//   - many_test.go, search_test.go: many sessions, search
//   - recipe_test.go, chunks_test.go, dedup_test.go, archive_test.go: as they are called
//   - peers_test.go, peers/node: the stores of agent frameworks (make bench-peers)
//   - goals_test.go, table_test.go, fit_test.go: the tables; golden_test.go holds their form
//   - proc_test.go, stats_test.go: /proc and statistics
//
// The tables of docs/numbers.md stand between marks, which BENCH_MD=FILE fills.
package bench
