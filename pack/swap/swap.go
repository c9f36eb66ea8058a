package swap

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// What left the prompt is noted by the build that first shows it gone, and never forgotten: the range of records that each
// compaction let go, and each record with a tool's result that is shown shortened. A note is a few bytes that follow from the
// fold and from what was rendered anyway; no record is read for it. When somebody looks, what is noted is
// read once, hashed and described, and that is kept as well. So a row that was given
// stays, whatever budget or recipe comes later.

// Departure is something that left the prompt: a range of records of one log, or the results of one record.
type Departure struct {
	Source string // "messages" or "events"
	Range  string
	Short  bool `json:",omitempty"` // shown shortened
}

// Names of the derived content that remembers notes and rows.
const (
	NotesName = "swap/notes"
	RowsName  = "swap/rows"
)

// Swap is what a session's prompts let go.
type Swap struct {
	Size atomic.Int64 // about, in bytes

	mu     sync.Mutex // held for moments only: packs are built meanwhile
	loaded bool
	notes  []Departure
	known  map[Departure]bool
	noted  map[journal.Rules]int // how many cuts of each fold are
	short  map[int]bool          // places that are

	reading sync.Mutex // comes before mu; held while records are read
	read    int        // notes that became rows
	rows    []ctxabi.SwapRow
	have    map[ctxabi.ContentRef]bool // of rows, without their hashes
	Shown   atomic.Pointer[Nodes]
}

