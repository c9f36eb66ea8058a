package fake

import (
	"context"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// feedLength is how many entries wait for a follower that is slow.
const feedLength = 256

// feed is one follower. mu of the servers guards it.
type feed struct {
	host    *Host
	subject engine.Subject
	entries chan engine.Entry
	lost    chan struct{}
	held    *engine.Entry // to be delivered behind the next one
}

// follow returns a feed of what comes behind the entry last, until ctx is done. The caller holds mu.
func (s *Servers) follow(ctx context.Context, h *Host, subject engine.Subject, last uint64) *engine.Feed {
	f := &feed{h, subject, make(chan engine.Entry, feedLength), make(chan struct{}, 1), nil}
	s.feeds = append(s.feeds, f)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.feeds = slices.DeleteFunc(s.feeds, func(o *feed) bool { return o == f })
		close(f.entries)
	})
	return &engine.Feed{Entries: f.entries, Lost: f.lost, Last: last}
}

// deliver sends an entry to the followers of its subject. The caller holds mu.
func (s *Servers) deliver(subject engine.Subject, e engine.Entry, prev uint64) {
	e.Prev = prev
	for _, f := range s.feeds {
		if f.subject != subject {
			continue
		}
		if f.host.cut {
			continue // Host.Heal notes the loss
		}
		fault, ok := f.host.take(Drop, LoseFeed, Double, Swap)
		switch {
		case ok && fault == Drop:
		case ok && fault == LoseFeed:
			f.miss()
		case ok && fault == Swap && f.held == nil:
			f.held = &e
		default:
			f.send(e)
			if ok && fault == Double {
				f.send(e)
			}
			if f.held != nil {
				f.send(*f.held)
				f.held = nil
			}
		}
	}
}

// send hands an entry on, or notes that it was lost.
func (f *feed) send(e engine.Entry) {
	select {
	case f.entries <- entry{Entry: e}.copy():
	default:
		f.miss()
	}
}

// miss notes that entries may be lost.
func (f *feed) miss() {
	select {
	case f.lost <- struct{}{}:
	default:
	}
}

// copy returns the entry with a header and a payload of its own.
func (e entry) copy() engine.Entry {
	c := e.Entry
	c.Header, c.Payload = maps.Clone(c.Header), slices.Clone(c.Payload)
	return c
}
