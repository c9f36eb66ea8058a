// Package formats lists all formats of transcripts: [Formats], [Lookup] by name, and [Detect] by
// content. `ctxfs import`, `ctxfs export`, and the hooks use it.
//
// formats.go holds the table of formats, in the order of the help, and decides which format wins:
// the highest Sniff. programs.go lists programs with files that ctxfs recognizes and cannot read,
// and the text of that refusal. To add a format, write a package next to this one and add a row.
//
// The tests of all formats are here, with samples in testdata, because they compare formats with
// each other.
package formats
