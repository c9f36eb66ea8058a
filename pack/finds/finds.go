package finds

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
)

// What records say that is worth a note is found in each of them once, ever: by whoever reads the notes of a session first, or by the first
// pack after a compaction. What was found is kept, and folded into rows up to the places of the timeline that are asked for.

// Bounds of what is remembered.
const (
	maxFoldings = 3 // one follows the end of the history, one its compactions
	maxNotes    = 8 // places whose notes are remembered
)

// Finds is what was found in the records of one history.
type Finds struct {
	Size     atomic.Int64 // about, in bytes
	Catching atomic.Bool  // somebody goes through the records behind the readers' backs
	Gap      ctxabi.Span  // places that are not looked at

	mu       sync.Mutex   // held while records are read
	keep     prefix.Lines // nil: nothing outlives this memory
	loaded   bool
	places   int           // of the timeline that were gone through
	tools    int           // tool events among them
	lines    [][]byte      // the batches that are not on the disk: they come behind those that are
	lost     bool          // what was kept went while it was in use: nothing is kept any more
	foldings []*folding    // the most recently used last
	notes    []*Notes      // likewise
	ahead    map[int]early // by place, of records that nobody went through yet
}

// Batch is what was found in some records, as it is kept.
type Batch struct {
	prefix.Batch
	Version int          `json:"version"`
	Found   []findRecord `json:"found,omitempty"`
	Gap     *ctxabi.Span `json:"gap,omitempty"` // places that were not looked at
	partial bool         // a record could not be read, so that it is not kept
}

// findRecord is what was found in one.
type findRecord struct {
	At    int               `json:"at"` // its place
	Found []derived.Finding `json:"found"`
}

// Notes are the rows as of a place.
type Notes struct {
	places, tools int
	Facts         []ctxabi.FactRow
	Decisions     []ctxabi.DecisionRow
	Refs          []ctxabi.RefRow
	Todo          string
	Replies       []derived.Replied   // replies to question tools
	Changes       []derived.Change    // statements of the user that later ones changed
	Asks          []derived.Statement // statements that ask for a change
	Summary       string              // rendered for its reader; see summarize
	summarized    bool
}

// Replied reports whether the record at a contains a reply of the user to a question tool.
func (n *Notes) Replied(a record.Address) bool {
	return slices.ContainsFunc(n.Replies, func(r derived.Replied) bool { return r.At == derived.Position{Event: a.Event, Line: a.Line} })
}

// New returns findings that k keeps; nil: nothing keeps them.
func New(k prefix.Lines) *Finds { return &Finds{keep: k} }

// Of a long history a pack, and whoever must not wait, looks at the records at its beginning and at the newest of those that count: a
// gigabyte is not read for a few lines.
const (
	First  = 512
	Newest = 4096 // or twice as many
)

// GapBefore is what is not looked at of the first places of a history; none of a short one. It moves in large steps.
func GapBefore(places int) ctxabi.Span {
	if places <= First+2*Newest {
		return ctxabi.Span{}
	}
	return ctxabi.Span{From: First + 1, To: (places/Newest - 1) * Newest}
}

// maxNotesBehind is how many records somebody who looks at notes waits for.
const maxNotesBehind = Newest

// Behind reports whether so much was not gone through yet, or is being gone through, that whoever looks at notes must not wait for it.
func (f *Finds) Behind(m record.Records) bool {
	if GapBefore(m.Len()) == (ctxabi.Span{}) {
		return false
	}
	if !f.mu.TryLock() {
		return true
	}
	defer f.mu.Unlock()
	return !f.loaded && f.load() != nil || m.Len()-f.places > maxNotesBehind
}

// CatchUp goes through the records that were not yet, until ctx ends. Each step is made in memory that room keeps free, for so many
// bytes of records.
// It returns the error of room or of ctx, and ctxabi.ErrIO when a record cannot be read.
func (f *Finds) CatchUp(ctx context.Context, m record.Records, room func(bytes int64) (release func(), err error)) error {
	defer f.Catching.Store(false)
	step := func() (done bool, err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		places, bytes := min(f.places+maxNotesBehind, m.Len()), int64(0)
		for at := f.places + 1; at <= places; at++ {
			bytes += int64(m.At(at).Len)
		}
		release, err := room(bytes)
		if err != nil {
			return false, err
		}
		defer release()
		return places == m.Len(), f.readUpTo(ctx, m, places)
	}
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if done, err = step(); err != nil {
			return err
		}
	}
	return nil
}

