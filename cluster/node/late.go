package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// late is an engine that may come after the node that uses it. Until set is called, each of its calls waits, and
// ends with engine.ErrUnreachable when its context or the time limit does. It is safe for concurrent use.
type late struct {
	limit time.Duration // of a call that waits
	ready chan struct{} // closed by set
	e     engine.Engine // once ready is closed

	mu  sync.Mutex
	why error // the last reason why it is not there; guarded by mu
}

var (
	_ engine.Engine  = (*late)(nil)
	_ engine.Objects = lateObjects{}
)

func newLate(limit time.Duration) *late { return &late{limit: limit, ready: make(chan struct{})} }

// set makes e the engine. It is called once.
func (l *late) set(e engine.Engine) {
	l.e = e
	close(l.ready)
}

// note keeps the reason why the engine is not there yet.
func (l *late) note(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = why
}

// missing returns why the engine is not there; nil if it is.
func (l *late) missing() error {
	select {
	case <-l.ready:
		return nil
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != nil {
		return l.why
	}
	return engine.ErrUnreachable
}

// get waits for the engine. It returns engine.ErrUnreachable if it does not come in time.
func (l *late) get(ctx context.Context) (engine.Engine, error) {
	select {
	case <-l.ready:
		return l.e, nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	select {
	case <-l.ready:
		return l.e, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: the mount has not reached the cluster yet: %w", engine.ErrUnreachable, l.missing())
	}
}

// Append implements [engine.Engine].
func (l *late) Append(ctx context.Context, s engine.Subject, expected uint64, id string, header engine.Header, payload []byte) (uint64, error) {
	e, err := l.get(ctx)
	if err != nil {
		return 0, err
	}
	return e.Append(ctx, s, expected, id, header, payload)
}

// Read implements [engine.Engine].
func (l *late) Read(ctx context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error) {
	e, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return e.Read(ctx, s, r)
}

// Last implements [engine.Engine].
func (l *late) Last(ctx context.Context, s engine.Subject, leader bool) (engine.Entry, error) {
	e, err := l.get(ctx)
	if err != nil {
		return engine.Entry{}, err
	}
	return e.Last(ctx, s, leader)
}

// Follow implements [engine.Engine].
func (l *late) Follow(ctx context.Context, s engine.Subject) (*engine.Feed, error) {
	e, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return e.Follow(ctx, s)
}

// Trim implements [engine.Engine].
func (l *late) Trim(ctx context.Context, s engine.Subject, before uint64) error {
	e, err := l.get(ctx)
	if err != nil {
		return err
	}
	return e.Trim(ctx, s, before)
}

// Attest implements [engine.Engine].
func (l *late) Attest(ctx context.Context, shard int) (engine.Attestation, error) {
	e, err := l.get(ctx)
	if err != nil {
		return engine.Attestation{}, err
	}
	return e.Attest(ctx, shard)
}

// Objects implements [engine.Engine].
func (l *late) Objects() engine.Objects { return lateObjects{l} }

// lateObjects are the objects of a late engine.
type lateObjects struct{ l *late }

// Put implements [engine.Objects].
func (o lateObjects) Put(ctx context.Context, key engine.Key, data []byte) error {
	e, err := o.l.get(ctx)
	if err != nil {
		return err
	}
	return e.Objects().Put(ctx, key, data)
}

// Get implements [engine.Objects].
func (o lateObjects) Get(ctx context.Context, key engine.Key, off, n int64) ([]byte, error) {
	e, err := o.l.get(ctx)
	if err != nil {
		return nil, err
	}
	return e.Objects().Get(ctx, key, off, n)
}

// Stat implements [engine.Objects].
func (o lateObjects) Stat(ctx context.Context, key engine.Key) (engine.ObjectInfo, error) {
	e, err := o.l.get(ctx)
	if err != nil {
		return engine.ObjectInfo{}, err
	}
	return e.Objects().Stat(ctx, key)
}

// List implements [engine.Objects].
func (o lateObjects) List(ctx context.Context, owner, prefix string) ([]string, error) {
	e, err := o.l.get(ctx)
	if err != nil {
		return nil, err
	}
	return e.Objects().List(ctx, owner, prefix)
}

// Delete implements [engine.Objects].
func (o lateObjects) Delete(ctx context.Context, key engine.Key) error {
	e, err := o.l.get(ctx)
	if err != nil {
		return err
	}
	return e.Objects().Delete(ctx, key)
}
