// Package excerpt chooses what is shown of a record that answers a query. It promises:
//
//   - Whole lines, verbatim and in their order: those with the most of the query and those around the best, with … where something
//     is left out, within a number of tokens.
//   - With a result the line that tells how it ended, and with a row of numbers the words above it.
//   - What two records answer with can be compared, and what the best passage of a long one is worth.
//
// # Files, from top to bottom
//
//	excerpt.go    the lines that are shown
//	sight.go      what a record has of a query, line by line
//	unescape.go   the escapes of JSON's strings
package excerpt
