package pack

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// markKind is the kind of a block that is a mark around blocks with a label.
const markKind = "mark"

// labelMarks returns the marks of the session's packs.
func (in *Input) labelMarks() ctxabi.Marks {
	if in.Opening != "" {
		return ctxabi.MarksOf("", in.Opening)
	}
	return ctxabi.MarksOf(in.Agent, in.Session)
}

// markBlock returns a mark next to a block.
func (y *layout) markBlock(beside *block, text string) block {
	n := y.counter.CountCached(text)
	return block{source: &recipe.Source{}, at: beside.at, kind: markKind, phase: beside.phase, label: beside.label, text: text, tokens: n, asked: n}
}

const (
	smallPack = 3000 // below so many tokens of a pack all marks have the short form
	tightPack = 1500 // below so many tokens marks take from the blocks that they enclose
)

// opening returns the mark that opens text with a label.
func (y *layout) opening(l ctxabi.Label) string {
	if y.limit > 0 && y.limit < smallPack {
		return y.in.labelMarks().BeginAgain(l)
	}
	return y.in.labelMarks().Begin(l)
}

// marked returns blocks with marks around each run of shown blocks that have the same label.
func (y *layout) marked(list []block) []block { return y.markedBy(y.opening, list) }

// markedBy is marked with the function that returns opening marks.
func (y *layout) markedBy(opening func(ctxabi.Label) string, list []block) []block {
	marks := y.in.labelMarks()
	var out []block
	var open *block // the last shown block, if it has a label
	for i := range list {
		b := &list[i]
		if b.text == "" {
			out = append(out, *b)
			continue
		}
		if open != nil && open.label != b.label {
			out = append(out, y.markBlock(open, marks.End()))
			open = nil
		}
		if open == nil && b.label != ctxabi.Unlabeled {
			out = append(out, y.markBlock(b, opening(b.label)))
		}
		if out = append(out, *b); b.label != ctxabi.Unlabeled {
			open = b
		}
	}
	if open != nil {
		out = append(out, y.markBlock(open, marks.End()))
	}
	return out
}

// markTokens returns what the marks around runs of blocks with these labels take.
func (y *layout) markTokens(list []ctxabi.Label) (n int) {
	marks, last := y.in.labelMarks(), ctxabi.Unlabeled
	for _, l := range list {
		if l != last && l != ctxabi.Unlabeled {
			n += y.counter.CountCached(y.opening(l)) + y.counter.CountCached(marks.End())
		}
		last = l
	}
	return n
}

// footerLabels returns the labels of the blocks that the footer may show.
func (d *draft) footerLabels() (list []ctxabi.Label) {
	for i := range d.blocks {
		b := &d.blocks[i]
		if b.phase == phaseDynamic && (b.text != "" || b.source.Type == recipe.TypeRecall && b.reason == "") {
			list = append(list, b.label)
		}
	}
	if d.reserved > 0 {
		list = slices.Insert(list, placeOf(list, ctxabi.Notes), ctxabi.Notes)
	}
	if d.goal.text != "" {
		list = append(list, d.goal.label)
	}
	return list
}

// reserveMarks takes the marks of the blocks around the journal from the tokens of these blocks.
func (d *draft) reserveMarks() {
	var head []ctxabi.Label
	for i := range d.blocks {
		if b := &d.blocks[i]; b.phase != phaseDynamic && b.text != "" {
			head = append(head, b.label)
		}
	}
	if l := &d.limits; l.limit > 0 && l.limit < tightPack { // a larger journal leaves enough free tokens
		l.head -= d.markTokens(head)
		l.footer -= d.markTokens(d.footerLabels())
	}
}

// placeOf returns the index of the first entry with a label, or the length of the list.
func placeOf(list []ctxabi.Label, l ctxabi.Label) int {
	if at := slices.Index(list, l); at >= 0 {
		return at
	}
	return len(list)
}

// openingAgain is opening with the short form where the compacted past contains the sentence.
func (d *draft) openingAgain(l ctxabi.Label) string {
	text := d.opening(l)
	if slices.ContainsFunc(d.parts, func(p journal.Part) bool { return p.Mark && p.Text == text }) {
		return d.in.labelMarks().BeginAgain(l)
	}
	return text
}

// markFooter puts marks into the footer, to which nothing is added any more.
func (d *draft) markFooter() {
	d.footer, d.goal = d.markedBy(d.openingAgain, append(d.footer, d.goal, d.askBlock)), block{}
	n := 0
	for i := range d.footer {
		n += d.footer[i].tokens
	}
	d.native.Bound += n - d.tokens.footer
	d.footerLeft += d.tokens.footer - n
	d.tokens.footer = n
}
