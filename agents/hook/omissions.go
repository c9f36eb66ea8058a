package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/agents/brief"
	"github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// After a compaction, the host's model sees only the host's summary of the conversation. The import
// of the transcript delivers it as a version of the session's summary. The hook compares this
// version with the rules, decisions, and facts of the session, and lists the omissions.

// maxOmitted limits the list of omissions, in tokens as estimated by [ctxabi.Weight].
const maxOmitted = 200

// maxAfterSummary is the number of messages that a host may record between its compaction and the
// hook: Gemini CLI has its model confirm the summary, and opencode asks its model to continue.
const maxAfterSummary = 2

// omittedTitle is the title of the list of omissions.
const omittedTitle = "Not in the summary of this conversation"

// importCompaction starts an import of the transcript, which contains the host's summary, if the
// host has just compacted its conversation. [input.missing] waits for the import. An error is
// passed to o.Warn.
func (h *input) importCompaction(dir string, o Options) {
	if h.Source != "compact" {
		return
	}
	if said, err := h.hasTranscript(); err != nil || !said {
		return // the next hook reports it
	}
	now := *h
	now.hurries = true
	if err := now.keep(dir, o); err != nil && o.Warn != nil {
		o.Warn(err.Error())
	}
}

// summary returns the newest imported summary of the session in dir. It returns false if the event
// is not a compaction, if no such summary is readable, or if more than maxAfterSummary messages
// follow it: it then belongs to an earlier compaction.
func (h *input) summary(dir string) (text string, ok bool) {
	if h.Source != "compact" {
		return "", false
	}
	last, name := 0, ""
	entries, _ := os.ReadDir(filepath.Join(dir, ctxabi.SummariesDir))
	for _, e := range entries {
		n, ok := ctxabi.ParseSummaryName(e.Name())
		at := filepath.Join(dir, ctxabi.SummaryPath(n))
		if ok && n > last && mounts.Attr(at, "user.ctx.writer") == ctxabi.WriterImport {
			last, name = n, at
		}
	}

	had, err := strconv.Atoi(mounts.Attr(name, "user.ctx.messages"))
	has, _ := strconv.Atoi(mounts.Attr(filepath.Join(dir, ctxabi.MessagesFile), "user.ctx.lines"))
	if name == "" || err != nil || has > had+maxAfterSummary {
		return "", false
	}
	b, err := os.ReadFile(name)
	return string(b), err == nil
}

// omission is a rule, a decision, or a fact that the host's summary lacks, and its source.
type omission struct{ text, source string }

func (o omission) line() string { return "- " + o.text + " (" + o.source + ")\n" }

// omissions adds a list of omissions to kept: the user's standing rules verbatim, then decisions,
// then facts, each newest first. An omission is missing from both the summary and kept; a derived
// fact is an omission only if one of its values is missing. The list has at most maxOmitted tokens
// and a last line that counts the rest. Without omissions, kept is unchanged. w bounds the time of
// reads.
func omissions(w, kept *brief.Writer, dir, summary string) {
	has := coverage(notes.Words(summary + "\n" + kept.String()))
	var lines strings.Builder
	left, rest := maxOmitted, 0
	add := func(all []omission, lacks func(string) bool) {
		for _, o := range slices.Backward(all) {
			if !lacks(o.text) || strings.Contains(lines.String(), o.text) {
				continue
			}
			if n := ctxabi.Weight(o.line()); n <= left {
				lines.WriteString(o.line())
				left -= n
			} else {
				rest++
			}
		}
	}

	add(standingRules(w, filepath.Join(dir, ctxabi.MessagesFile)), has.lacksWords)
	add(noteRows(w, filepath.Join(dir, ctxabi.DecisionsFile), "decision"), has.lacksWords)
	facts := filepath.Join(dir, ctxabi.FactsFile)
	written := mounts.Attr(facts, "user.ctx.origin") != ctxabi.OriginDerived
	add(noteRows(w, facts, "text"), func(text string) bool {
		return has.lacksValue(text) || written && has.lacksWords(text)
	})
	if rest > 0 {
		lines.WriteString("- " + strconv.Itoa(rest) + " more: " + filepath.Join(dir, ctxabi.ContextDir) + "\n")
	}
	if lines.Len() > 0 {
		kept.Add(brief.Head(omittedTitle) + lines.String())
	}
}

// standingRules returns the standing rules in the user's messages, oldest first, without the rules
// that a later message changed. If the context of w ends, later messages are ignored.
func standingRules(w *brief.Writer, name string) (all []omission) {
	var state notes.State
	for line, m := range userMessages(w, name) {
		at := notes.Position{Line: line}
		state.Add(at, "user", notes.Find(notes.Record{Role: "user", Text: m}))
		parts, _ := notes.UserWords(m)
		for _, rule := range notes.Rules(parts) {
			all = append(all, omission{rule, at.Source()})
		}
	}

	changed := map[omission]bool{}
	for _, c := range state.Changes() {
		changed[omission{c.Text, c.At.Source()}] = true
	}
	return slices.DeleteFunc(all, func(o omission) bool { return changed[o] })
}

// userMessages yields the number and text of each message of the user in a log. It skips tool
// results, and stops at a read error or when the context of w ends.
func userMessages(w *brief.Writer, name string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		f, err := os.Open(name)
		if err != nil {
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 256<<10)
		for line := 1; !w.Over(); line++ {
			raw, err := r.ReadBytes('\n')
			if err == io.EOF && len(raw) == 0 || err != nil && err != io.EOF {
				return
			}
			if !bytes.Contains(raw, []byte(`"user"`)) {
				continue
			}
			m := ctxabi.DecodeMessage(raw)
			if m.Role == ctxabi.User && len(m.Results) == 0 && !yield(line, m.Text) {
				return
			}
		}
	}
}

// noteRows returns the text in the given field of each row of a JSONL file, oldest first. Rows
// without a source get the file's name as source. Rows that do not parse are skipped.
func noteRows(w *brief.Writer, name, field string) (all []omission) {
	for line := range strings.Lines(w.Read(name)) {
		var row map[string]any
		if json.Unmarshal([]byte(line), &row) != nil {
			continue
		}
		text, _ := row[field].(string)
		source, ok := row["source"].(string)
		if !ok {
			source = name
		}
		if text != "" {
			all = append(all, omission{strings.Join(strings.Fields(text), " "), source})
		}
	}
	return all
}

// coverage is the set of words of a text.
type coverage map[string]bool

// lacksWords reports whether the text contains fewer than three quarters of a statement's words.
func (c coverage) lacksWords(statement string) bool {
	words := notes.Words(statement)
	has := 0
	for word := range words {
		if c[word] {
			has++
		}
	}
	return 4*has < 3*len(words)
}

// lacksValue reports whether the text lacks a word of a statement that has a digit or a sign, for
// example a number, a path, or an address.
func (c coverage) lacksValue(statement string) bool {
	isSign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	for word := range notes.Words(statement) {
		if !c[word] && strings.ContainsFunc(word, isSign) {
			return true
		}
	}
	return false
}
