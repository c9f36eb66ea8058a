package result

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// html shows the page's title and, of its text and links, the lines that say the most.
func (r *result) html() (string, bool) {
	title, text := textOfPage(r.text)
	page := *r
	page.text = text
	s, ok := page.newSheet(text)
	if !ok {
		return "", false
	}
	s.r = r
	before := "[a page]\n"
	if title != "" && len(title) < 200 {
		before = "[a page: " + title + "]\n"
	}
	s.left -= r.limit.of(before)
	s.showAll(0, len(s.lines), 0.2)
	s.cover(s.all(), 1, nil)
	s.rest()
	return s.write(before)
}

// textOfPage returns the title of a page and what it shows: a line for each block, links with their
// addresses.
func textOfPage(page string) (title, text string) {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(len(page) + 1)
	p := pageText{blank: true}
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(p.title.String()), " "), p.shown.String()
		case html.TextToken:
			p.write(strings.Join(strings.Fields(string(z.Text())), " "))
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(atom.Lookup(name))
		}
	}
}

// pageText is the text of a page as far as it was read.
type pageText struct {
	title, shown strings.Builder
	hidden       atom.Atom // the element whose text is not shown; 0: none
	href         string    // of the link that is open
	blank        bool      // nothing stands on the line yet
}

func (p *pageText) write(words string) {
	switch {
	case words == "" || p.hidden == atom.Script || p.hidden == atom.Style || p.hidden == atom.Noscript || p.hidden == atom.Svg:
	case p.hidden == atom.Title:
		p.title.WriteString(words)
	default:
		if !p.blank {
			p.shown.WriteByte(' ')
		}
		p.shown.WriteString(words)
		p.blank = false
	}
}

func (p *pageText) start(z *html.Tokenizer) {
	name, more := z.TagName()
	switch a := atom.Lookup(name); a {
	case atom.Script, atom.Style, atom.Noscript, atom.Svg, atom.Title:
		p.hidden = a
	case atom.A:
		for more {
			var key, value []byte
			if key, value, more = z.TagAttr(); string(key) == "href" {
				p.href = string(value)
			}
		}
	case atom.Td, atom.Th:
		if !p.blank {
			p.shown.WriteString(" |")
		}
	default:
		p.breakAt(a)
	}
}

func (p *pageText) end(a atom.Atom) {
	switch {
	case a == p.hidden:
		p.hidden = 0
	case a == atom.A && p.href != "":
		if !p.blank && !strings.HasPrefix(p.href, "#") && !strings.HasPrefix(p.href, "javascript:") && len(p.href) < 200 {
			p.shown.WriteString(" (" + p.href + ")")
		}
		p.href = ""
	default:
		p.breakAt(a)
	}
}

// breakAt ends the line at the begin or the end of a block.
func (p *pageText) breakAt(a atom.Atom) {
	if blocks[a] && !p.blank {
		p.shown.WriteByte('\n')
		p.blank = true
	}
}

// blocks are elements that begin and end a line.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Tr: true, atom.Table: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Nav: true,
	atom.Pre: true, atom.Blockquote: true, atom.Form: true, atom.Hr: true, atom.Dt: true, atom.Dd: true, atom.Main: true, atom.Aside: true, atom.Option: true, atom.Button: true,
}
