package builder

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// findsName is the derived content that has what was found in a session's records.
const findsName = "notes/finds"

// nearName is the derived content that has what packs look at of it where the history is long.
const nearName = "notes/near"

// keptFinds keeps what was found as derived content of a session.
type keptFinds struct {
	x    *session.Session
	name string
}

// Load implements [finds.Keeper]; it returns an error when the history cannot be read.
func (k keptFinds) Load(add func(line []byte) bool) (places, tools int, err error) {
	t, err := k.x.Timeline()
	if err != nil {
		return 0, 0, err
	}
	in := pack.Input{Messages: t.Messages, Tools: t.Tools}
	if len(t.Tools) > 0 {
		in.Events = t.Events
	}
	places, tools, _ = source.LoadBatches(k.x, in.History(), k.name, func(_ finds.BatchOf, line []byte) bool { return add(line) })
	return places, tools, nil
}

// Each implements [finds.Keeper]; it returns an error when the lines cannot be read.
func (k keptFinds) Each(do func(line []byte) bool) error { return k.x.EachDerivedLine(k.name, do) }

// Head implements [finds.Keeper]; it returns an error when the history cannot be read.
func (k keptFinds) Head(m record.Records, at int) (string, error) { return source.HeadAt(k.x, m, at) }

// Append implements [finds.Keeper]; it returns an error when the line is not kept.
func (k keptFinds) Append(line []byte) error { return k.x.AppendDerived(k.name, line) }

func (k keptFinds) Remove() { k.x.RemoveDerived(k.name) }

// keeper is where findings are kept: nowhere, where they are those of redacted records.
func (e *entry) keeper(x *session.Session, name string) finds.Keeper {
	if e.Redacts() {
		return nil
	}
	return keptFinds{x, name}
}

// Derived contents that have the folds of a session with the zones of its last compaction, and what its records say of files and runs.
const (
	foldsName  = "notes/folds"
	statesName = "notes/states"
)

// keptMemo keeps a part of a memo as derived content of a session.
type keptMemo struct {
	x    *session.Session
	name string
}

// Load implements [journal.Store].
func (k keptMemo) Load() []byte {
	data, err := k.x.Derived(k.name)
	if err != nil {
		return nil
	}
	return data
}

// Keep implements [journal.Store]; it returns an error when the data is not kept.
func (k keptMemo) Keep(data []byte) error { return k.x.SetDerived(k.name, data) }

// Head implements [journal.Store]; it returns an error when the history cannot be read.
func (k keptMemo) Head(m record.Records, at int) (string, error) { return source.HeadAt(k.x, m, at) }

// foldAhead keeps the folds of the build of in that was just made, and has those made that a later one may need. e.busy is held, and
// taken again for a moment when they are there.
func (b *Builder) foldAhead(e *entry, in *pack.Input) {
	_ = in.SaveFolds(e.memo) // the next daemon folds anew where they are not kept
	if e.ahead {
		return
	}
	a := in.Ahead(e.memo)
	if a == nil {
		return
	}
	e.ahead = true
	mm := e.memo
	b.background(func(ctx context.Context) {
		err := a.Make(ctx)
		if e.lock(ctx) != nil {
			return
		}
		if e.ahead = false; err == nil {
			mm.Adopt(a)
		}
		<-e.busy
	})
}

// mostReaders is how many goroutines read a history at a time that lacks several blocks of that index.
const mostReaders = 4

// termsBlocks begins the names of derived content that has a block of the index by which questions are answered.
const termsBlocks = "notes/terms."

func termsName(k int) string { return fmt.Sprint(termsBlocks, k) }

// keptTerms keeps that index as derived content of a session.
type keptTerms struct{ x *session.Session }

// Load implements [recall.Store].
func (s keptTerms) Load(k int) []byte {
	data, err := s.x.Derived(termsName(k))
	if err != nil {
		return nil
	}
	return data
}

// Open implements [recall.Store]; it returns an error when there is no such block.
func (s keptTerms) Open(k int) (recall.Stored, error) {
	f, _, err := s.x.OpenDerived(termsName(k))
	if err != nil {
		return nil, err
	}
	return termsFile{f}, nil
}

// Keep implements [recall.Store]; it returns an error when the block is not kept.
func (s keptTerms) Keep(k int, data []byte) error { return s.x.SetDerived(termsName(k), data) }

func (s keptTerms) Remove(k int) { s.x.RemoveDerived(termsName(k)) }

// Head implements [recall.Store]; it returns an error when the history cannot be read.
func (s keptTerms) Head(m record.Records, at int) (string, error) { return source.HeadAt(s.x, m, at) }

// termsFile is a block behind the line of derived content.
type termsFile struct{ session.DerivedReader }

// ReadAt reads at a place of the block; it returns the error of the disk.
func (f termsFile) ReadAt(p []byte, off int64) (int, error) {
	return f.DerivedReader.ReadAt(p, off+int64(session.DerivedHeader))
}

// entryTerms is the index of a session by which its packs answer questions, whatever moment they are of.
type entryTerms struct {
	once  sync.Once
	terms atomic.Pointer[recall.Terms] // made once
	ahead atomic.Bool                  // somebody indexes what nobody asked for yet
}

func (t *entryTerms) bytes() int {
	if x := t.terms.Load(); x != nil {
		return x.Size()
	}
	return 0
}

// termsOf returns the entry's index. Where packs are redacted nothing of it is kept.
func (e *entry) termsOf(x *session.Session) *recall.Terms {
	e.terms.once.Do(func() {
		var s recall.Store
		if !e.Redacts() {
			s = keptTerms{x}
		}
		e.terms.terms.Store(recall.NewTerms(s, min(mostReaders, runtime.GOMAXPROCS(0))))
	})
	return e.terms.terms.Load()
}
