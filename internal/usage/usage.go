// Package usage holds the error that tells wrong usage from failed work. Whatever finds that a user has to
// ask otherwise returns an [Error]; the program ends with its exit code for wrong usage then. [NameMissing] and [Meant] put into
// words what a verb lacks.
package usage

import "fmt"

// Error is wrong usage of a verb: its arguments, or the choice that they leave open.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] of the text that format and args make, as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }
