package source

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/archive"
)

// Of the failures that events tell of, a pack may show the newest: so many, and
// none that is more events back than that.
const (
	maxFailures   = 20
	failureWindow = 4096
	maxFailure    = 400 // bytes of one's text
	failedTokens  = 24  // tokens of what was answered to the call
)

// Failures are the newest events of a log that tell of a failure; they are read as the log grows.
type Failures struct {
	seen int // events looked at
	list []failedEvent
}

// failedEvent is an event that tells of a failure.
type failedEvent struct {
	line     int
	text     string
	call     string // the id of the call that failed, where the event does not say how; "": it does
	searched int    // messages that were looked at for what was answered to it
	at       int    // the one that says it; 0: none did yet
	answer   string // what that says
}

// Newest returns the failures in the log as it stands, oldest first; none where the recipe shows none. One that names a call and not what went wrong is
// told in the words of the result of that call, if that is among the newest messages.
// It returns the error of a record that cannot be read.
func (f *Failures) Newest(r *recipe.Recipe, log, messages record.Records) ([]blocks.ErrorEvent, error) {
	if !r.Has(recipe.TypeErrors) || log.Len() == 0 {
		return nil, nil
	}
	n := log.Len()
	if f.seen > n {
		*f = Failures{}
	}
	for line := max(f.seen, n-failureWindow) + 1; line <= n; line++ {
		raw, err := log.Record(line)
		if archive.IsDamage(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if e, ok := failureOf(raw); ok {
			e.line = line
			f.list = append(f.list, e)
		}
	}
	f.seen = n
	first := max(0, len(f.list)-maxFailures)
	for first < len(f.list) && f.list[first].line <= n-failureWindow {
		first++
	}
	f.list = append([]failedEvent(nil), f.list[first:]...)
	if err := f.ask(messages); err != nil {
		return nil, err
	}
	out := make([]blocks.ErrorEvent, len(f.list))
	for i, e := range f.list {
		if out[i] = (blocks.ErrorEvent{Line: e.line, Text: e.text, Message: e.at}); e.answer != "" {
			out[i].Text = e.answer
		}
	}
	return out, nil
}

// ask looks among the newest messages for what was answered to the calls that failed without a word.
func (f *Failures) ask(messages record.Records) error {
	n := messages.Len()
	oldest := max(1, n-failureWindow+1)
	from := n + 1
	for i := range f.list {
		e := &f.list[i]
		if e.searched > n || e.at > 0 && e.at < oldest {
			e.searched, e.at, e.answer = 0, 0, ""
		}
		if e.call != "" && e.at == 0 {
			from = min(from, max(e.searched+1, oldest))
		}
	}
	for at := from; at <= n; at++ {
		entry := messages.At(at)
		if !record.IsResult(entry) {
			continue
		}
		raw, err := messages.Record(at)
		if archive.IsDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		for i := range f.list {
			e := &f.list[i]
			if e.call == "" || e.at > 0 || at <= e.searched || !bytes.Contains(raw, []byte(e.call)) {
				continue
			}
			msg := ctxabi.DecodeMessage(raw)
			results := msg.Results
			if len(results) == 0 {
				results = []ctxabi.Result{{CallID: msg.CallID, Text: msg.Text}}
			}
			for _, r := range results {
				if r.CallID != e.call {
					continue
				}
				e.at, e.answer = at, cmp.Or(e.text, entry.Role.String())
				if said := record.OneLine(compress.Fold(r.Text, failedTokens)); said != "" {
					e.answer += ": " + said
				}
			}
		}
	}
	for i := range f.list {
		f.list[i].searched = n
	}
	return nil
}

// failureOf returns what an event says of a failure; ok is false when it tells of none.
func failureOf(raw []byte) (f failedEvent, ok bool) {
	e := gjson.ParseBytes(raw)
	fail := e.Get("error")
	failed := e.Get("type").Str == "error" || e.Get("is_error").Bool() ||
		fail.Exists() && fail.Type != gjson.Null && fail.Type != gjson.False && fail.String() != ""
	if !failed {
		return f, false
	}
	var parts []string
	for _, key := range []string{"name", "tool", "tool_name", "command"} {
		if v := e.Get(key); v.Type == gjson.String && v.Str != "" {
			parts = append(parts, v.Str)
			break
		}
	}
	said := ""
	for _, key := range []string{"error.message", "error", "message", "reason", "output", "content", "result", "text"} {
		v := e.Get(key)
		if v.Type == gjson.String && strings.TrimSpace(v.Str) != "" {
			said = v.Str
			break
		}
		if v.IsArray() || v.IsObject() {
			if inner := v.Get("0.text"); inner.Str != "" {
				said = inner.Str
				break
			}
		}
	}
	if said == "" && fail.IsObject() {
		said = fail.Raw
	}
	if said = strings.Join(strings.Fields(said), " "); said != "" {
		parts = append(parts, said)
	} else {
		for _, key := range []string{"tool_call_id", "call_id", "tool_use_id", "call", "id"} {
			if v := e.Get(key); v.Type == gjson.String && v.Str != "" {
				f.call = v.Str
				break
			}
		}
		if code := e.Get("exit_code"); code.Exists() {
			parts = append(parts, "exit code "+code.String())
		}
	}
	if len(parts) == 0 {
		parts = append(parts, e.Get("type").Str)
	}
	if f.text = record.OneLine(strings.Join(parts, ": ")); len(f.text) > maxFailure {
		f.text = strings.ToValidUTF8(f.text[:maxFailure], "") + "…"
	}
	return f, true
}
