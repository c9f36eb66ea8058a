package builder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/section"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/pack/swap"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Numbers of derived notes.
const (
	maxSwapRefs = 32   // rows of what left the prompt, the largest
	minSwapRef  = 1000 // tokens of one
)

// NotesView is what ctxfs derives of a session's history: the notes that its agent has not written. It never changes.
type NotesView struct {
	Facts     []ctxabi.FactRow
	Decisions []ctxabi.DecisionRow
	Refs      []ctxabi.RefRow
	Todo      string // a Markdown list, "" or ending in a newline, as is Summary
	Summary   string

	files map[string][]byte
}

// File returns what the file of a session called name (ctxabi.FactsFile, ...) holds as long as the agent writes none; nil for other names.
func (v *NotesView) File(name string) []byte { return v.files[name] }

// Notes returns what is derived of all records of the session, and of what left its prompt. Each record is read for it once, ever.
// It returns an error when a log cannot be read or there is no memory for it, and that of ctx when ctx
// ends.
func (b *Builder) Notes(ctx context.Context, x *session.Session) (*NotesView, error) {
	e := b.use(x)
	was := e.notes.bytes()
	v, err := e.notes.view(ctx, b, x, e)
	if grown := e.notes.bytes() - was; grown != 0 {
		b.grow(x.ID(), grown)
	}
	return v, err
}

// entryNotes is what a builder remembers of a session's notes.
type entryNotes struct {
	plain plainEvents

	mu     sync.Mutex
	states section.States // guarded by mu
	loaded bool
	size   atomic.Int64 // of states, in bytes

	shown atomic.Pointer[shownNotes]
}

// shownNotes is a view and what it was made from.
type shownNotes struct {
	view     *NotesView
	messages int64 // size of the log
	tools    int
	events   int64 // size of the log
	swapped  *swap.Nodes
	children []session.Child
	bytes    int
}

func (n *entryNotes) bytes() int {
	size := int(n.size.Load())
	if s := n.shown.Load(); s != nil {
		size += s.bytes
	}
	return size
}

// view returns the present view.
func (n *entryNotes) view(ctx context.Context, b *Builder, x *session.Session, e *entry) (*NotesView, error) {
	t, err := e.Timeline(ctx, x)
	if err != nil {
		return nil, err
	}
	s := n.shown.Load()
	if s == nil || s.messages != t.Messages.Size() || s.events != t.Events.Size() {
		release, err := b.room(t, "read", "")
		if err != nil {
			return nil, err
		}
		defer release()
	}
	swapped, err := e.swap.Update(ctx, x, &e.Logs)
	if err != nil {
		return nil, err
	}
	children, err := x.Children()
	if err != nil {
		return nil, err
	}
	if s != nil && s.messages == t.Messages.Size() && s.tools == len(t.Tools) && s.events == t.Events.Size() &&
		s.swapped == swapped && slices.Equal(s.children, children) {
		return s.view, nil
	}
	c, err := tokens.For(b.config.Encoding)
	if err != nil {
		return nil, err
	}
	rows, err := n.rows(ctx, x, e, t, c.CountCached)
	if err != nil {
		return nil, err
	}
	v := &NotesView{Facts: rows.Facts, Decisions: rows.Decisions,
		Refs: slices.Concat(rows.Refs, swapRefs(swapped), childRefs(children)), Todo: rows.Todo, Summary: rows.Summary}
	v.files = map[string][]byte{ctxabi.SummaryFile: []byte(v.Summary), ctxabi.TodoFile: []byte(v.Todo),
		ctxabi.FactsFile: jsonLines(v.Facts), ctxabi.DecisionsFile: jsonLines(v.Decisions), ctxabi.RefsFile: jsonLines(v.Refs)}
	size := 1024
	for _, data := range v.files {
		size += 2 * len(data)
	}
	n.shown.Store(&shownNotes{v, t.Messages.Size(), len(t.Tools), t.Events.Size(), swapped, children, size})
	return v, nil
}

// noteRows are the rows of derived notes.
type noteRows struct {
	Facts     []ctxabi.FactRow
	Decisions []ctxabi.DecisionRow
	Refs      []ctxabi.RefRow
	Todo      string
	Summary   string
	Asks      []derived.Statement // statements that ask for a change
}

