package source

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/log"
)

// Where packs are redacted, all that they are made from is: each record, file and output as a whole, before anything is cut, folded,
// counted or compared. So nothing of a secret can be left where something was cut in two, and what is made from redacted
// inputs needs no second look. References (swap, dedup) go by the hash of what is stored, and are not redacted.

// mask redacts what packs of one session are made from. A nil mask redacts nothing.
type mask struct {
	r      *redact.Redactor
	ledger *redact.Ledger

	mu      sync.Mutex
	weights map[record.Address]int32 // of records that hold secrets, as they are shown; guarded by mu
	files   map[fileKey]maskedFile   // guarded by mu
}

// fileKey is a file's content and how many values were known to be secrets.
type fileKey struct {
	sum   [sha256.Size]byte
	known int
}

type maskedFile struct {
	data  []byte
	sum   *[sha256.Size]byte
	rules []string
}

// maxMasked is how many files are remembered without their secrets.
const maxMasked = 512

// newMask returns the mask of session id by the rules of r; nil, which hides nothing, for a nil r.
func newMask(r *redact.Redactor, id string) *mask {
	if r == nil {
		return nil
	}
	return &mask{r: r, ledger: r.Ledger(id), weights: map[record.Address]int32{}, files: map[fileKey]maskedFile{}}
}

// record returns raw with its secrets replaced by marks.
func (v *mask) record(h redact.History, a record.Address, raw []byte) ([]byte, error) {
	return v.ledger.Record(h, a.Event, a.Line, raw)
}

// entryOf is what the index says of a record, as it is shown.
func (v *mask) entryOf(r *readable, a record.Address, e ctxabi.Entry) ctxabi.Entry {
	if !v.changes(r.history, a) {
		return e
	}
	e.Tokens = 0
	v.mu.Lock()
	w, ok := v.weights[a]
	v.mu.Unlock()
	if !ok {
		raw, err := r.Record(a.Line)
		if err != nil {
			return e
		}
		w = weightOf(raw, a.Event)
		v.mu.Lock()
		v.weights[a] = w
		v.mu.Unlock()
	}
	e.Weight = w
	return e
}

// changes reports whether a record is shown otherwise than it is stored.
func (v *mask) changes(h redact.History, a record.Address) bool {
	if v == nil {
		return false
	}
	changed, err := v.ledger.Changes(h, a.Event, a.Line)
	return changed || err != nil
}

// input leaves no secret in what a pack is made from beside its records, and notes what was found.
func (v *mask) input(in *pack.Input, t *log.Timeline, u *record.Unread) error {
	if v == nil {
		return nil
	}
	h := historyOf(t, u)
	upTo := placesOf(t)
	known, err := v.ledger.Known(h, upTo)
	if err != nil {
		return err
	}
	text := func(s string) string {
		out, _ := v.r.File([]byte(s), known)
		return string(out)
	}
	var files []pack.FileSecrets
	if in.Redaction != nil { // what was there then has none any more
		files = in.Redaction.Files
	}
	in.Redaction = &pack.Redaction{Files: files, Rules: redact.Version(), Fingerprint: v.r.Fingerprint(), Allowed: v.r.Allowed(), Text: text, Counts: v.ledger.Counts(upTo)}
	in.Files = slices.Clone(in.Files)
	for i := range in.Files {
		f := &in.Files[i]
		f.Note, f.Reason = text(f.Note), text(f.Reason)
		if len(f.Data) == 0 {
			continue
		}
		veiled := v.file(f.Data, f.Digest(), known)
		if len(veiled.rules) > 0 {
			f.Data, f.Sum = veiled.data, veiled.sum
			in.Redaction.Files = append(in.Redaction.Files, pack.FileSecrets{Path: f.Path, Rules: veiled.rules})
		}
	}
	in.Notes = mapped(in.Notes, text)
	in.SummaryNote = text(in.SummaryNote)
	in.Errors = slices.Clone(in.Errors)
	for i := range in.Errors {
		in.Errors[i].Text = text(in.Errors[i].Text)
	}
	in.Children = slices.Clone(in.Children)
	for i := range in.Children {
		if c := &in.Children[i]; c.Text != "" {
			c.Text = text(c.Text)
		}
	}
	v.summaries(in)
	return nil
}

// summaries applies in.Redaction to the delivered summaries of in and updates the hash of each
// changed text. The caller's slice is not modified.
func (v *mask) summaries(in *pack.Input) {
	if v == nil || in.Redaction == nil {
		return
	}
	in.Summaries = slices.Clone(in.Summaries)
	for i := range in.Summaries {
		s := &in.Summaries[i]
		if text := in.Redaction.Text(s.Text); text != s.Text {
			s.Text, s.Sum = text, nil
			sum := s.ID()
			s.Sum = &sum
		}
	}
}

// until returns the redaction r of an earlier moment.
func (v *mask) until(r *pack.Redaction, t *log.Timeline) *pack.Redaction {
	if r == nil || v == nil {
		return r
	}
	past := *r
	past.Counts = v.ledger.Counts(placesOf(t))
	return &past
}

func mapped(list []string, by func(string) string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = by(out[i])
	}
	return out
}

// file returns a file without its secrets; what was looked at once is known.
func (v *mask) file(data []byte, sum [sha256.Size]byte, known redact.Known) maskedFile {
	key := fileKey{sum, len(known)}
	v.mu.Lock()
	f, ok := v.files[key]
	v.mu.Unlock()
	if ok {
		return f
	}
	out, found := v.r.File(data, known)
	if len(found) > 0 {
		sum := sha256.Sum256(out)
		f = maskedFile{data: out, sum: &sum}
		for _, x := range found {
			f.rules = append(f.rules, x.Rule)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.files) >= maxMasked {
		clear(v.files)
	}
	v.files[key] = f
	return f
}

// weightOf is what the index would note of a record that says raw.
func weightOf(raw []byte, event bool) int32 {
	if !event {
		m := ctxabi.DecodeMessage(raw)
		return int32(m.Weight())
	}
	if ev, ok := ctxabi.DecodeToolEvent(raw); ok {
		return int32(ev.Weight())
	}
	return int32(ctxabi.Weight(raw))
}
