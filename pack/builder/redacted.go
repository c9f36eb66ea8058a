package builder

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Shown returns what [session.Options].Shown wants: messages without their secrets; nil for a nil r.
func Shown(r *redact.Redactor) func(x *session.Session, line int, raw []byte) ([]byte, error) {
	if r == nil {
		return nil
	}
	return func(x *session.Session, line int, raw []byte) ([]byte, error) {
		h, _, err := wholeHistory(x)
		if err != nil {
			return nil, err
		}
		return r.Ledger(x.ID()).Record(h, false, line, raw)
	}
}

// wholeHistory returns both logs of a session as they are stored, and their lengths. It returns an
// error if a part of them cannot be read.
func wholeHistory(x *session.Session) (h redact.History, upTo [2]int, err error) {
	t, err := x.Timeline()
	if err == nil {
		err = t.EventsErr
	}
	if err != nil {
		return h, upTo, err
	}
	h = redact.History{Messages: t.Messages, Events: t.Events, Before: t.Before, Damaged: archive.IsDamage}
	return h, [2]int{t.Messages.Len(), t.Events.Len()}, nil
}

// Redacts reports whether what is derived of sessions is shown without secrets.
func (b *Builder) Redacts() bool { return b.config.Redact != nil }

// Redacted returns a small derived file of the session without secrets, those included that only its history tells to be some; data
// itself where nothing is redacted.
// It returns an error when the history cannot be read.
func (b *Builder) Redacted(x *session.Session, data []byte) ([]byte, error) {
	r := b.config.Redact
	if r == nil || len(data) == 0 {
		return data, nil
	}
	h, upTo, err := wholeHistory(x)
	if err != nil {
		return nil, err
	}
	known, err := r.Ledger(x.ID()).Known(h, upTo)
	if err != nil {
		return nil, err
	}
	out, _ := r.File(data, known)
	return out, nil
}

// quotedByReason is a text that a reason repeats, shortened it may be: of a secret no part may stand there.
var quotedByReason = lazy.Regexp(`"(?:[^"\\]|\\.)*"`)

// RedactedErrors returns errors.jsonl without refused content. Its reasons quote the beginning of that
// content, and a truncated secret does not look like one.
func (b *Builder) RedactedErrors(x *session.Session, rows []byte) ([]byte, error) {
	if b.config.Redact == nil {
		return rows, nil
	}
	var out strings.Builder
	for line := range strings.Lines(string(rows)) {
		var row disk.ErrorRow
		if json.Unmarshal([]byte(line), &row) != nil {
			continue
		}
		row.Reason = quotedByReason().ReplaceAllString(row.Reason, "\"…\"")
		if strings.HasPrefix(row.Path, ctxabi.SearchDir+"/") {
			row.Path = ctxabi.SearchDir + "/…"
		}
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.Encode(&row)
	}
	return b.Redacted(x, []byte(out.String()))
}
