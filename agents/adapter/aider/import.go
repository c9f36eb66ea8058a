package aider

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// The kinds of blocks.
const (
	begins = "chat"   // a chat begins
	output = "output" // a line that Aider says, of files and costs for example
	asked  = "user"
	said   = "assistant"
)

// block is a run of lines of one kind.
type block struct {
	kind  string
	line  int // its first, from 1
	lines []string
	whole bool // something follows, or its end is there
}

func importHistory(in *adapter.Input, out adapter.Output) error {
	data, err := io.ReadAll(adapter.Decoded(in.R))
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if valid := strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\ufffd"), "\ufffd"); valid != text {
		out.Loss(adapter.Loss{Where: "the document", What: "has bytes that are not valid UTF-8, or NUL; U+FFFD replaces them"})
		text = valid
	}
	e, counter, ts := adapter.NewEmitter(in, out, formatName), adapter.Counter{}, ""
	for _, b := range blocksOf(text) {
		if !b.whole {
			out.Loss(adapter.Loss{Where: fmt.Sprintf("line %d", b.line), What: "is cut off: the transcript ends in it; import again when it is whole"})
			continue
		}
		said := b.text()
		if said == "" {
			continue
		}
		if b.kind == begins {
			ts = timeOf(said)
		}
		src := adapter.SourceRecord{At: b.line - 1, Raw: adapter.Raw(adapter.Object{{"text", adapter.Raw(said)}, {"kind", adapter.Raw(b.kind)}})}
		if src.ID = counter.ID(src.Raw); e.Has("", src.ID) {
			continue
		}
		switch b.kind {
		case asked, "assistant":
			record := adapter.Object{{"role", adapter.Raw(b.kind)}, {"content", adapter.Raw(said)}}
			err = e.Message("", record, src)
		default:
			record := adapter.Object{{"type", adapter.Raw(formatName + "/" + b.kind)}, {"text", adapter.Raw(said)}}
			if b.kind == begins && ts != "" {
				record = append(record, adapter.Field{"ts", adapter.Raw(ts)})
			}
			err = e.Event("", record, src)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timeOf is when a chat began, as RFC 3339 in the time of this machine, which Aider's is; "" for none.
func timeOf(said string) string {
	at, err := time.ParseInLocation(time.DateTime, said, time.Local)
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

// marks is the parser state that determines the kind of the next line.
type marks struct {
	fence  string // that ends the fenced block, "" outside of one
	quoted bool   // the last line is of a quote
}

// kindOf returns the kind of the next line. goesOn is true if the line has no mark and continues
// the preceding quote.
func (m *marks) kindOf(line string) (kind string, goesOn bool) {
	trimmed := strings.TrimSpace(line)
	quoted := m.quoted
	m.quoted = false
	switch {
	case strings.HasPrefix(line, started):
		m.fence = ""
		return begins, false
	case m.fence != "":
		if trimmed == m.fence {
			m.fence = ""
		}
	case strings.HasPrefix(line, "#### "), trimmed == "####":
		return asked, false
	case strings.HasPrefix(line, "> "), trimmed == ">":
		m.quoted = true
		return output, false
	case strings.HasPrefix(trimmed, "```"):
		m.fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
	case quoted && trimmed != "":
		m.quoted = true
		return output, true
	}
	return said, false
}

// blocksOf splits a history into blocks. Inside a fenced block of an answer, headings, quotes, and
// user lines belong to the answer. A line without a mark directly after a quote belongs to the
// quote, as in Markdown, because Aider marks only the first line of a text.
func blocksOf(text string) (blocks []block) {
	var m marks
	for i, line := range strings.SplitAfter(text, "\n") {
		kind, goesOn := m.kindOf(line)
		if len(blocks) == 0 && kind == said && isModeLine(line) {
			kind = output
		}
		trimmed := strings.TrimSpace(line)
		n := len(blocks) - 1
		switch {
		case goesOn:
		case kind == said && trimmed == "" && (n < 0 || blocks[n].kind != said):
			if n >= 0 {
				blocks[n].whole = true
			}
			continue
		case n < 0 || blocks[n].kind != kind || kind == begins || kind == output || kind == asked && blocks[n].whole: // Aider writes its lines one by one
			if n >= 0 {
				blocks[n].whole = true
			}
			blocks = append(blocks, block{kind: kind, line: i + 1})
			n++
		}
		blocks[n].lines = append(blocks[n].lines, line)
		blocks[n].whole = kind == begins && strings.HasSuffix(line, "\n")
	}
	if n := len(blocks) - 1; n >= 0 && !blocks[n].whole { // an answer is written at once, with an empty line behind it
		end := "\n"
		if blocks[n].kind == said {
			end = "\n\n"
		}
		blocks[n].whole = strings.HasSuffix(text, end)
	}
	return blocks
}

// text is what a block says, without its marks and the two blanks that end a line.
func (b block) text() string {
	var out strings.Builder
	for _, line := range b.lines {
		switch b.kind {
		case begins:
			line = strings.TrimPrefix(line, started)
		case asked:
			line = strings.TrimPrefix(strings.TrimPrefix(line, "####"), " ")
		case output:
			line = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		}
		if b.kind != said {
			line = strings.TrimRight(line, " \n") + "\n"
		}
		out.WriteString(line)
	}
	return strings.TrimSpace(out.String())
}
