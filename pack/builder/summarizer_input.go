package builder

import (
	"context"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/record"
)

// maxSummaryInput is the most that a summarizer is given, in bytes.
const maxSummaryInput = 4 << 20

// summaryInput is what the summarizer reads: the summary that it made before, if any, then the records since, up to
// the place to, in their order. Each stands below a line with its address:
//
//	[summary messages:1-40]
//	- The refresh retries (messages:3-17).
//	[messages:41 user]
//	Now make it configurable.
//	[messages:42 assistant]
//	I will look.
//	[call 42.1] read_file {"path":"a.go"}
//	[messages:43 tool read_file]
//	package a
//
// Text that looks like such a line is fenced, as in pack.md. A very long record is given by both of its
// ends. If all records exceed most bytes, the first records get a quarter of it, the last ones the
// rest, and a line names the records in between:
//
//	[left out messages:90-117]
func summaryInput(ctx context.Context, m record.Records, before *journal.Summary, to, most int) ([]byte, error) {
	var head strings.Builder
	first := 1
	if before != nil {
		head.WriteString("[summary " + record.SourcesOf(m, ctxabi.Span{From: 1, To: before.To}) + "]\n")
		record.WriteContent(&head, before.Text, likeAddress(before.Text))
		first = before.To + 1
	}
	const gap = 128 // for the line of what is left out
	next := first
	for ; next <= to; next++ {
		text, err := summaryRecord(ctx, m, next)
		if err != nil {
			return nil, err
		}
		if head.Len()+len(text) > most/4 {
			break
		}
		head.WriteString(text)
	}
	var tail []string // the last first
	room := most - head.Len() - gap
	end := to
	for ; end >= next && room > 0; end-- {
		text, err := summaryRecord(ctx, m, end)
		if err != nil {
			return nil, err
		}
		if len(text) > room {
			break
		}
		room -= len(text)
		tail = append(tail, text)
	}
	if end >= next {
		head.WriteString("[left out " + record.SourcesOf(m, ctxabi.Span{From: next, To: end}) + "]\n")
	}
	for i := len(tail) - 1; i >= 0; i-- {
		head.WriteString(tail[i])
	}
	return []byte(head.String()), nil
}

// summaryRecord is one record of it.
func summaryRecord(ctx context.Context, m record.Records, at int) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r, err := record.ExcerptOf(m, at)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("[" + record.AddressOf(m, at).Source())
	b.WriteString(record.Speaker(m, at, r))
	if r.Failed {
		b.WriteString(" (error)")
	}
	b.WriteString("]\n")
	record.WriteContent(&b, r.Text, record.NeedsFence(r.Text) || likeAddress(r.Text))
	for i, c := range r.Calls {
		record.WriteCall(&b, record.CallRef(record.AddressOf(m, at), i), c.Name, c.Arguments)
	}
	return b.String(), nil
}

// likeAddress reports whether a line of text could be taken for one that says where what follows is from.
func likeAddress(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		for _, mark := range []string{"[messages:", "[events:", "[summary ", "[left out "} {
			if strings.HasPrefix(line, mark) {
				return true
			}
		}
	}
	return false
}
