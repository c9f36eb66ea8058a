// Package arrival is the form of arrival rows: what a store keeps of each commit of a log beside the
// records. A row is one line, so that rows are found again behind a damaged one, and a torn one
// lacks its newline.
//
//	line := arrival.AppendRow(nil, &row)
//	row, ok := arrival.ParseRow(line[:len(line)-1])
//
// Rows stand for themselves: each is read without the ones beside it, its chain value aside, of which
// most rows have the first [LinkSize] bytes. The rest follows from the rows before it: see [Chain].
// Whoever ships rows to another store ships these bytes, which name their version.
//
// # Versions
//
// [AppendRow] writes rows of [Version]. [ParseRow] reads these and the older ones:
//
//	1  an object of JSON, with a checksum from format 2 of the store on (json.go)
//	2  bytes (row.go)
//
// # Files, from top to bottom
//
//	print.go  rows for people
//	row.go    rows of the present version
//	json.go   rows of the first version, as they are printed, too
//	chain.go  what a row is, and the chain of rows
package arrival
