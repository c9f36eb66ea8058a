package source

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"

	"github.com/ctxfs/ctxfs/session/archive"
)

const maxDecided = 4096 // the newest of a history

// Decided reads the decisions of a log as it grows.
type Decided struct {
	seen int // events looked at
	list []journal.Decided
}

// UpTo returns the newest decisions of a log as it stands, oldest first; none where the recipe shows none. before says how many
// messages had arrived before an event.
// It returns ctxabi.ErrIO when a record cannot be read.
func (d *Decided) UpTo(r *recipe.Recipe, log record.Records, before func(line int) int) ([]journal.Decided, error) {
	if !r.Has(recipe.TypeDecisions) {
		return nil, nil
	}
	if d.seen > log.Len() {
		*d = Decided{}
	}
	for d.seen < log.Len() {
		line := d.seen + 1
		raw, err := log.Record(line)
		if err != nil && !archive.IsDamage(err) {
			return nil, record.Unreadable(record.Address{Line: line, Event: true}, err)
		}
		if text, from := decisionOf(raw); err == nil && text != "" {
			if d.list = append(d.list, journal.Decided{Line: line, Text: text, Source: from}); len(d.list) > maxDecided {
				d.list = slices.Delete(d.list, 0, 1)
			}
		}
		d.seen = line
	}
	out := slices.Clone(d.list)
	for i := range out {
		out[i].After = before(out[i].Line)
	}
	return out, nil
}

// decisionOf returns what an event says was decided, in one line, and the source that it names; "" for others.
func decisionOf(raw []byte) (text, from string) {
	if !bytes.Contains(raw, []byte(`eci`)) { // of decision and decided; most events need no reading
		return "", ""
	}
	kind := gjson.GetBytes(raw, "type").Str
	if kind == "" || kind == record.CallType || kind == record.ResultType {
		return "", ""
	}
	for _, f := range derived.Find(derived.Record{Role: "event", Type: kind, Text: strings.ToValidUTF8(string(raw), "\uFFFD")}) {
		if f.Kind == derived.FoundDecision {
			return record.OneLine(f.Text), f.Path
		}
	}
	return "", ""
}
