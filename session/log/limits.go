package log

// Limits are the sizes at which a log changes its method. Tests lower them.
type Limits struct {
	InMemory  int64 // bytes of an incomplete record that a stage keeps in memory; a larger one goes to a file
	SealMin   int64 // new bytes that a log must have to be sealed
	Frame     int   // bytes of records in a frame of a sealed part, about
	MarkEvery int64 // bytes of arrival rows between two places of which the time is remembered
}

// DefaultLimits returns the limits of a daemon.
func DefaultLimits() Limits {
	return Limits{InMemory: 64 << 10, SealMin: SealMin, Frame: 256 << 10, MarkEvery: 256 << 10}
}