// At returns the notes as of the first places of m. With a counter they have their summary.
// It returns the error of ctx when that ends, and ctxabi.ErrIO when a record cannot be read.
func (f *Finds) At(ctx context.Context, m record.Records, places int, count func(string) int) (Notes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tools := record.ToolsUpTo(m, places)
	for i, n := range f.notes {
		if n.places == places && n.tools == tools && (count == nil || n.summarized) {
			f.notes = append(slices.Delete(f.notes, i, i+1), n)
			return *n, nil
		}
	}
	if err := f.readUpTo(ctx, m, places); err != nil {
		return Notes{}, err
	}
	g, err := f.folded(ctx, m, places)
	if err != nil {
		return Notes{}, err
	}
	n := &Notes{places: places, tools: tools, Facts: g.fold.Facts(), Decisions: g.fold.Decisions(), Refs: g.fold.Refs(), Todo: g.fold.Todo(), Replies: g.fold.Replies(), Changes: g.fold.Changes(), Asks: g.fold.Asks()}
	if count != nil {
		n.Summary, n.summarized = g.fold.Summary(summaryTokens, count), true
	}
	f.notes = slices.DeleteFunc(f.notes, func(o *Notes) bool { return o.places == places })
	if f.notes = append(f.notes, n); len(f.notes) > maxNotes {
		f.notes = slices.Delete(f.notes, 0, 1)
	}
	f.weigh()
	return *n, nil
}

// readUpTo goes through the records up to a place that were not yet; f.mu is held.
func (f *Finds) readUpTo(ctx context.Context, m record.Records, places int) error {
	if !f.loaded {
		if err := f.load(); err != nil {
			return err
		}
	}
	if f.places <= m.Len() && record.ToolsUpTo(m, f.places) != f.tools { // a tool event got a place before others, or the end of a log was lost
		f.reset()
	}
	for f.places < places {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.read(m, places)
		if err != nil {
			return err
		}
		if f.keep != nil {
			if b.Head, err = f.keep.Head(m, b.To); err != nil {
				return err
			}
		}
		line, err := json.Marshal(b)
		if err != nil {
			return err
		}
		if f.keep == nil || f.lost || b.partial || len(f.lines) > 0 || f.keep.Append(line) != nil {
			f.lines = append(f.lines, line)
		}
		f.advance(m, &b)
		f.places, f.tools = b.To, b.Tools
	}
	maps.DeleteFunc(f.ahead, func(at int, _ early) bool { return at <= f.places })
	return nil
}

// gap returns the places that are not looked at; nil: there are none.
func (f *Finds) gap() *ctxabi.Span {
	if f.Gap == (ctxabi.Span{}) {
		return nil
	}
	gap := f.Gap
	return &gap
}

// read finds what the next records say, up to a place.
func (f *Finds) read(m record.Records, upTo int) (Batch, error) {
	b := Batch{Batch: prefix.Batch{From: f.places + 1}, Version: derived.FindVersion, Gap: f.gap()}
	at, before := f.places, record.UnreadSoFar(m)
	for bytes := 0; at < upTo && bytes < BatchBytes; {
		at++
		if f.Gap.From <= at && at <= f.Gap.To {
			at = min(f.Gap.To, upTo)
			continue
		}
		bytes += int(m.At(at).Len) + 1
		found, known := f.ahead[at].of(m, at)
		if !known {
			var err error
			if found, err = findAt(m, at); err != nil {
				return b, err
			}
		}
		if len(found) > 0 {
			b.Found = append(b.Found, findRecord{at, found})
		}
	}
	b.To, b.Tools, b.partial = at, record.ToolsUpTo(m, at), record.UnreadSoFar(m) > before
	return b, nil
}

