package blocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// ChildNow is a child as a pack shows it: folded when it had finished, and its result been shown, before the last compaction.
type ChildNow struct {
	ChildResult
	Folded bool
}

// ChildrenText returns how each child stands, and what came of it:
//
//   - rev-1: done, rev/r1, context/child/rev-1/result.md
//     brought: auth/refresh.go (file): the retry; context/child/rev-1/artifact/trace.log
//     > Two bugs in auth/refresh.go: the retry has no limit, and …
//   - map: active, scout/m1
//   - rev-0: done, rev/r0, context/child/rev-0/result.md: Nothing to object.
//
// Results have equal shares of what there is room for. The last children are left out where not even their lines have room.
func ChildrenText(children []ChildNow, fits func(string) bool) Selection {
	render := func(n, share int) Selection { // the first n children, each result in share tokens
		var sel Selection
		var b strings.Builder
		for i := range children[:n] {
			text, cut := children[i].text(share)
			sel.Parts = append(sel.Parts, TextPart{Path: children[i].path(), Text: text, Cut: cut})
			b.WriteString(text)
		}
		if left := len(children) - n; left > 0 {
			note := fmt.Sprintf("[%d more in %s]\n", left, ctxabi.ChildDir)
			if n > 0 {
				sel.Parts[n-1].Text += note
			}
			b.WriteString(note)
		}
		sel.Text = b.String()
		return sel
	}
	if len(children) == 0 {
		return Selection{}
	}
	if all := render(len(children), NoCap); fits == nil || fits(all.Text) {
		return all
	}
	n := len(children)
	if !fits(render(n, 0).Text) {
		if n = mostThat(n-1, func(n int) bool { return fits(render(n, 0).Text) }); n == 0 {
			return Selection{Notes: []string{fmt.Sprintf("%d children, no room for any", len(children))}}
		}
	}
	// What more room shows need not grow with every token, so this is not the most that fits but some that does.
	share := mostThat(MaxChildText, func(share int) bool { return fits(render(n, share).Text) })
	for ; share > 0 && !fits(render(n, share).Text); share = share * 3 / 4 {
	}
	return render(n, share)
}

// foldedChild is how many bytes of its first line a folded result shows.
const foldedChild = 100

// leastExcerpt is the fewest tokens in which the beginning of a result says anything.
const leastExcerpt = 24

// shownBrought is how many of the files that a child brought a pack names.
const shownBrought = 8

// bytesPerToken is about how many bytes of a path are a token.
const bytesPerToken = 3

// quoted makes each line of a text one of a quote.
var quoted = strings.NewReplacer("\r\n", "\n> ", "\r", "\n> ", "\n", "\n> ")

// text is the child's line, and its result within share tokens.
func (c *ChildNow) text(share int) (text string, cut bool) {
	line := "- " + c.Name + ": " + c.Status
	if c.Who != "" {
		line += ", " + c.Who
	}
	brought := ""
	switch all := slices.Collect(strings.Lines(c.Brought)); {
	case len(all) == 0 || c.Folded:
	case share != NoCap && share < leastExcerpt:
		cut = true
	default:
		for i, one := range all[:min(len(all), shownBrought)] {
			if i > 0 {
				brought += "; "
			}
			brought += strings.TrimSuffix(one, "\n")
		}
		if more := len(all) - shownBrought; more > 0 {
			brought += fmt.Sprintf("; %d more in %s", more, ctxabi.ChildPath(c.Name))
		}
		if share != NoCap && len(brought)/bytesPerToken > share/2 {
			brought, cut = fmt.Sprintf("%d files, see %s", len(all), ctxabi.ChildPath(c.Name)), true
		}
		brought = "brought: " + brought + "\n"
		if share != NoCap {
			share -= len(brought) / bytesPerToken
		}
	}
	if c.Text == "" {
		return line + "\n" + brought, cut
	}
	line += ", " + c.path()
	whole := strings.TrimRight(c.Text, " \t\r\n")
	if c.Folded {
		first, rest, _ := strings.Cut(strings.TrimSpace(whole), "\n")
		short := compress.Clip(record.OneLine(first), foldedChild)
		return line + ": " + short + "\n", rest != "" || short != record.OneLine(first) || c.Bytes > len(c.Text)
	}
	if share != NoCap && share < leastExcerpt {
		return line + "\n", true
	}
	line += "\n" + brought
	if c.Bytes > len(c.Text) {
		whole += fmt.Sprintf("\n[%d bytes more: %s]", c.Bytes-len(c.Text), c.path())
		cut = true
	}
	if share != NoCap {
		short, less := compress.Head(whole, share, c.path())
		whole, cut = strings.TrimRight(short, "\r\n"), cut || less
	}
	return line + "> " + quoted.Replace(whole) + "\n", cut
}
