// Package usage distinguishes wrong usage of a verb from failed work. Code that finds a wrong
// argument returns an [Error] (usage.go); the program then ends with the exit code of wrong usage.
//
// Texts are decided in missing.go: [NameMissing] replaces cobra's errors about the number of
// arguments with errors that name the missing argument and show an example. [Meant] suggests names
// that are similar to an unknown word.
package usage