// findAt returns what the record at a place says; nil of one that is unreadable. It returns ctxabi.ErrIO when it cannot be read.
func findAt(m record.Records, at int) ([]derived.Finding, error) {
	s, err := SaidTo(m, at)
	if err != nil || record.IsUnread(m, at) {
		return nil, err
	}
	return derived.Find(s), nil
}

// early is what was found in a record before somebody went through all up to it.
type early struct {
	found []derived.Finding
	tools int // tool events up to its place
	is    bool
}

// of returns it, if it is that of the record at a place of m.
func (e early) of(m record.Records, at int) (found []derived.Finding, ok bool) {
	return e.found, e.is && e.tools == record.ToolsUpTo(m, at)
}

// maxAhead is how many records are read before somebody goes through all up to them.
const maxAhead = 1024

// Ahead reads the record at a place for whoever goes through the records up to it later, unless somebody does so now. Nothing of it is
// kept until then.
func (f *Finds) Ahead(m record.Records, at int) {
	if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	if _, known := f.ahead[at].of(m, at); known || !f.loaded || at <= f.places || at > f.places+maxAhead || f.Gap.From <= at && at <= f.Gap.To {
		return
	}
	found, err := findAt(m, at)
	if err != nil || record.IsUnread(m, at) {
		return // it may be readable then
	}
	if f.ahead == nil {
		f.ahead = map[int]early{}
	}
	f.ahead[at] = early{found, record.ToolsUpTo(m, at), true}
}

// SaidTo returns the record at a place as those see it who find. It returns ctxabi.ErrIO when it cannot be read.
func SaidTo(m record.Records, at int) (derived.Record, error) {
	e := m.At(at)
	r, err := record.ExcerptOf(m, at)
	if err != nil {
		return derived.Record{}, err
	}
	s := derived.Record{Role: e.Role.String(), Text: r.Text, Result: r.Result, Failed: r.Failed, Bytes: r.Bytes, Answers: r.Answers, Replies: r.Replies}
	if r.Result {
		s.Tool = r.Name
	}
	if e.Role == ctxabi.Event {
		s.Type = record.CallType
		if r.Result {
			s.Type = record.ResultType
		}
	}
	for _, c := range r.Calls {
		s.Calls = append(s.Calls, derived.Call{Name: c.Name, Arguments: c.Arguments, ID: c.ID})
	}
	return s, nil
}

// SaysAs returns the role that what was found in the record at a place counts for.
func SaysAs(m record.Records, at int) string {
	e := m.At(at)
	if e.Role == ctxabi.User && record.IsResult(e) {
		return ctxabi.Tool.String()
	}
	return e.Role.String()
}

// reset forgets all that was found; f.mu is held.
func (f *Finds) reset() {
	f.places, f.tools, f.lines, f.foldings, f.notes, f.ahead = 0, 0, nil, nil, nil, nil
	if f.keep != nil {
		f.keep.Remove()
	}
}

// load goes on where an earlier daemon was, unless what it left does not fit together, or not the history.
func (f *Finds) load() (err error) {
	f.loaded = true
	if f.keep == nil {
		return nil
	}
	f.places, f.tools, _, err = prefix.LoadLines(f.keep, func(line []byte) bool {
		var v struct {
			Version int
			Gap     ctxabi.Span
		}
		return json.Unmarshal(line, &v) == nil && v.Version == derived.FindVersion && v.Gap == f.Gap
	})
	f.loaded = err == nil
	return err
}

// weigh notes about how much memory f takes.
func (f *Finds) weigh() {
	n := 512
	for _, line := range f.lines {
		n += len(line)
	}
	for _, o := range f.notes {
		n += 256 + len(o.Todo) + len(o.Summary) + 300*(len(o.Facts)+len(o.Decisions)+len(o.Refs))
	}
	f.Size.Store(int64(n + 64<<10*len(f.foldings) + 256*len(f.ahead)))
}

// BatchBytes is how many bytes of records one batch tells of, about.
const BatchBytes = 4 << 20

const summaryTokens = 1000 // of summary.md
