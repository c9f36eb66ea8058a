package build

import "sync"

// signal is up or down, and can be waited for.
type signal struct {
	mu sync.Mutex
	up chan struct{} // closed while it is up; guarded by mu
}

func newSignal() *signal { return &signal{up: make(chan struct{})} }

// raised returns what is closed when the flag is raised, or is up already.
func (f *signal) raised() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.up
}

// raise and lower are called in turns.
func (f *signal) raise() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.up)
}

func (f *signal) lower() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up = make(chan struct{})
}
