package transcript

import (
	"errors"
	iofs "io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Versions of a summary that a program wrote to summary.md are in no log. An export in the native
// format has them as events of type summary, among the events in the order of delivery.

// savedSummary is a version.
type savedSummary struct {
	ctxabi.Summary
	event     bool // an event of the log holds it
	retracted bool
}

func (h storedHistory) summaries() (out []savedSummary, err error) {
	s, err := h.Summaries()
	if err != nil {
		return nil, err
	}
	for _, v := range s.List {
		text, err := h.SummaryText(v)
		if err != nil {
			return nil, err
		}
		delivered := ctxabi.Summary{Text: string(text), Upto: v.Upto, HasUpto: true, Writer: v.Writer,
			Messages: v.Messages, Events: v.Events}
		out = append(out, savedSummary{delivered, v.OfEvent(), v.Retracted})
	}
	return out, nil
}

func (h *mountedHistory) summaries() (out []savedSummary, err error) {
	for n := 1; ; n++ {
		name := h.path(ctxabi.SummaryPath(n))
		text, err := os.ReadFile(name)
		if errors.Is(err, iofs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		upto, _ := strconv.Atoi(attributeOf(name, "upto"))
		messages, _ := strconv.Atoi(attributeOf(name, "messages"))
		events, _ := strconv.Atoi(attributeOf(name, "events"))
		delivered := ctxabi.Summary{Text: string(text), Upto: upto, HasUpto: true, Writer: attributeOf(name, "writer"),
			Messages: messages, Events: events}
		out = append(out, savedSummary{delivered, attributeOf(name, "event") != "", attributeOf(name, "retracted") != ""})
	}
}

// unlogged returns the versions and retractions that no event holds.
func unlogged(all []savedSummary) (out []savedSummary) {
	for i, v := range all {
		if !v.event {
			out = append(out, v)
		}
		if v.retracted && (i+1 == len(all) || !all[i+1].retracted) {
			removal := ctxabi.Summary{Retract: true, Writer: ctxabi.WriterFile, Messages: v.Messages, Events: v.Events}
			out = append(out, savedSummary{Summary: removal})
		}
	}
	return out
}

// attributeOf reads an attribute user.ctx.<key> of a file; "" if it has none.
func attributeOf(name, key string) string {
	b := make([]byte, 256)
	n, err := unix.Getxattr(name, "user.ctx."+key, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}

// withSummaries inserts the versions of a summary into the events of a session.
func withSummaries(events []adapter.Record, saved []savedSummary, chain string) (out []adapter.Record) {
	for i := 0; ; i++ {
		for len(saved) > 0 && (saved[0].Events <= i || i == len(events)) {
			out = append(out, adapter.Record{Chain: chain, Event: true, Line: ctxabi.EncodeSummaryEvent(saved[0].Summary)})
			saved = saved[1:]
		}
		if i == len(events) {
			return out
		}
		out = append(out, events[i])
	}
}
