package disk

import "sync/atomic"

// Lazy is a T that few sessions need: it takes a pointer's room until it is asked for. The zero Lazy is
// ready; it is safe for concurrent use.
type Lazy[T any] struct{ made atomic.Pointer[T] }

// Get returns the T, which is its zero value at first.
func (l *Lazy[T]) Get() *T {
	if l.made.Load() == nil {
		l.made.CompareAndSwap(nil, new(T))
	}
	return l.made.Load()
}
