package adapter

import (
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// A program that compacts its conversation replaces the beginning by a summary. An import makes
// such a summary a version of the session's summary: an event of type "summary" with the writer
// "import". No other record of a transcript becomes an event of that type, since all others have
// the name of their format in it.

// Compacted says which messages a program replaced by a summary: the zero value means all that are
// before the summary.
type Compacted struct {
	Replaced []string // source records that were replaced; the range ends with the last of them
	Kept     []string // source records that were kept; the range ends before the first of them
}

// SummaryEvent returns the event of a compaction summary, without its time and stamp. It removes
// the program's additions for its own model: preambles, closing instructions, and scratchpads. ok
// is false if no text is left, or no text that a prompt may show; the record is then an ordinary one.
func SummaryEvent(text string) (event Object, ok bool) {
	text = summaryText(text)
	if text == "" || len(text) > ctxabi.MaxControl || strings.ContainsRune(text, 0) {
		return nil, false
	}
	return Object{{"type", Raw(ctxabi.SummaryEventType)}, {"upto", Raw(0)}, {"text", Raw(text + "\n")},
		{"writer", Raw(ctxabi.WriterImport)}}, true
}

// Summary emits the event of a compaction summary that holds the sources. It returns the error of
// the output.
func (e *Emitter) Summary(chain string, event Object, c Compacted, sources ...SourceRecord) error {
	e.compacted = &c
	return e.emit(chain, true, event, sources)
}

// summaryPreamble matches the text of Claude Code and Codex before a summary.
var summaryPreamble = lazy.Regexp(`^This session is being continued from a previous conversation[^.\n]*\.` +
	`( The (conversation is summarized below|summary below covers [^.:\n]*)[.:])?\s*` +
	`|^Another language model started to solve this problem and produced a summary of its thinking process\.` +
	`[^\n]*?analysis:\s*`)

// summaryClosing is the beginning of a last line that is addressed to the next model.
var summaryClosing = lazy.Regexp(`^(If you need specific details from before compaction|` +
	`(Please c|C)ontinue the conversation from where (we|it) left|Recent messages are preserved verbatim)`)

// summaryScratch is text that a model wrote for itself.
var summaryScratch = lazy.Regexp(`(?s)<analysis>.*?</analysis>|<scratchpad>.*?</scratchpad>`)

// summaryText returns the statements of a compaction summary.
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

	// Claude Code replaces the tags of its model's answer by headings.
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

// DeliversBlocks wraps the import of a format. The wrapped import delivers the summary of each
// readable block {"type":"compaction"} in an answer, by which Anthropic's API replaces the
// messages before that answer. The answer keeps the block. It returns the errors of read.
func DeliversBlocks(format string, read func(*Input, Output) error) func(*Input, Output) error {
	return func(in *Input, out Output) error { return read(in, blocks{out, in, format}) }
}

// blocks is an output that delivers compaction blocks.
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

// summaryIn returns the event of the last readable compaction block of an answer.
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
		return event, false // an import was interrupted before the answer
	}
	stamp := Stamp{Format: b.format, IDs: []string{mark.ID}, At: []int{mark.At}}
	line = append(AppendTime(line, o, "ts"), Field{StampKey, Raw(stamp)})
	return Record{Chain: r.Chain, Event: true, Line: Raw(line), Where: r.Where, Compacted: &Compacted{}}, true
}
