package swap

import (
	"cmp"
	"context"
	"encoding/hex"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
)

// Numbers of swap rows.
const (
	minOutput      = 1 << 10 // bytes of a result in a range that was let go, for a row of its own; one that is shown shortened has it anyway
	swapSentence   = 120     // bytes of what a summary takes of one record
	swapFold       = 40      // tokens of the summary of a tool's output
	swapEdge       = 512     // bytes of each end of it that are looked at
	swapSummaryMax = 320     // bytes of a summary
)

// swapReader reads what notes stand for.
type swapReader struct {
	x      *session.Session
	e      *source.Logs
	unread *record.Unread
}

// rows returns the rows of a note that are not in have: that of the range, and those of the results in it.
func (r *swapReader) rows(n Departure, have map[ctxabi.ContentRef]bool) (rows []ctxabi.SwapRow, err error) {
	span, err := ctxabi.ParseSpan(n.Range)
	if err != nil {
		return nil, nil // not ours
	}
	log, file := r.x.Messages(), ctxabi.MessagesFile
	if n.Source == "events" {
		log, file = r.x.Events(), ctxabi.EventsFile
	}
	ix, err := log.Index()
	if err != nil {
		return nil, err
	}
	if span.To > ix.Len() {
		return nil, nil // the end of the log was lost with the power
	}
	whole := ctxabi.ContentRef{Source: file, Start: span.From, End: span.To}
	if have[whole] {
		return nil, nil
	}
	records := source.ReadableOf(r.unread, ix, n.Source == "events")
	shown := record.Records(records)
	if r.e.Redacts() {
		t, err := r.e.Timeline(context.Background(), r.x)
		if err != nil {
			return nil, err
		}
		shown = r.e.Readable(t, n.Source == "events")
	}
	least := minOutput
	if n.Short {
		least = 1
	}
	for line := span.From; line <= span.To; line++ {
		e := ix.At(line)
		if !record.IsResult(e) || int(e.Len) < least {
			continue
		}
		outputs, err := outputsAt(records, n.Source == "events", line)
		if err != nil {
			return nil, err
		}
		if r.unread.Has(record.Address{Line: line, Event: n.Source == "events"}) {
			continue // it is left out until it can be read
		}
		said := outputs
		if r.e.Redacts() {
			if said, err = outputsAt(shown, n.Source == "events", line); err != nil {
				return nil, err
			}
		}
		for i, o := range outputs {
			ref := ctxabi.ContentRef{Source: file, Start: line, End: line, Form: o.form, Part: o.part}
			if len(o.text) < least || have[ref] {
				continue
			}
			text := ""
			if i < len(said) {
				text = said[i].text
			}
			row := ctxabi.SwapRow{Bytes: int64(len(o.text)), ID: ctxabi.ContentID([]byte(o.text)), Kind: ctxabi.SwapOutput,
				Range: ctxabi.Span{From: line, To: line}.String(), Source: file, Tokens: ctxabi.Weight(o.text),
				Summary: swapSummary(o.name, compress.Fold(edges(text), swapFold))}.Named()
			row.Ref = withHash(ref, row.ID)
			row.Event = eventOf(r.x, row)
			rows = append(rows, row)
		}
	}
	if n.Short {
		return rows, nil
	}
	sum, size, err := r.x.Measure(whole)
	if archive.IsDamage(err) {
		return rows, nil // likewise
	}
	if err != nil {
		return nil, err
	}
	row := ctxabi.SwapRow{Bytes: size, ID: "sha256-" + hex.EncodeToString(sum[:]), Kind: ctxabi.SwapRange,
		Range: n.Range, Source: file, Summary: rangeSummary(shown, n.Source == "events", span)}.Named()
	for line := span.From; line <= span.To; line++ {
		row.Tokens += int(ix.At(line).Weight)
	}
	row.Ref = withHash(whole, row.ID)
	return append(rows, row), nil // the last: where it is kept, all of the range is
}

// eventOf names the event that an output is of: by its own id, else by its number. It is "" for what no event says.
func eventOf(x *session.Session, row ctxabi.SwapRow) string {
	if row.Source != ctxabi.EventsFile || row.Kind != ctxabi.SwapOutput {
		return ""
	}
	return cmp.Or(x.RecordID(row.Source, row.Ref.Start), row.Range)
}

// edges returns whole lines of both ends of a text, as many as are looked at for its summary.
func edges(text string) string {
	if len(text) <= 2*swapEdge {
		return text
	}
	head, tail := text[:swapEdge], text[len(text)-swapEdge:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head+"\n"+tail, "")
}

