package nats

import (
	"sync"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// violation finds the subject that a server refuses.
var violation = lazy.Regexp(`(?:Publish|Subscription) to "([^"]+)"`)

// denials passes refusals of the servers, which arrive apart from answers, to the calls that wait for one.
type denials struct {
	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // by subject; guarded by mu
}

// watch returns a channel that is readable once for each time that a server refuses subject, and a function that
// ends that.
func (d *denials) watch(subject string) (<-chan struct{}, func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := make(chan struct{}, maxAttempts)
	if d.waiting == nil {
		d.waiting = map[string]map[chan struct{}]bool{}
	}
	if d.waiting[subject] == nil {
		d.waiting[subject] = map[chan struct{}]bool{}
	}
	d.waiting[subject][c] = true
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.waiting[subject], c)
		if len(d.waiting[subject]) == 0 {
			delete(d.waiting, subject)
		}
	}
}

// note takes an error that a connection reports on its own.
func (d *denials) note(err error) {
	m := violation().FindStringSubmatch(err.Error())
	if m == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.waiting[m[1]] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
