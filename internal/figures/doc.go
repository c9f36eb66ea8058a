// Package figures formats numbers for messages: [Thousands] groups digits, [Count] adds a noun in
// the singular or plural. Both are in figures.go.
package figures
