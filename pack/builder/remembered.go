package builder

import (
	"time"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
)

// Remembered is what a builder remembers of a session.
type Remembered struct {
	Size  int         // bytes, about
	Used  time.Time   // when somebody asked for a pack, a chunk or a blob of it last, by the store's clock
	Build *pack.Build // the last one; nil: there is none
}

// Remembered returns what is remembered of x; false: nothing is. Nothing is made for it.
func (b *Builder) Remembered(x *session.Session) (r Remembered, ok bool) {
	b.mu.Lock()
	e, ok := b.sessions.Peek(x.ID())
	r.Size = int(b.sessions.SizeOf(x.ID()))
	b.mu.Unlock()
	if !ok {
		return r, false
	}
	r.Used = time.Unix(0, e.used.Load())
	r.Build = e.newest.Load().build
	return r, true
}

// ForgetIf forgets the session x when again says so of what is remembered then. Whoever compiles it meanwhile goes on.
// It returns the error of again.
func (b *Builder) ForgetIf(x *session.Session, again func(Remembered) (bool, error)) (freed int, done bool, err error) {
	r, ok := b.Remembered(x)
	if !ok {
		return 0, false, nil
	}
	if ok, err = again(r); !ok || err != nil {
		return 0, false, err
	}
	b.Forget(x.ID())
	return r.Size, true, nil
}
