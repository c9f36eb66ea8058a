// Package formats lists the formats of transcripts: by name, and which of them a transcript is. It
// has the tests of all of them, which compare them with each other.
package formats
