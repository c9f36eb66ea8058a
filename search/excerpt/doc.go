// Package excerpt chooses the lines of a record that answer a query. [Look] reads a [Record] for a
// [Query] and returns a [Sight]; [Sight.Excerpt] returns whole lines, verbatim and in their order,
// with … for omissions, within a number of tokens.
//
// # Where it is decided
//
//   - When a record is shown whole: excerpt.go (Record.Whole, wholeBytes).
//   - Which lines are shown: excerpt.go (picker.pick): lines with the most new terms, then their
//     neighbors; of a result the line that tells how it ended (picker.ending), of a row of numbers
//     its label (picker.label).
//   - Score of the best passage of a long record: sight.go (Sight.BestWindow).
//   - When two records answer with the same lines: sight.go (Alike). Number of terms: sight.go
//     (MaxTerms).
//
// # Files, from top to bottom
//
//	excerpt.go    choice of lines
//	sight.go      terms of the query, line by line
//	unescape.go   escapes of JSON strings
package excerpt
