package search

import (
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/search/document"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// Where secrets are not to be shown, records are searched as they are stored and shown without them: an answer says that a
// record has what was asked for, and not what that is. The index is the same with and without.

// historyOf is both logs of a session as its ledger reads them.
func historyOf(x *session.Session) (redact.History, *log.Timeline, error) {
	t, err := x.Timeline()
	if err == nil {
		err = t.EventsErr // they tell of secrets that messages repeat
	}
	if err != nil {
		return redact.History{}, nil, err
	}
	return redact.History{Messages: t.Messages, Events: t.Events, Before: t.Before, Damaged: archive.IsDamage}, t, nil
}

// redacted returns the document of a record without its secrets.
func (f *finder) redacted(of *known, event bool, line int) (document.Document, error) {
	r, err := f.reader(of, event)
	if err != nil {
		return document.Document{}, err
	}
	raw, err := r.Index.Record(line)
	if err != nil {
		return document.Document{}, err
	}
	v, err := f.m.of.view(of)
	if err != nil {
		return document.Document{}, err
	}
	history, _, err := historyOf(v.x)
	if err != nil {
		return document.Document{}, err
	}
	if raw, err = f.redact.Ledger(v.x.ID()).Record(history, event, line, raw); err != nil {
		return document.Document{}, err
	}
	return r.Decode(line, raw)
}

// said returns the query as an answer may repeat it: without what is known to be a secret in the sessions that answer.
func (f *finder) said() (string, error) {
	text, _ := f.redact.Text(f.q.Text)
	seen := map[*session.Session]bool{}
	for i := range f.hits {
		v, err := f.m.of.view(f.hits[i].of)
		if err != nil {
			return "", err
		}
		x := v.x
		if seen[x] {
			continue
		}
		seen[x] = true
		history, t, err := historyOf(x)
		if err != nil {
			return "", err
		}
		known, err := f.redact.Ledger(x.ID()).Known(history, [2]int{t.Messages.Len(), t.Events.Len()})
		if err != nil {
			return "", err
		}
		out, _ := f.redact.File([]byte(text), known)
		text = string(out)
	}
	return text, nil
}
