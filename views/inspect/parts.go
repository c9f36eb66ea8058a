package inspect

import (
	"regexp"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// blockHeading begins a block of pack.md.
const blockHeading = "# Context Block: "

// Records stand in the conversation; those that it begins with and that are the system's, in a block of their own.
const (
	conversation = "conversation"
	leading      = "system messages"
)

// pastBlocks maps the kind of an item in pack.json to the name of its block, for items that
// represent compacted records. The block ID has the record range after the name: "summary
// (messages:1-118)".
var pastBlocks = map[string]string{"summary": "summary", "facts": "facts", "decisions": "decisions", "refs": "refs",
	"key_lines": "key lines", "user_words": "user's words", "state": "files and runs"}

// marksOf matches the lines around text with a label. No record contains one.
var marksOf = regexp.MustCompile(`^\[ctxfs [0-9]{6}: .*\]$`)

// parts are the pieces of a pack.md: whoever knows lines and fences can take one apart, whatever the records hold.
type parts struct {
	blocks  []blockPart
	records map[Address]string // heading included
	order   []Address
	gaps    []gap
	starts  []int // the offsets at which a piece begins
	pieces  []Piece

	here string // the block that is being read
}

// Piece is a part of a pack.md that has a heading: a block, of one with records what stands before them, or a record.
type Piece struct {
	Block  string  // its id: of a record, that of the block in which it stands
	Record Address // zero: it is no record
	Text   string  // heading included
}

// Pieces returns the pieces of pack.md in their order. Together they are its text from the first heading on.
func (p *Pack) Pieces() []Piece { return p.parts.pieces }

// Count returns how many tokens a text takes in the encoding of the pack.
func (p *Pack) Count(text string) int { return p.counter.CountCached(text) }

// Stretch is a run of records of one log that stand at one place.
type Stretch struct {
	From, To int
	Place
}

// Stretches returns where the records of a log stand, in their order.
func (p *Pack) Stretches(event bool) (list []Stretch) {
	spans := p.spans[0]
	if event {
		spans = p.spans[1]
	}
	for _, s := range spans {
		list = append(list, Stretch{s.From, s.To, s.Place})
	}
	return list
}

// blockPart is one block, heading included; of those in which records stand their heading alone.
type blockPart struct{ id, text string }

// gap is a line that stands for records that are left out; a zero Span: none of that log.
type gap struct{ messages, events ctxabi.Span }

// takeApart reads a pack.md.
func takeApart(md string) *parts {
	p := &parts{records: map[Address]string{}}
	begin := 0
	finish := func(int) {}
	var fence fence
	for at := 0; at < len(md); {
		end := at + lineLength(md[at:])
		line := md[at:end]
		first := at == 0 || md[at-1] == '\n'
		if first && !fence.open() {
			if close := p.heading(strings.TrimSuffix(line, "\n")); close != nil {
				finish(at)
				begin = at
				p.starts = append(p.starts, at)
				p.pieces = append(p.pieces, Piece{Block: p.here})
				finish = func(end int) {
					p.pieces[len(p.pieces)-1].Text = md[begin:end]
					close(md[begin:end])
				}
				at = end
				continue
			}
		}
		fence.line(line)
		at = end
	}
	finish(len(md))
	return p
}

// lineLength is how long the first line of text is, its end included; a return ends one like a newline.
func lineLength(text string) int {
	if i := strings.IndexAny(text, "\n\r"); i >= 0 {
		return i + 1
	}
	return len(text)
}

// heading reads a line that may begin a piece, and gives what takes its text; nil: it begins none.
func (p *parts) heading(line string) func(text string) {
	if id, ok := strings.CutPrefix(line, blockHeading); ok {
		p.here = id
		return func(text string) { p.blocks = append(p.blocks, blockPart{id, text}) }
	}
	if marksOf.MatchString(line) || strings.HasPrefix(line, ctxabi.DayHeading) {
		return func(string) {}
	}
	rest, ok := strings.CutPrefix(line, "## ")
	if !ok || p.here != conversation && p.here != leading { // parts of records that are recalled are that block's
		return nil
	}
	if names, _, ok := strings.Cut(rest, " left out: "); ok {
		if g, ok := parseGap(names); ok {
			return func(string) { p.gaps = append(p.gaps, g) }
		}
	}
	name, _, _ := strings.Cut(rest, " ")
	m, ok := parseMarks(name)
	if !ok || m.span.Len() != 1 {
		return nil
	}
	a := Address{m.event, m.span.From}
	return func(text string) {
		p.pieces[len(p.pieces)-1].Record = a
		p.records[a] = text
		p.order = append(p.order, a)
	}
}

// parseGap reads "4-9", "e3-e7" or "4-9 and e3-e7".
func parseGap(names string) (g gap, ok bool) {
	for name := range strings.SplitSeq(names, " and ") {
		m, ok := parseMarks(name)
		if !ok {
			return g, false
		}
		if m.event {
			g.events = m.span
		} else {
			g.messages = m.span
		}
	}
	return g, true
}

// block returns the text of a block.
func (p *parts) block(id string) (string, bool) {
	for _, b := range p.blocks {
		if b.id == id {
			return b.text, true
		}
	}
	return "", false
}

// fence follows the code fences of a text line by line.
type fence struct {
	mark   byte // '`' or '~' while one is open, else 0
	length int
}

func (f *fence) open() bool { return f.mark != 0 }

func (f *fence) line(line string) {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] != '`' && line[0] != '~' {
		return
	}
	c := line[0]
	run := len(line) - len(strings.TrimLeft(line, string(c)))
	switch {
	case run < 3:
	case f.mark == 0 && !(c == '`' && strings.Contains(line[run:], "`")):
		f.mark, f.length = c, run
	case f.mark == c && run >= f.length && strings.TrimSpace(line[run:]) == "":
		f.mark = 0
	}
}
