package builder

import (
	"context"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/record"

	"github.com/ctxfs/ctxfs/session/archive"
)

// plainEvents are the notes of events that are no tool's and stand in no pack: decisions, facts, plans and artifacts that a harness
// wrote down as such. They are read as the log grows, again by each daemon.
type plainEvents struct {
	mu   sync.Mutex
	seen int // events looked at
	fold derived.State
}

// upTo returns the notes as of the end of a log.
func (p *plainEvents) upTo(ctx context.Context, log record.Records) (noteRows, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen > log.Len() { // the end was lost with the power
		p.seen, p.fold = 0, derived.State{}
	}
	for p.seen < log.Len() {
		if err := ctx.Err(); err != nil {
			return noteRows{}, err
		}
		line := p.seen + 1
		raw, err := log.Record(line)
		if archive.IsDamage(err) {
			p.seen = line
			continue
		}
		if err != nil {
			return noteRows{}, record.Unreadable(record.Address{Line: line, Event: true}, err)
		}
		if said, ok := saidBeside(raw); ok {
			p.fold.Add(derived.Position{Event: true, Line: line}, "", derived.Find(said))
		}
		p.seen = line
	}
	return rowsOf(&p.fold), nil
}

// saidBeside is what an event says that packs do not show: one that is no tool's, and the whole of a result of which a transcript
// had a file (see the adapter of Claude Code), where the message has the beginning.
func saidBeside(raw []byte) (said derived.Record, ok bool) {
	switch t := gjson.GetBytes(raw, "type").Str; {
	case t != record.CallType && t != record.ResultType:
		return derived.Record{Role: "event", Type: t, Text: strings.ToValidUTF8(string(raw), "\uFFFD")}, true
	case t == record.ResultType && gjson.GetBytes(raw, "import").Exists() && strings.HasPrefix(gjson.GetBytes(raw, "file").Str, "tool-results/"):
		e, ok := ctxabi.DecodeToolEvent(raw)
		return derived.Record{Role: "tool", Tool: e.Name, Result: true, Bytes: len(e.Text)}, ok
	}
	return said, false
}

// joinTodos puts lists one below the other, what is open of each first.
func joinTodos(lists ...string) string {
	var open, done strings.Builder
	for _, list := range lists {
		for line := range strings.Lines(list) {
			if finished, _, _ := blocks.TodoItem(line); finished {
				done.WriteString(line)
			} else {
				open.WriteString(line)
			}
		}
	}
	return open.String() + done.String()
}
