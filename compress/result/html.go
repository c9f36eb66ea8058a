package result

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// html shows the title of a page, and of its text the lines that add the most.
func (r *result) html() (string, bool) {
	page, title := *r, ""
	if title, page.text = textOfPage(r.text); title != "" && len(title) < 200 {
		title = ": " + title
	}
	return page.lines(KindText, "[a page"+title+"]\n")
}

// textOfPage returns the title of a page and its text: a line for each block, links with their
// addresses.
func textOfPage(page string) (title, text string) {
	z := html.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(len(page) + 1)
	var shown strings.Builder
	var hidden atom.Atom // element whose text is not shown; 0: none
	href := ""           // address of the open link
	blank := true        // the line is empty
	end := func(a atom.Atom) {
		if blocks[a] && !blank {
			shown.WriteByte('\n')
			blank = true
		}
	}
	for {
		kind := z.Next()
		token := z.Token()
		switch a := token.DataAtom; kind {
		case html.ErrorToken:
			return title, shown.String()
		case html.TextToken:
			words := strings.Join(strings.Fields(token.Data), " ")
			switch {
			case hidden == atom.Title:
				title += words
			case words != "" && hidden == 0:
				if !blank {
					shown.WriteByte(' ')
				}
				shown.WriteString(words)
				blank = false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			switch a {
			case atom.Script, atom.Style, atom.Noscript, atom.Svg, atom.Title:
				if kind == html.StartTagToken && hidden == 0 {
					hidden = a
				}
			case atom.A:
				href = addressOf(token)
			case atom.Td, atom.Th:
				if !blank {
					shown.WriteString(" |")
				}
			}
			end(a)
		case html.EndTagToken:
			switch {
			case a == hidden:
				hidden = 0
			case a == atom.A && href != "":
				if !blank {
					shown.WriteString(" (" + href + ")")
				}
				href = ""
			}
			end(a)
		}
	}
}

// addressOf returns the address of a link that leads to another page, or "".
func addressOf(link html.Token) string {
	for _, attr := range link.Attr {
		to := attr.Val
		if attr.Key == "href" && len(to) < 200 && !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "javascript:") {
			return to
		}
	}
	return ""
}

// blocks are elements that begin and end a line.
var blocks = map[atom.Atom]bool{
	atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Tr: true, atom.Table: true, atom.H1: true, atom.H2: true,
	atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Nav: true,
	atom.Pre: true, atom.Blockquote: true, atom.Form: true, atom.Hr: true, atom.Dt: true, atom.Dd: true, atom.Main: true, atom.Aside: true, atom.Option: true, atom.Button: true,
}
