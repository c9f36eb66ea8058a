// Package bench measures ctxfs. One command runs everything and prints a table:
//
//	make bench
//	CTXFS_MATRIX=1 go test ./tests/bench -run TestBench -v -timeout 60m -args -full [-out bench.json]
//
// Without -full it is a smoke run of a minute or two, which checks that every
// measurement still works. Nothing fails because it is slow.
//
// The same client program does the same work in these places of one machine,
// in turns, within the same minute:
//
//   - native: a directory of the file system that holds everything else
//   - loopback: go-fuse's own loopback example on such a directory, without
//     CAP_SYS_ADMIN, so that every read and write goes through its process
//   - passthrough: the same program with that capability, where the kernel
//     reads and writes the backing file by itself
//   - ctxfs: the built binary on a store in such a directory
//
// A figure is the median of the rounds; a round's figure is the mean over its
// operations where operations are short, and a percentile where the table says
// so. Ratios are those of the two figures.
package bench
