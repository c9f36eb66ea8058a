package builder

import (
	"context"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/section"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// What it takes to make something of a session, beside the index of its records, about.
const (
	workBytes = 8 << 20 // of memory, however long the session is
	workTimes = 4       // bytes of memory for each byte of a record that is worked at
)

// room keeps memory free for making something of the session as it is in t, until release. It returns ctxabi.ErrNoMemory if
// there is none; see [memory.Limit].
func (b *Builder) room(t *log.Timeline, op, path string) (release func(), err error) {
	if b.config.Memory == nil {
		return func() {}, nil
	}
	longest := max(longestRead(t.Messages), longestRead(t.Events))
	need := min(workTimes*(t.Messages.Size()+t.Events.Size()), workBytes+workTimes*int64(longest))
	return b.config.Memory.Reserve(op, path, need)
}

// roomNow is room for the session as it is now.
func (b *Builder) roomNow(x *session.Session) (release func(), err error) {
	t, err := x.Timeline()
	if err != nil {
		return nil, err
	}
	return b.room(t, "read", "")
}

// longestRead returns the length of the longest of the records that are looked at: of a long history those at its beginning and
// its newest.
func longestRead(ix *log.Index) (longest int) {
	from := section.From(ix.Len())
	if longest = ix.Longest(); longest <= workBytes/workTimes || from == 0 {
		return longest
	}
	longest = 0
	for at := 1; at <= ix.Len(); at++ {
		if at == section.First+1 {
			at = from + 1
		}
		longest = max(longest, int(ix.At(at).Len))
	}
	return longest
}

// newMemo is newMemo for a builder's limit of memory.
func (b *Builder) newMemo() *pack.Memo {
	mm := pack.NewMemo()
	mm.Corpora.Most = b.config.Memory.Share(blocks.MaxCorpora)
	return mm
}

// remembered is what a builder remembers as a cache of memory.Limit.
type remembered struct{ *Builder }

func (b remembered) Loosen() {}

// LetGo forgets all sessions of which nothing is being made.
func (b remembered) LetGo() {
	if !b.mu.TryLock() {
		return
	}
	defer b.mu.Unlock()
	for id, e := range b.sessions.Oldest() {
		if len(e.busy)+len(e.past.busy) == 0 {
			b.remove(id)
		}
	}
}

// Size returns how many bytes all of them take, about.
func (b remembered) Size() (n int64) {
	if !b.mu.TryLock() {
		return 0
	}
	defer b.mu.Unlock()
	for id, e := range b.sessions.Oldest() {
		if len(e.busy)+len(e.past.busy) == 0 {
			n += b.sessions.SizeOf(id)
		}
	}
	return n
}

// indexBytes is about how much memory it takes to index the records of the largest block.
const indexBytes = 24 << 20

// indexAhead indexes the n records of a history in the background after each build, so that a request
// waits only for records that are newer.
func (b *Builder) indexAhead(e *entry, x *session.Session, n int) {
	terms := e.termsOf(x)
	if terms.Len() >= n || e.terms.wanted.Swap(int64(n)) > 0 { // a running goroutine sees it
		return
	}
	b.background(func(ctx context.Context) {
		before := terms.Size()
		for {
			n := e.terms.wanted.Load()
			for more := true; more; {
				more = !x.Removed() && b.indexSome(ctx, x, e, int(n))
			}
			if e.terms.wanted.CompareAndSwap(n, 0) {
				break
			}
		}
		b.grow(x.ID(), terms.Size()-before)
	})
}

// indexSome indexes at most one block of the first n records and reports whether more are missing. It
// waits while another session is indexed. After an error the next build tries again.
func (b *Builder) indexSome(ctx context.Context, x *session.Session, e *entry, n int) (more bool) {
	select {
	case b.indexes <- struct{}{}:
		defer func() { <-b.indexes }()
	case <-ctx.Done():
		return false
	}
	terms := e.termsOf(x)
	need := min(indexBytes, (n-terms.Len())*(indexBytes/recall.BlockRecords))
	release, err := b.config.Memory.Spare("pack", ctxabi.PackFile, int64(need))
	if err != nil {
		return false
	}
	defer release()
	t, err := e.Timeline(ctx, x)
	if err != nil {
		return false // whoever asks is told
	}
	in := e.logs(t)
	m := in.History()
	more, err = terms.Fill(ctx, m, min(n, m.Len()))
	return more && err == nil
}

// background does what nobody waits for, until Close.
func (b *Builder) background(do func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.work.Err() == nil {
		b.working.Go(func() { do(b.work) })
	}
}
