package compress

import "strings"

// Paragraph is a part of a text: whole lines that belong together.
type Paragraph struct {
	Text     string   // lines From to To, without the last line's end
	From, To int      // lines, 1-based, both included
	Under    []string // the headings that it stands below, outermost first, without their marks; not those in Text
	Level    int      // of the heading that it begins with, else 0
	Item     bool     // of [Items]: it is of a group that was split at its bullets
}

// Sizes of paragraphs, in bytes.
const (
	longParagraph = 1200              // longer ones are split between lines; about 300 tokens
	longWhole     = 4 * longParagraph // so are fences and tables, which are not split before
)

// Paragraphs returns the paragraphs of Markdown, or of any text, which blank lines part. A
// heading stays with what follows, a line that ends in a colon with what it introduces, and a
// list item with the indented paragraphs that go on with it. Each line that is not blank is in
// exactly one paragraph; they come in the text's order.
func Paragraphs(text string) []Paragraph { return paragraphs(text, false) }

// Items is Paragraphs with each item of an outer bullet list on its own. Numbered lists stay
// whole, for their items are steps of one thing.
func Items(text string) []Paragraph { return paragraphs(text, true) }

func paragraphs(text string, items bool) []Paragraph {
	lines := MarkdownLines(text)
	var out []Paragraph
	var above [6]string // the heading of each level that holds
	blocks := blocksOf(lines)
	for len(blocks) > 0 {
		n := group(lines, blocks)
		from, to := blocks[0].from, blocks[n-1].to
		blocks = blocks[n:]
		outer := -1 // how far the bullets are indented at which the group is split
		if items {
			outer = outerBullets(lines[from:to])
		}
		for from < to {
			end := from + piece(lines[from:to], outer)
			p := Paragraph{From: from + 1, To: end, Level: lines[from].Level, Item: outer >= 0, Text: text[lines[from].From:lines[end-1].To]}
			p.Text = strings.TrimSuffix(strings.TrimSuffix(p.Text, "\n"), "\r")
			upper := above[:]
			if p.Level > 0 {
				upper = above[:p.Level-1]
			}
			for _, title := range upper {
				if title != "" {
					p.Under = append(p.Under, title)
				}
			}
			out = append(out, p)
			for _, l := range lines[from:end] {
				if l.Level > 0 {
					above[l.Level-1] = l.Title
					clear(above[l.Level:])
				}
			}
			for from = end; from < to && lines[from].Blank; {
				from++
			}
		}
	}
	return out
}

// lineSpan is the lines from from to before to, counted from 0.
type lineSpan struct{ from, to int }

// blocksOf returns the runs of lines without a blank one between them; a heading is one alone.
func blocksOf(lines []MarkdownLine) (blocks []lineSpan) {
	for at := 0; at < len(lines); {
		if lines[at].Blank {
			at++
			continue
		}
		from := at
		heading := lines[at].Level > 0
		for at++; at < len(lines) && !lines[at].Blank; at++ {
			if heading || lines[at].Level > 0 {
				break
			}
		}
		blocks = append(blocks, lineSpan{from, at})
	}
	return blocks
}

// group returns how many of blocks, at least one, belong together.
func group(lines []MarkdownLine, blocks []lineSpan) int {
	item := -1 // the indent of the list item that the group is in
	for n := 1; ; n++ {
		this := blocks[n-1]
		if first := lines[this.from]; item < 0 && first.Item {
			item = first.Indent
		}
		if n == len(blocks) {
			return n
		}
		last, next := lines[this.to-1], lines[blocks[n].from]
		size := last.To - lines[blocks[0].from].From
		stays := last.Level > 0 && (next.Level == 0 || next.Level > last.Level)
		if next.Level == 0 && size < longWhole {
			stays = stays || last.Introduces || item >= 0 && next.Indent > item+1
		}
		if !stays {
			return n
		}
	}
}

// outerBullets returns the smallest indent of a bullet in lines; -1 without one.
func outerBullets(lines []MarkdownLine) int {
	outer := -1
	for _, l := range lines {
		if l.Bullet && (outer < 0 || l.Indent < outer) {
			outer = l.Indent
		}
	}
	return outer
}

// piece returns how many of lines, at least one, the next paragraph takes: all, or up to where
// they get too long, or up to the second bullet that is indented as far as outer.
func piece(lines []MarkdownLine, outer int) int {
	begin := lines[0].From
	end, blank, bullets := 0, 0, 0 // where it may end, where a blank line is before that
	for n, l := range lines {
		if l.Bullet && l.Indent == outer {
			if bullets++; bullets > 1 {
				return trimBlank(lines, n)
			}
		}
		size := l.To - begin
		if n > 0 && !l.Joined {
			end = n
			if lines[n-1].Blank && (l.From-begin)*2 > longParagraph {
				blank = n
			}
		}
		if size > longParagraph && end > 0 {
			if blank > 0 {
				end = blank
			}
			return trimBlank(lines, end)
		}
		if size > longWhole && n > 0 {
			return trimBlank(lines, n)
		}
	}
	return trimBlank(lines, len(lines))
}

// trimBlank returns n without the blank lines before it.
func trimBlank(lines []MarkdownLine, n int) int {
	for n > 1 && lines[n-1].Blank {
		n--
	}
	return n
}
