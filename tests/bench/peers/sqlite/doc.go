// Program sqlite does in SQLite what the client of tests/bench does in files. It is a module of its own, so that ctxfs
// itself needs neither SQLite nor a C compiler.
//
//	sqlite DRIVER SYNC append FILE COUNT
//	sqlite DRIVER SYNC fsync  FILE COUNT
//	sqlite DRIVER SYNC newest FILE RECORDS FIRST COUNT LIMIT
//	sqlite DRIVER SYNC fts5   FILE LOG
//
// DRIVER is mattn (SQLite in C, where the program was built with cgo) or modernc (the same, translated into Go); SYNC is
// NORMAL or FULL. The journal is a WAL. What it measured goes to standard output as a JSON list of nanoseconds.
//
//   - main.go: the operations
//   - mattn.go: the driver that needs cgo
package main
