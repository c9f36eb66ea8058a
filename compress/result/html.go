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

// textOfPage gives what a page shows: a line for each block, links with their addresses.
func textOfPage(page string) (title, text string) {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(len(page) + 1)
	var b, t strings.Builder
	var hidden atom.Atom // the element whose text is not shown
	href := ""
	blank := true // nothing stands on the line yet
	end := func() {
		if !blank {
			b.WriteByte('\n')
			blank = true
		}
	}
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(t.String()), " "), b.String()
		case html.TextToken:
			words := strings.Join(strings.Fields(string(z.Text())), " ")
			switch {
			case words == "" || hidden == atom.Script || hidden == atom.Style || hidden == atom.Noscript || hidden == atom.Svg:
			case hidden == atom.Title:
				t.WriteString(words)
			default:
				if !blank {
					b.WriteByte(' ')
				}
				b.WriteString(words)
				blank = false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			a := atom.Lookup(name)
			switch a {
			case atom.Script, atom.Style, atom.Noscript, atom.Svg, atom.Title:
				hidden = a
			case atom.A:
				for more {
					var key, value []byte
					if key, value, more = z.TagAttr(); string(key) == "href" {
						href = string(value)
					}
				}
			case atom.Td, atom.Th:
				if !blank {
					b.WriteString(" |")
				}
			default:
				if blocks[a] {
					end()
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case a == hidden:
				hidden = 0
			case a == atom.A && href != "":
				if !blank && !strings.HasPrefix(href, "#") && !strings.HasPrefix(href, "javascript:") && len(href) < 200 {
					b.WriteString(" (" + href + ")")
				}
				href = ""
			case blocks[a]:
				end()
			}
		}
	}
}

// blocks are elements that begin and end a line.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Tr: true, atom.Table: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Nav: true,
	atom.Pre: true, atom.Blockquote: true, atom.Form: true, atom.Hr: true, atom.Dt: true, atom.Dd: true, atom.Main: true, atom.Aside: true, atom.Option: true, atom.Button: true,
}
