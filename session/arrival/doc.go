// Package arrival defines the rows of .ctxfs/arrivals: a log has one row for each commit, with the
// position, hash, time, and writer of the records. Package log writes and reads rows.
//
//	line := arrival.AppendRow(nil, &row)
//	row, ok := arrival.ParseRow(line[:len(line)-1])
//
// A row is one line and can be parsed without its neighbors. A reader therefore finds rows after a
// damaged one, and a torn row lacks its newline. In JSON a row is
//
//	{"off":0,"len":211,"sha256":"<hex of the data>","chain":"<hex>","at":1760000000123456789,
//	 "uid":1000,"pid":77,"ev":0,"key":"<connection>-<request>"}
//
// at is in nanoseconds. ev, in rows of messages only, is the length of events.jsonl at the commit:
// it gives both logs one order. Recovery marks a row that it adds for data without one by
// "estimated":true.
//
// # Decisions
//
//   - binary format of rows (version 2), checksum, escaping: row.go
//   - format of version 1 (JSON lines, with a checksum from store format 2 on): json.go
//   - fields of a [Row], hash chain, seed of the chain: chain.go. chain(n) = SHA-256(chain(n-1) ||
//     sha256(n) || off || len), with numbers as 8 bytes big endian. chain(-1) is the SHA-256 of the
//     16 bytes of the session id, followed by the name of the log
//   - how many rows contain the whole chain value: one of [ChainEvery]; the others have its first
//     [LinkSize] bytes, and [Chain] computes the rest
//   - rows as JSON for people: print.go
//
// When rows are written, package log decides (log/order.go); old rows are converted in
// log/convert.go.
//
// # Files, from top to bottom
//
//	print.go  prints rows as JSON
//	row.go    format of the current version
//	json.go   format of version 1
//	chain.go  [Row] and the hash chain
package arrival
