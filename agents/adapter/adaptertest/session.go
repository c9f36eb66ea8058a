package adaptertest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Session is a session in memory, with its children. The zero value is empty.
type Session struct {
	Records []adapter.Record // in the order in which they were added
	known   adapter.Known
}

// Import reads a transcript into the session as `ctxfs import` does, and gives
// what it added. Records must be such that a session takes them, but for their
// size and depth, and have a stamp of the format.
func (s *Session) Import(t testing.TB, f *adapter.Format, name string, data []byte) (added []adapter.Record, losses []adapter.Loss) {
	t.Helper()
	s.known.Begin()
	out := &output{t: t, f: f, session: s}
	in := &adapter.Input{R: bytes.NewReader(data), Name: name, Seen: s.known.Seen}
	if err := f.Import(in, out); err != nil {
		t.Fatalf("%s: import of %s: %v", f.Name, name, err)
	}
	return out.records, out.losses
}

// Export writes the session as a transcript.
func (s *Session) Export(t testing.TB, f *adapter.Format) (data []byte, losses []adapter.Loss) {
	t.Helper()
	var logs [][]adapter.Record // of each chain its messages and its events
	place := map[string]int{}
	for _, r := range s.Records {
		log := r.Chain + "\x00"
		if r.Event {
			log += "e"
		}
		if _, ok := place[log]; !ok {
			place[log] = len(logs)
			logs = append(logs, nil)
		}
		logs[place[log]] = append(logs[place[log]], r)
	}
	var b bytes.Buffer
	src := &adapter.Source{Name: "s1", Records: f.Arrange(logs...), Loss: func(l adapter.Loss) { losses = append(losses, l) }}
	if err := f.Export(src, &b); err != nil {
		t.Fatalf("%s: export: %v", f.Name, err)
	}
	return b.Bytes(), losses
}

func (s *Session) add(r adapter.Record) {
	s.Records = append(s.Records, r)
	s.known.Add(r)
}

// ids are the source records that the session has, sorted.
func (s *Session) ids() (ids []string) {
	for _, r := range s.Records {
		stamp, ok := r.Stamp()
		if !ok {
			ids = append(ids, r.Chain+" "+string(r.Line))
		}
		for _, id := range stamp.IDs {
			ids = append(ids, r.Chain+" "+id)
		}
	}
	slices.Sort(ids)
	return ids
}

type output struct {
	t       testing.TB
	f       *adapter.Format
	session *Session
	records []adapter.Record
	losses  []adapter.Loss
}

func (o *output) Loss(l adapter.Loss) {
	if l.Where == "" || l.What == "" {
		o.t.Errorf("a loss that says nothing: %+v", l)
	}
	o.losses = append(o.losses, l)
}

func (o *output) Record(r adapter.Record) error {
	stamp, ok := r.Stamp()
	if !o.f.Verbatim {
		if !ok || stamp.Format != o.f.Name || len(stamp.At) != len(stamp.IDs) {
			o.t.Errorf("a record without a stamp of %s with a place for each id: %.300s", o.f.Name, r.Line)
		}
		r = o.session.known.Place(r)
	}
	fit, lost := r.Fit()
	if lost != "" {
		o.losses = append(o.losses, adapter.Loss{Where: "a record", What: lost})
	}
	if err := fit.Check(); err != nil {
		o.t.Errorf("a session refuses the record: %v\n%.300s", err, fit.Line)
	}
	if bytes.IndexByte(fit.Line, '\n') >= 0 {
		o.t.Errorf("a record of several lines: %.300s", fit.Line)
	}
	o.records = append(o.records, fit)
	o.session.add(fit)
	return nil
}
