package builder

import (
	"bytes"
	"context"
	"path"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Opening is somebody opening a file of a build to read it.
type Opening struct {
	File     string // "context/pack.md"
	UID, PID uint32
	At       time.Time
}

// opened writes down which packs were read: a row of packs.jsonl for each build that is opened after another one,
// and its pack.md. One goroutine does it, in the order of the openings and behind the back of whoever opens; it is
// there while there is something to write.
type opened struct {
	mu       sync.Mutex
	queue    []*openedBuild                    // guarded by mu
	bytes    int                               // of the packs in it; guarded by mu
	working  bool                              // the goroutine is there; guarded by mu
	sessions lru.Cache[string, *openedSession] // by session id; guarded by mu
	failing  map[string]bool                   // sessions that were told that nothing is written; guarded by mu
}

// openedSession is what is known of a session whose packs are read.
type openedSession struct {
	id     string
	build  string          // id of the build that was opened last; "": not known; guarded by opened.mu
	queued int             // guarded by opened.mu
	last   <-chan struct{} // closed when what was queued last is written; nil: nothing was; guarded by opened.mu
	served *blob.Served    // nil: not known; the goroutine's alone
}

// openedBuild is an opening that is to be written.
type openedBuild struct {
	x     *session.Session
	of    *openedSession
	build *pack.Build
	by    Opening
	after int64         // length of events.jsonl then
	done  chan struct{} // closed when it was written
}

const (
	maxOpened         = 64 << 20        // bytes of packs that wait to be written
	maxOpenedWait     = 2 * time.Second // how long somebody waits when there are more
	maxOpenedSessions = 64              // sessions that are remembered
)

// Opened records that a file of build, which is one of x, was opened. It waits for nothing while
// the disk keeps up, and never fails: that something could not be written stands in errors.jsonl, once.
func (b *Builder) Opened(x *session.Session, build *pack.Build, by Opening) {
	if build.Asks && by.File != ctxabi.PackJSONFile && by.File != ctxabi.ReportFile {
		noteAsked(x, build, false)
	}
	o := &b.opened
	o.mu.Lock()
	if o.session(x.ID()).build == build.ID {
		o.mu.Unlock()
		return
	}
	if !o.room() {
		tell := o.fails(x)
		o.mu.Unlock()
		if tell {
			reportUnserved(x, ctxabi.E("serve", ctxabi.PacksFile, ctxabi.ErrIO, "the disk is too slow; packs that are read are not stored"))
		}
		return
	}
	s := o.session(x.ID())
	w := &openedBuild{x: x, of: s, build: build, by: by, after: x.Events().Len(), done: make(chan struct{})}
	s.build, s.last, s.queued = build.ID, w.done, s.queued+1
	o.queue, o.bytes = append(o.queue, w), o.bytes+len(build.Markdown)
	if !o.working {
		o.working = true
		go o.work()
	}
	o.mu.Unlock()
}

// session returns what is known of a session. o.mu is held.
func (o *opened) session(id string) *openedSession {
	if s, ok := o.sessions.Get(id); ok {
		return s
	}
	if o.failing == nil {
		o.failing = map[string]bool{}
	}
	for old, s := range o.sessions.Oldest() {
		if o.sessions.Len() < maxOpenedSessions {
			break
		}
		if s.queued == 0 {
			o.sessions.Remove(old)
		}
	}
	s := &openedSession{id: id}
	o.sessions.Put(id, s, 1)
	return s
}

// room waits until there is room in the queue; false when that takes too long. o.mu is held, but not while it waits.
func (o *opened) room() bool {
	if o.bytes <= maxOpened {
		return true
	}
	limit := time.NewTimer(maxOpenedWait)
	defer limit.Stop()
	for o.bytes > maxOpened {
		next, late := o.queue[0].done, false
		o.mu.Unlock()
		select {
		case <-next:
		case <-limit.C:
			late = true
		}
		o.mu.Lock()
		if late {
			return false
		}
	}
	return true
}

// work writes until the queue is empty.
func (o *opened) work() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) > 0 {
		w := o.queue[0]
		o.mu.Unlock()
		err := w.write()
		o.mu.Lock()
		o.queue[0] = nil
		o.queue, o.bytes = o.queue[1:], o.bytes-len(w.build.Markdown)
		tell := false
		if w.of.queued--; err != nil {
			w.of.build = "" // the next opening tries again
			tell = o.fails(w.x)
		} else {
			delete(o.failing, w.x.ID())
		}
		if tell {
			o.mu.Unlock()
			reportUnserved(w.x, err)
			o.mu.Lock()
		}
		close(w.done)
	}
	o.queue, o.working = nil, false
}

// fails notes that nothing can be written for a session; true when that is news. o.mu is held.
func (o *opened) fails(x *session.Session) bool {
	was := o.failing[x.ID()]
	o.failing[x.ID()] = true
	return !was
}

func reportUnserved(x *session.Session, err error) {
	row := disk.RowOf("serve", ctxabi.PacksFile, 0, err)
	row.Op = "serve"
	x.Report(row)
}

// write adds the row, unless the last one is of this pack.
func (w *openedBuild) write() (err error) {
	s, b := w.of, w.build
	if s.served == nil {
		if s.served, err = w.x.Served(); err != nil {
			return err
		}
	}
	id, before := s.served.Last()
	if id == b.ID {
		return nil
	}
	c, err := b.Counter()
	if err != nil {
		return err
	}
	kept := keptLines(before, b.Markdown)
	return s.served.Add(blob.Row{
		At: w.by.At, Compactions: b.Compactions, Epoch: b.Epoch, EpochReason: b.EpochReason, Events: b.Events, EventsBytes: w.after,
		File: path.Base(w.by.File), KeptBytes: kept, KeptTokens: b.TokensOf(kept, c), Messages: b.Messages,
		PackID: b.ID, PID: w.by.PID, PrefixBytes: b.Prefix, Redact: b.Redaction, Tokens: b.Tokens, UID: w.by.UID,
	}, b.Markdown)
}

// keptLines is how many bytes two packs have in common in front, up to a line end.
func keptLines(before, now []byte) int {
	n := 0
	for n < len(before) && n < len(now) && before[n] == now[n] {
		n++
	}
	return bytes.LastIndexByte(now[:n], '\n') + 1
}

// Served returns the packs of x that were read, after all that was opened until now is written or could not be.
// It returns an error when packs.jsonl cannot be read, and that of ctx when ctx ends.
func (b *Builder) Served(ctx context.Context, x *session.Session) (*blob.Served, error) {
	o := &b.opened
	o.mu.Lock()
	var last <-chan struct{}
	if s, ok := o.sessions.Peek(x.ID()); ok {
		last = s.last
	}
	o.mu.Unlock()
	if last != nil {
		select {
		case <-last:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return x.Served()
}

// Flush returns when all that was opened is written. It is for the end, before the store is closed.
func (b *Builder) Flush() {
	o := &b.opened
	for {
		o.mu.Lock()
		n := len(o.queue)
		if n == 0 {
			o.mu.Unlock()
			return
		}
		last := o.queue[n-1].done
		o.mu.Unlock()
		<-last
	}
}
