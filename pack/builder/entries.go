package builder

import (
	"sync/atomic"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// entry is what a builder remembers of one session.
type entry struct {
	id string

	used   atomic.Int64           // time of the last use, in ns since 1970
	begun  atomic.Uint64          // number of compilations so far
	newest atomic.Pointer[packed] // never nil
	waits  signal                 // up while the caller that compiles waits for generators

	busy       chan struct{} // holds one token while a caller compiles; guards the fields below
	finished   uint64        // the last compilation that succeeded
	reused                   // of the packs of all records
	epoch      *epochNote
	summarizer summarizer
	answers    bool // the agent answers requests for a summary
	computed   computed
	project    entryProject

	swap  swap.Swap  // what left the prompt of Current
	dedup swap.Dedup // what repeats in the history
	notes entryNotes
	terms entryTerms

	source.Logs // of the session, as packs show them

	past   past   // the packs of earlier moments
	opened opened // the pack that was read last
}

// Bounds of the entries in memory; see [memory.Limit.CacheBound]. An evicted session is compiled from its index again.
const (
	minRemembered      = 48 << 20 // bytes for the entries on a machine without free memory and without a limit
	maxRememberedCount = 2048     // sessions
)

// use is entry for somebody who asks for something that is made of the session.
func (b *Builder) use(x *session.Session) *entry {
	e := b.entry(x.ID())
	e.used.Store(x.Store().Now().UnixNano())
	return e
}

// entry finds or makes what is remembered of a session.
func (b *Builder) entry(id string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.sessions.Get(id); ok {
		return e
	}
	e := &entry{id: id, busy: make(chan struct{}, 1), Logs: source.NewLogs(b.config.Redact, id)}
	e.memo, e.past.memo, e.past.busy = b.newMemo(), b.newMemo(), make(chan struct{}, 1)
	e.newest.Store(&packed{})
	e.waits.lower()
	e.terms.awaited = &b.awaited
	b.sessions.Put(id, e, 0)
	return e
}

// logs is an input of both logs as they are in t, and of nothing else.
func (e *entry) logs(t *log.Timeline) pack.Input {
	in := pack.Input{Messages: e.Readable(t, false), Tools: t.Tools}
	if len(t.Tools) > 0 {
		in.Events = e.Readable(t, true)
	}
	return in
}

func (e *entry) bytes() int {
	n := 1024 + e.memo.Size() + int(e.past.size.Load()+e.swap.Size.Load()+e.dedup.Size.Load()) + e.notes.bytes() +
		e.terms.bytes() + e.project.bytes()
	p := e.newest.Load()
	if p.build != nil {
		n += p.build.Size() + p.gathered.Bytes()
	}
	for i := range p.in.Files {
		if f := &p.in.Files[i]; f.Sum == nil { // outputs; the others are counted where they were read
			n += len(f.Data)
		}
	}
	return n
}

// weigh notes the size of an entry.
func (b *Builder) weigh(e *entry, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.sessions.Peek(e.id); !ok || known != e {
		return // forgotten meanwhile
	}
	b.sessions.Resize(e.id, int64(size))
	b.trim()
}

// grow notes that the entry of a session takes so many bytes more.
func (b *Builder) grow(id string, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions.Grow(id, int64(bytes))
	b.trim()
}

// trim evicts the least recently used entries beyond the bounds. b.mu is held.
func (b *Builder) trim() {
	limit := b.config.Memory.CacheBound(minRemembered)
	for id := range b.sessions.Oldest() {
		if b.sessions.Len() == 1 || b.sessions.Size() <= limit && b.sessions.Len() <= maxRememberedCount {
			return
		}
		b.remove(id)
	}
}

// remove forgets an entry. A build of it that is going on ends unremembered. b.mu is held.
func (b *Builder) remove(id string) {
	if _, ok := b.sessions.Remove(id); ok && b.outputs != nil {
		b.outputs.evict(id)
	}
}

// Drop forgets the session's build; the next Current compiles anew.
func (b *Builder) Drop(x *session.Session) { b.Forget(x.ID()) }

// Forget drops all memory kept for the session id.
func (b *Builder) Forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(id)
}

// signal is up or down. It is raised and lowered in turns, at first lowered.
type signal struct {
	up atomic.Pointer[chan struct{}] // closed while it is up
}

// raised returns a channel that is closed once the signal is up.
func (s *signal) raised() <-chan struct{} { return *s.up.Load() }

func (s *signal) raise() { close(*s.up.Load()) }

func (s *signal) lower() {
	down := make(chan struct{})
	s.up.Store(&down)
}