// Note remembers what l has that was not noted before.
func (s *Swap) Note(x *session.Session, m record.Records, l pack.Left) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted[l.Rules] > len(l.Cuts) { // the end of the history was lost with the power
		s.noted, s.short = nil, nil
	}
	done := s.noted[l.Rules]
	fresh := slices.DeleteFunc(slices.Clone(l.Short), func(at int) bool { return s.short[at] })
	if done == len(l.Cuts) && len(fresh) == 0 {
		return
	}
	s.load(x)
	if s.noted == nil {
		s.noted, s.short = map[journal.Rules]int{}, map[int]bool{}
	}
	notes := rangesOf(m, l.Cuts, done)
	for _, at := range fresh {
		a := record.AddressOf(m, at)
		notes = append(notes, Departure{Source: a.Scheme(), Range: ctxabi.Span{From: a.Line, To: a.Line}.String(), Short: true})
		s.short[at] = true
	}
	s.noted[l.Rules] = len(l.Cuts)
	var lines [][]byte
	for _, n := range notes {
		if !s.known[n] {
			s.add(n)
			line, _ := json.Marshal(n)
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 {
		x.AppendDerived(NotesName, lines...) // a note that is lost is made again by the first build of the next daemon
	}
}

// rangesOf returns what each compaction but the first done ones let go of each log.
func rangesOf(m record.Records, cuts []int, done int) (notes []Departure) {
	from := 1
	if done > 0 {
		from = cuts[done-1]
	}
	for _, boundary := range cuts[done:] {
		if boundary == from {
			continue // it let go of none
		}
		part := record.StretchOf(m, ctxabi.Span{From: from, To: boundary - 1})
		if part.Messages.From > 0 {
			notes = append(notes, Departure{Source: "messages", Range: part.Messages.String()})
		}
		if part.Events.From > 0 {
			notes = append(notes, Departure{Source: "events", Range: part.Events.String()})
		}
		from = boundary
	}
	return notes
}

// load reads the notes of earlier daemons; mu is held.
func (s *Swap) load(x *session.Session) {
	if s.loaded {
		return
	}
	s.loaded, s.known = true, map[Departure]bool{}
	x.EachDerivedLine(NotesName, func(line []byte) bool {
		if n, ok := readSwapNote(line); ok && !s.known[n] {
			s.add(n)
		}
		return true
	})
}

// readSwapNote reads a note as it is kept. The first pack after a start waits for all of them, tens of thousands in a long session: nearly
// all are ranges of messages, which are cut out of their lines.
func readSwapNote(line []byte) (n Departure, ok bool) {
	if rest, found := bytes.CutPrefix(line, []byte(`{"Source":"messages","Range":"`)); found {
		if span, found := bytes.CutSuffix(rest, []byte(`"}`)); found && !bytes.ContainsAny(span, `"\`) {
			return Departure{Source: "messages", Range: string(span)}, true
		}
	}
	err := json.Unmarshal(line, &n)
	return n, err == nil
}

func (s *Swap) add(n Departure) {
	s.notes = append(s.notes, n)
	s.known[n] = true
	s.Size.Add(128)
}

// Update makes rows of the notes that are none yet.
// It returns an error when a record cannot be read, and that of ctx when ctx ends.
func (s *Swap) Update(ctx context.Context, x *session.Session, e *source.Logs) (*Nodes, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	s.load(x)
	notes := s.notes[s.read:]
	s.mu.Unlock()
	n := s.Shown.Load()
	if n != nil && len(notes) == 0 {
		return n, nil
	}
	if s.have == nil {
		s.have = map[ctxabi.ContentRef]bool{}
		if !e.Redacts() { // what is kept are summaries of records as they are stored
			s.loadRows(x)
		}
	}
	r := &swapReader{x: x, e: e, unread: &e.Unread}
	for _, note := range notes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		met := e.Unread.Count.Load()
		rows, err := r.rows(note, s.have)
		if err != nil {
			return nil, err
		}
		var lines [][]byte
		for _, row := range rows {
			s.addRow(row)
			line, _ := json.Marshal(StoredRow{row, row.Ref})
			lines = append(lines, line)
		}
		if len(lines) > 0 && !e.Redacts() && e.Unread.Count.Load() == met { // else a row might be kept that lacks what could not be read
			x.AppendDerived(RowsName, lines...) // what is lost is read again
		}
		s.read++
	}
	slices.SortStableFunc(s.rows, compareRows)
	before := 0
	if n != nil {
		before = n.bytes()
	}
	n = &Nodes{}
	for _, row := range s.rows {
		n.add(row.ID, Node{Size: row.Bytes, Tokens: row.Tokens, Ref: row.Ref}, row)
	}
	s.Shown.Store(n.sorted())
	s.Size.Add(int64(n.bytes() - before))
	return n, nil
}

// StoredRow is a row as it is kept.
type StoredRow struct {
	ctxabi.SwapRow
	Ref ctxabi.ContentRef `json:"ref"`
}

func (s *Swap) loadRows(x *session.Session) {
	x.EachDerivedLine(RowsName, func(line []byte) bool {
		var row StoredRow
		if json.Unmarshal(line, &row) == nil && row.ID == row.Ref.ID() && !s.have[unhashed(row.Ref)] {
			row.SwapRow.Ref = row.Ref
			if row.Log == "" { // of an earlier version
				row.SwapRow = row.Named()
				row.Event = eventOf(x, row.SwapRow)
			}
			s.addRow(row.SwapRow)
		}
		return true
	})
}

func (s *Swap) addRow(row ctxabi.SwapRow) {
	s.rows = append(s.rows, row)
	s.have[unhashed(row.Ref)] = true
	s.Size.Add(int64(len(row.Summary)) + 512)
}

// unhashed names the bytes that r means whatever they are.
func unhashed(r ctxabi.ContentRef) ctxabi.ContentRef {
	r.Hash = ""
	return r
}

// compareRows orders rows by log, messages first, and by record.
func compareRows(a, b ctxabi.SwapRow) int {
	return cmp.Or(strings.Compare(b.Source, a.Source), a.Ref.Start-b.Ref.Start, b.Ref.End-a.Ref.End,
		strings.Compare(a.Kind, b.Kind), a.Ref.Part-b.Ref.Part, strings.Compare(string(a.Ref.Form), string(b.Ref.Form)))
}
