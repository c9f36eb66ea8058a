package builder

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/pack/recall"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// Derived contents that have the folds of a session with the zones of its last compaction, and what
// its records say of files and runs.
const (
	foldsName  = "notes/folds"
	statesName = "notes/states"
)

// mostReaders is how many goroutines read a history at a time that lacks several blocks of that
// index.
const mostReaders = 4

// termsBlocks begins the names of derived content that has a block of the index by which questions
// are answered.
const termsBlocks = "notes/terms."

// termsName returns the name of a block of n records after the first records of the history.
func termsName(first, n int) string {
	if n == recall.BlockRecords {
		return fmt.Sprint(termsBlocks, first/n)
	}
	return fmt.Sprint(termsBlocks, first/n, ".", n)
}

// entryTerms is the index of a session by which its packs answer questions, whatever moment they
// are of.
type entryTerms struct {
	once   sync.Once
	terms  atomic.Pointer[recall.Terms] // made once
	wanted atomic.Int64                 // records that are indexed in the background; 0: none

	awaited *atomic.Uint64 // see [Builder.Awaited]
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
			s = func(first, n int) recall.File { return source.Derived{Session: x, Name: termsName(first, n)} }
		}
		terms := recall.NewTerms(s, min(mostReaders, runtime.GOMAXPROCS(0)))
		terms.Awaited = e.terms.awaited
		e.terms.terms.Store(terms)
	})
	return e.terms.terms.Load()
}
