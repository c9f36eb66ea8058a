package usage

import "fmt"

// Error is wrong usage of a verb: its arguments, or the choice that they leave open.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that e was made of.
func (e Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] of the text that format and args make, as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }
