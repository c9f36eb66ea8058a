package adapter

import (
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// An agent program compacts its conversation by replacing older messages with a summary. An import
// delivers this summary as a version of the session's summary: an event of type "summary" with the
// writer "import". A transcript cannot forge such an event, because the type of every other
// imported event contains the name of its format.

// Compacted is the range of messages that a compaction summary replaces. The zero value covers all
// messages before the summary.
type Compacted struct {
	Replaced []string // ids of replaced source records; the range ends at the last one
	Kept     []string // ids of kept source records; the range ends before the first one
}

// SummaryEvent returns the event that delivers a compaction summary; the caller adds time and
// stamp. It strips text that the program adds for its own model: preambles, closing instructions,
// and scratchpads. It returns false if the remaining text is empty, contains a NUL byte, or exceeds
// [ctxabi.MaxControl] bytes. The caller then imports an ordinary record.
func SummaryEvent(text string) (event Object, ok bool) {
	text = summaryText(text)
	if text == "" || len(text) > ctxabi.MaxControl || strings.ContainsRune(text, 0) {
		return nil, false
	}
	return Object{{"type", Raw(ctxabi.SummaryEventType)}, {"upto", Raw(0)}, {"text", Raw(text + "\n")},
		{"writer", Raw(ctxabi.WriterImport)}}, true
}

// Summary emits event, a compaction summary of the messages in c, with its source records. It
// returns the error of the output.
func (e *Emitter) Summary(chain string, event Object, c Compacted, sources ...SourceRecord) error {
	e.compacted = &c
	return e.emit(chain, true, event, sources)
}

// summaryPreamble matches the introduction that Claude Code and Codex put before a summary.
var summaryPreamble = lazy.Regexp(`^This session is being continued from a previous conversation[^.\n]*\.` +
	`( The (conversation is summarized below|summary below covers [^.:\n]*)[.:])?\s*` +
	`|^Another language model started to solve this problem and produced a summary of its thinking process\.` +
	`[^\n]*?analysis:\s*`)

// summaryClosing matches the start of a final line that instructs the next model.
var summaryClosing = lazy.Regexp(`^(If you need specific details from before compaction|` +
	`(Please c|C)ontinue the conversation from where (we|it) left|Recent messages are preserved verbatim)`)

// summaryScratch matches a model's notes to itself.
var summaryScratch = lazy.Regexp(`(?s)<analysis>.*?</analysis>|<scratchpad>.*?</scratchpad>`)

// summaryText strips preambles, scratchpads, closing instructions, and enclosing tags from a
// compaction summary.
func summaryText(text string) string {
	text = strings.TrimSpace(text)
	text = text[len(summaryPreamble().FindString(text)):]
	text = strings.TrimSpace(summaryScratch().ReplaceAllString(text, ""))

	for {
		at := strings.LastIndexByte(text, '\n') + 1
		if !summaryClosing().MatchString(text[at:]) {
			break
		}
		text = strings.TrimSpace(text[:at])
	}

	// Claude Code converts the tags in its model's answer to headings.
	if strings.HasPrefix(text, "Analysis:\n") {
		if _, rest, ok := strings.Cut(text, "\nSummary:\n"); ok {
			text = rest
		}
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "Summary:\n"))
	for _, tag := range []string{"summary", "state_snapshot"} {
		inner, opened := strings.CutPrefix(text, "<"+tag+">")
		if inner, closed := strings.CutSuffix(inner, "</"+tag+">"); opened && closed {
			text = strings.TrimSpace(inner)
		}
	}
	return text
}

// DeliversBlocks wraps read, the import of a format. Anthropic's API compacts a conversation with a
// block {"type":"compaction"} in an answer. Before each answer with a readable block, the wrapped
// import emits an event that delivers the block's summary of all earlier messages. The answer
// itself is unchanged.
func DeliversBlocks(format string, read func(*Input, Output) error) func(*Input, Output) error {
	return func(in *Input, out Output) error { return read(in, blocks{out, in, format}) }
}

// blocks is an [Output] that adds an event for each compaction block; see [DeliversBlocks].
type blocks struct {
	Output
	in     *Input
	format string
}

func (b blocks) Record(r Record) error {
	if event, ok := b.summaryIn(r); ok {
		if err := b.Output.Record(event); err != nil {
			return err
		}
	}
	return b.Output.Record(r)
}

// summaryIn returns the event that delivers the last compaction block of an answer. It returns
// false if r is no answer, if the block has no readable text, or if the event already exists.
func (b blocks) summaryIn(r Record) (event Record, ok bool) {
	if r.Event || !strings.Contains(string(r.Line), `"compaction"`) {
		return event, false
	}
	o, err := ParseObject(r.Line)
	s, stamped := r.Stamp()
	if err != nil || !stamped || o.Text("role") != "assistant" || len(s.At) == 0 {
		return event, false
	}

	var text string
	for _, raw := range o.Array("content") {
		if block, _ := ParseObject(raw); block.Text("type") == "compaction" {
			text = block.Text("content")
		}
	}
	line, ok := SummaryEvent(text)
	if !ok {
		return event, false
	}
	mark := Mark(s.At[0], s.IDs[0], "summary")
	if b.in.Seen(r.Chain, mark.ID) {
		return event, false // an interrupted import has already emitted it
	}
	stamp := Stamp{Format: b.format, IDs: []string{mark.ID}, At: []int{mark.At}}
	line = append(AppendTime(line, o, "ts"), Field{StampKey, Raw(stamp)})
	return Record{Chain: r.Chain, Event: true, Line: Raw(line), Where: r.Where, Compacted: &Compacted{}}, true
}
