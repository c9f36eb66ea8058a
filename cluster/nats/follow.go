package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"

	client "github.com/nats-io/nats.go"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

const (
	feedLength  = 64      // entries that wait for one follower, who reads the journal if they are more: there may be thousands
	feedsLength = 8 << 10 // entries that wait for the goroutine that hands them out
)

// feeds are the followers of this host. All entries come through one channel, and one goroutine
// delivers them.
type feeds struct {
	e    *Engine
	come chan *client.Msg
	gone <-chan struct{}

	mu   sync.Mutex                // guards all below
	list map[string]map[*feed]bool // by the subject on which entries come
	subs map[string]*subscription
}

// subscription is one to the entries of a subject, over one link.
type subscription struct {
	link int
	sub  *client.Subscription
}

// feed is one follower.
type feed struct {
	entries chan engine.Entry
	lost    chan struct{}
	last    uint64 // sequence of the last entry that came, or was there before
}

// Follow implements [engine.Engine] and returns the errors documented there.
func (e *Engine) Follow(ctx context.Context, s engine.Subject) (*engine.Feed, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	from := republished(s)
	f := &feed{entries: make(chan engine.Entry, feedLength), lost: make(chan struct{}, 1)}
	if err := e.feeds.add(ctx, from, f); err != nil {
		return nil, err
	}
	// The subscription went the way that this request goes, before it. So the server that answers
	// delivers all entries behind its answer.
	end, err := e.Last(ctx, s, true)
	if err != nil {
		e.feeds.remove(from, f)
		return nil, err
	}
	e.feeds.mu.Lock()
	f.last = max(f.last, end.Seq)
	e.feeds.mu.Unlock()
	context.AfterFunc(ctx, func() { e.feeds.remove(from, f) })
	return &engine.Feed{Entries: f.entries, Lost: f.lost, Last: end.Seq}, nil
}

// start makes the goroutine that hands out entries, until the engine is closed.
func (fs *feeds) start(e *Engine) {
	fs.e, fs.come, fs.gone = e, make(chan *client.Msg, feedsLength), e.ctx.Done()
	fs.list, fs.subs = map[string]map[*feed]bool{}, map[string]*subscription{}
	go func() {
		for {
			select {
			case <-fs.gone:
				return
			case m := <-fs.come:
				fs.deliver(m)
			}
		}
	}()
}

// add adds f to the followers of a subject. It returns ErrDenied or ErrUnreachable if the servers do not
// confirm the subscription.
func (fs *feeds) add(ctx context.Context, from string, f *feed) error {
	fs.mu.Lock()
	if fs.list[from] == nil {
		fs.list[from] = map[*feed]bool{}
	}
	fs.list[from][f] = true
	fs.mu.Unlock()
	if err := fs.subscribe(ctx, from); err != nil {
		fs.remove(from, f)
		return err
	}
	return nil
}

// subscribe sees to it that entries come, over the preferred link or the other one.
func (fs *feeds) subscribe(ctx context.Context, from string) error {
	ctx, cancel := context.WithTimeout(ctx, fs.e.opts.Timeout)
	defer cancel()
	denied, unwatch := fs.e.denials.watch(from)
	defer unwatch()
	for link := int(fs.e.prefer.Load()); ; link = 1 - link {
		err := fs.subscribeOver(ctx, link, from)
		select {
		case <-denied:
			err = engine.ErrDenied
		default:
		}
		if err == nil {
			return nil
		}
		if errors.Is(err, engine.ErrDenied) {
			return fmt.Errorf("%w: %s", engine.ErrDenied, from)
		}
		if !fs.e.pause(ctx) {
			return fmt.Errorf("%w: %s: %w", engine.ErrUnreachable, from, err)
		}
	}
}

// subscribeOver makes the subscription over one link, and waits until its server knows.
func (fs *feeds) subscribeOver(ctx context.Context, link int, from string) error {
	fs.mu.Lock()
	old := fs.subs[from]
	if old == nil {
		sub, err := fs.e.links.conns[link].ChanSubscribe(from, fs.come)
		if err != nil {
			fs.mu.Unlock()
			return err
		}
		old = &subscription{link, sub}
		fs.subs[from] = old
	}
	fs.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, HedgeAfter)
	defer cancel()
	if err := fs.e.links.conns[old.link].FlushWithContext(ctx); err != nil {
		fs.drop(from, old)
		return err
	}
	return nil
}

// drop forgets a subscription that does not work.
func (fs *feeds) drop(from string, s *subscription) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.subs[from] == s {
		delete(fs.subs, from)
	}
	s.sub.Unsubscribe()
}

// remove ends a feed, and its subscription if nobody else has it.
func (fs *feeds) remove(from string, f *feed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !fs.list[from][f] {
		return
	}
	delete(fs.list[from], f)
	close(f.entries)
	if len(fs.list[from]) > 0 {
		return
	}
	delete(fs.list, from)
	if s := fs.subs[from]; s != nil {
		delete(fs.subs, from)
		s.sub.Unsubscribe()
	}
}

// deliver hands out an entry that was republished.
func (fs *feeds) deliver(m *client.Msg) {
	x := entryOf(m.Header, m.Data, lastValue(m.Header, fromHeader), 1)
	x.Prev = lastNumber(m.Header, lastHeader)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.list[m.Subject] {
		if x.Seq <= f.last {
			continue // it came over the other link, or was there before
		}
		if x.Prev != f.last {
			f.miss()
		}
		f.last = x.Seq
		select {
		case f.entries <- x:
		default:
			f.miss()
		}
	}
}

// miss notes that entries may be lost. The caller holds mu.
func (f *feed) miss() {
	select {
	case f.lost <- struct{}{}:
	default:
	}
}

// missAll notes that any feed may have lost entries.
func (fs *feeds) missAll() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, of := range fs.list {
		for f := range of {
			f.miss()
		}
	}
}

// missOver notes that the feeds over a link may have lost entries.
func (fs *feeds) missOver(link int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for from, s := range fs.subs {
		if s.link != link {
			continue
		}
		for f := range fs.list[from] {
			f.miss()
		}
	}
}

// move brings all feeds to another link. They may have lost entries.
func (fs *feeds) move(link int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for from, old := range fs.subs {
		if old.link == link {
			continue
		}
		sub, err := fs.e.links.conns[link].ChanSubscribe(from, fs.come)
		if err != nil {
			continue // it stays where it is
		}
		fs.subs[from] = &subscription{link, sub}
		old.sub.Unsubscribe()
		for f := range fs.list[from] {
			f.miss()
		}
	}
}
