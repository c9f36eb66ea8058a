package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/search/excerpt"
	"github.com/ctxfs/ctxfs/session/archive"
)

// What belongs to a hit: the result of a call and the call of a result, the answer to a question and the
// question of an answer. It stands some records away, and is what who searches for one looks for next.

// With is a record that belongs to a hit, of the same log.
type With struct {
	Line int
	Who  string
	What string // it is to the hit: "its result", "its call", "the answer", "the question"

	doc document.Document // of a call: that call alone
}

// Bounds of the look around a hit.
const (
	maxResults = 2    // of a call
	nearCalls  = 32   // records behind a call that its results stand in
	fewWords   = 3    // that a question has at least
	farTurn    = 4096 // records up to which a turn's beginning and its end are looked for
)

// join adds to the hits what belongs to them, unless that is a hit itself.
func (f *finder) join() error {
	shown := map[place]bool{}
	for i := range f.hits {
		h := &f.hits[i]
		shown[h.place()] = true
	}
	for i := range f.hits {
		h := &f.hits[i]
		if f.docs[h.place()] == nil {
			continue
		}
		r, err := f.reader(h.of, h.Event)
		if err != nil {
			return err
		}
		for _, w := range f.around(h, r) {
			at := place{h.of, h.Event, w.Line}
			if shown[at] {
				continue
			}
			if ok, err := f.fetch(h, &w, r); err != nil {
				return err
			} else if ok {
				h.With = append(h.With, w)
			}
		}
		if h.doc.IsCall() {
			h.With = f.bestResults(h)
		}
	}
	return nil
}

// fetch reads a record that belongs to h; ok is false if there is nothing to be shown of it.
func (f *finder) fetch(h *Hit, w *With, r *document.Reader) (ok bool, err error) {
	if f.redact != nil {
		w.doc, err = f.redacted(h.of, h.Event, w.Line)
	} else if d, failed := f.near(h, r, w.Line); d == nil {
		return false, failed
	} else {
		w.doc = *d
	}
	if archive.IsDamage(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w.Who = w.doc.Who()
	if w.What == "its call" {
		w.doc.Only(h.doc.Answers)
	}
	return w.doc.Said != "", nil
}

// near reads a record near a hit as it is stored; nil if it is damaged, or if so much was read that it is left.
func (f *finder) near(h *Hit, r *document.Reader, line int) (*document.Document, error) {
	at := place{h.of, h.Event, line}
	if d := f.docs[at]; d != nil {
		return d, nil
	}
	size := int64(r.Index.At(line).Len)
	if f.read+size > maxRead {
		return nil, nil
	}
	d, err := r.Read(line)
	if archive.IsDamage(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.read += size
	f.docs[at] = &d
	return &d, nil
}

// bestResults returns those of a hit's results that stand with it: of the calls with the most of the query,
// then the first ones.
func (f *finder) bestResults(h *Hit) []With {
	if len(h.With) <= maxResults {
		return h.With
	}
	worth := map[string]float64{}
	for _, c := range h.doc.Calls {
		s := excerpt.Look(excerpt.Record{Said: c.Name + " " + c.Arguments, Escaped: true}, f.view, maxLookOne)
		worth[c.ID] = s.Worth()
	}
	of := func(w *With) (most float64) {
		for _, id := range w.doc.Answers {
			most = max(most, worth[id])
		}
		return most
	}
	slices.SortStableFunc(h.With, func(a, b With) int { return cmp.Compare(of(&b), of(&a)) })
	best := h.With[:maxResults]
	slices.SortFunc(best, func(a, b With) int { return a.Line - b.Line })
	return best
}

// around returns the records that belong to a hit, not read yet.
func (f *finder) around(h *Hit, r *document.Reader) (list []With) {
	ix, e := r.Index, r.Index.At(h.Line)
	switch {
	case e.CallOf > 0:
		return []With{{Line: int(e.CallOf), What: "its call"}}
	case h.doc.IsCall():
		for line := h.Line + 1; line <= min(ix.Len(), h.Line+nearCalls) && len(list) < nearCalls; line++ {
			if int(ix.At(line).CallOf) == h.Line {
				list = append(list, With{Line: line, What: "its result"})
			}
		}
		return list
	case h.Event || h.doc.IsResult():
		return nil
	case e.Role == ctxabi.User:
		if line := h.Line - 1; line > 0 && says(ix.At(line)) && f.asks(h, r, line) {
			list = append(list, With{Line: line, What: "the question"})
		}
		if line := lastOfTurn(r, h.Line); line > 0 {
			list = append(list, With{Line: line, What: "the answer"})
		}
	case e.Role == ctxabi.Assistant:
		if line := f.asked(h, r); line > 0 {
			list = append(list, With{Line: line, What: "the question"})
		}
		if line := h.Line + 1; line <= ix.Len() && isUser(ix.At(line)) && endsInQuestion(h.doc.Said) {
			list = append(list, With{Line: line, What: "the answer"})
		}
	}
	return list
}

// asked returns the user's last record in front of h that says something, and not only to go on; 0 if
// there is none near.
func (f *finder) asked(h *Hit, r *document.Reader) int {
	tries := 0
	for line := h.Line - 1; line >= max(1, h.Line-farTurn) && tries < 3; line-- {
		if !isUser(r.Index.At(line)) {
			continue
		}
		tries++
		if d, _ := f.near(h, r, line); d != nil && len(strings.Fields(d.Said[:min(len(d.Said), 200)])) >= fewWords {
			return line
		}
	}
	return 0
}

// lastOfTurn returns the assistant's last words to a user's record; 0 if there are none yet.
func lastOfTurn(r *document.Reader, user int) (last int) {
	for line := user + 1; line <= min(r.Index.Len(), user+farTurn); line++ {
		e := r.Index.At(line)
		if isUser(e) {
			break
		}
		if says(e) {
			last = line
		} else if e.Role == ctxabi.Assistant {
			last = 0 // it went on to do something
		}
	}
	return last
}

// isUser reports whether a record is what a user says.
func isUser(e ctxabi.Entry) bool { return e.Role == ctxabi.User && e.Flags&ctxabi.HasResults == 0 }

// says reports whether a record is what an assistant says, and calls nothing.
func says(e ctxabi.Entry) bool { return e.Role == ctxabi.Assistant && e.Flags&ctxabi.HasCalls == 0 }

// asks reports whether the record at a line ends in a question.
func (f *finder) asks(h *Hit, r *document.Reader, line int) bool {
	d, _ := f.near(h, r, line)
	return d != nil && endsInQuestion(d.Said)
}

// endsInQuestion reports whether the last paragraph of a text has a question mark.
func endsInQuestion(text string) bool {
	text = strings.TrimSpace(text)
	text = text[strings.LastIndexByte(text, '\n')+1:]
	return strings.IndexByte(text, '?') >= 0 || strings.Contains(text, "？")
}