func withHash(ref ctxabi.ContentRef, id string) ctxabi.ContentRef {
	ref.Hash = strings.Replace(id, "-", ":", 1)
	return ref
}

// resultText is what one result in a record says.
type resultText struct {
	form ctxabi.ContentForm
	part int
	name string // of the tool
	text string
}

// outputsAt decodes the results in a record of a log.
func outputsAt(ix record.Records, event bool, line int) (list []resultText, err error) {
	raw, err := ix.Record(line)
	if err != nil {
		return nil, record.Unreadable(record.Address{Line: line, Event: event}, err)
	}
	e := ix.At(line)
	if event {
		ev, ok := ctxabi.DecodeToolEvent(raw)
		if !ok || !ev.IsResult {
			return nil, nil
		}
		if ev.Name == "" && e.CallOf > 0 {
			asked, err := record.EventCall(ix, int(e.CallOf))
			if err != nil {
				return nil, err
			}
			ev.Name = asked.Name
		}
		return []resultText{{form: ctxabi.FormText, name: ev.Name, text: ev.Text}}, nil
	}
	m := ctxabi.DecodeMessage(raw)
	var asked record.Answers
	if e.CallOf > 0 {
		if asked, err = record.CallsAt(ix, int(e.CallOf)); err != nil {
			return nil, err
		}
	}
	name := func(id string) string {
		if m.Name != "" {
			return m.Name
		}
		return asked.Name(id)
	}
	if e.Role == ctxabi.Tool && m.Text != "" {
		list = append(list, resultText{form: ctxabi.FormText, name: name(m.CallID), text: m.Text})
	}
	for i, r := range m.Results {
		list = append(list, resultText{form: ctxabi.FormResult, part: i, name: name(r.CallID), text: r.Text})
	}
	return list, nil
}

// rangeSummary returns a line about a range: its first request and its last answer that say
// something, or a call if the range has no such record.
func rangeSummary(ix record.Records, event bool, span ctxabi.Span) string {
	if event {
		sentence := func(line int) string {
			raw, _ := ix.Record(line) // an unreadable record says nothing
			ev, _ := ctxabi.DecodeToolEvent(raw)
			return strings.TrimSpace(ev.Name + " " + compress.Sentence(record.Ends(ev.Arguments+ev.Text), swapSentence))
		}
		return swapSummary("", sentence(span.From)+" … "+sentence(span.To))
	}

	says := func(role ctxabi.Role, from, step int) (sentence string) {
		for line, left := from, swapTried; line >= span.From && line <= span.To && left > 0; line += step {
			if e := ix.At(line); e.Role == role && !record.IsResult(e) {
				if sentence = sentenceAt(ix, line, false); sentence != "" {
					return sentence
				}
				left--
			}
		}
		return ""
	}
	first := cmp.Or(says(ctxabi.User, span.From, 1), says(ctxabi.Assistant, span.From, 1),
		sentenceAt(ix, span.From, true))
	last := cmp.Or(says(ctxabi.Assistant, span.To, -1), sentenceAt(ix, span.To, true))
	return swapSummary("", first+" … "+last)
}

// sentenceAt returns the first sentence of a message, or "" if it says nothing by itself. With any it
// returns a greeting, the first call, or the first line of a result, too.
func sentenceAt(ix record.Records, line int, any bool) string {
	raw, err := ix.Record(line)
	if err != nil {
		return ""
	}
	m := ctxabi.DecodeMessage(raw)
	text := record.Ends(m.Text)
	switch {
	case !any && derived.SenseOf(text) == derived.Idle:
		return ""
	case !any && m.Role == ctxabi.User:
		parts, _ := derived.UserWords(text)
		return compress.Clip(strings.Join(parts[:min(1, len(parts))], ""), swapSentence)
	case text == "" && len(m.Calls) > 0:
		return m.Calls[0].Name + " " + compress.Clip(record.OneLine(record.Ends(m.Calls[0].Arguments)), swapSentence)
	case text == "" && len(m.Results) > 0:
		text = record.Ends(m.Results[0].Text)
	}
	return compress.Sentence(text, swapSentence)
}

// swapTried is the number of messages of a speaker that rangeSummary reads at most.
const swapTried = 32

// swapSummary makes one line of a summary.
func swapSummary(name, text string) string {
	if name = record.ShortName(name); name != "" {
		name += ": "
	}
	return compress.Clip(name+strings.Trim(record.OneLine(text), " …"), swapSummaryMax)
}