func rowsOf(d *derived.State) noteRows {
	return noteRows{Facts: d.Facts(), Decisions: d.Decisions(), Refs: d.Refs(), Todo: d.Todo()}
}

// summaryTokens is the size of a derived summary.
const summaryTokens = 1000

// rows returns the notes as of the end of both logs, with their summary if there is a counter. It returns the error of ctx when that ends, and
// ctxabi.ErrIO when a record cannot be read.
func (n *entryNotes) rows(ctx context.Context, x *session.Session, e *entry, t *log.Timeline, count func(string) int) (noteRows, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in := e.logs(t)
	notes, err := n.upTo(ctx, x, e, in.History())
	if err != nil {
		return noteRows{}, err
	}
	rows := rowsOf(notes)
	if rows.Asks = notes.Asks(); count != nil {
		rows.Summary = notes.Summary(summaryTokens, count)
	}

	plain, err := n.plain.upTo(ctx, e.Readable(t, true))
	if err != nil {
		return rows, err
	}
	rows.Facts, rows.Decisions = slices.Concat(rows.Facts, plain.Facts), slices.Concat(rows.Decisions, plain.Decisions)
	rows.Refs, rows.Todo = slices.Concat(rows.Refs, plain.Refs), joinTodos(plain.Todo, rows.Todo)
	return rows, nil
}

// upTo returns the notes of the records of m; n.mu is held.
func (n *entryNotes) upTo(ctx context.Context, x *session.Session, e *entry, m record.Records) (*derived.State, error) {
	if !n.loaded && !e.Redacts() {
		n.states.StoreIn(source.Derived{Session: x, Name: statesName}, pack.RendererVersion)
		n.states.Restore(m)
	}
	n.loaded = true
	state, err := n.states.At(ctx, m, section.From(m.Len()), m.Len())
	n.size.Store(int64(n.states.Size()))
	if err != nil {
		return nil, err
	}
	_ = n.states.Save(m) // the next daemon reads the records again where they are not stored
	return n.states.Notes(state), nil
}

// childRefs returns rows of the results of children, those that somebody wrote and those of children that have finished, and
// of what each child brought beside it.
func childRefs(children []session.Child) (rows []ctxabi.RefRow) {
	for i := range children {
		if c := &children[i]; c.Finished() || c.ResultOrigin == ctxabi.OriginAgent {
			rows = append(rows, c.Row())
		}
		rows = append(rows, children[i].Brought()...)
	}
	return rows
}

// swapRefs are rows of the largest parts that left the prompt, in the order of the history.
func swapRefs(n *swap.Nodes) (rows []ctxabi.RefRow) {
	var large []ctxabi.SwapRow
	for line := range bytes.Lines(n.Index) {
		var row ctxabi.SwapRow
		if json.Unmarshal(line, &row) == nil && row.Tokens >= minSwapRef {
			large = append(large, row)
		}
	}
	if len(large) > maxSwapRefs {
		bySize := slices.Clone(large)
		slices.SortStableFunc(bySize, func(a, b ctxabi.SwapRow) int { return cmp.Compare(b.Tokens, a.Tokens) })
		least := bySize[maxSwapRefs-1].Tokens
		large = slices.DeleteFunc(large, func(r ctxabi.SwapRow) bool { return r.Tokens < least })
		large = large[:min(len(large), maxSwapRefs)]
	}
	for _, r := range large {
		rows = append(rows, ctxabi.RefRow{ID: "s" + r.ID[len("sha256-"):][:12], Path: ctxabi.SwapChunkDir + "/" + r.ID, Kind: ctxabi.RefSwap,
			Summary: r.Summary, Source: r.Log + ":" + r.Range})
	}
	return rows
}

// jsonLines is each row in a line.
func jsonLines[T any](rows []T) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range rows {
		enc.Encode(&rows[i]) // strings alone
	}
	return b.Bytes()
}

// Beside returns what a file of notes has in front of what the agent added to it: what is derived, but for the rows that one of
// the agent's replaces, having its id.
func (v *NotesView) Beside(name string, own []byte) []byte {
	data := v.files[name]
	ids := journal.NoteIDs(own)
	if len(ids) == 0 || name == ctxabi.SummaryFile || name == ctxabi.TodoFile {
		return data
	}
	var kept []byte
	for line := range bytes.Lines(data) {
		if !ids[gjson.GetBytes(line, "id").Str] {
			kept = append(kept, line...)
		}
	}
	return kept
}
