package native

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Dialogue is the conversation of a rendering: its head and its turns with their texts.
type Dialogue struct {
	head   []Head // the texts before the conversation
	turns  []utterance
	footer Footer
}

// Footer is the volatile end of a prompt, which each request replaces.
type Footer struct {
	System, Quoted string
	Request        string // instead of both: the last turn of the user, which no call may answer
}

// Head is a block, or several of one phase, or a leading record.
type Head struct {
	Text   string
	Stable bool    // of the phase of that name
	by     Speaker // bySystem or byDeveloper
}

// utterance is a turn with its texts.
type utterance struct {
	by      Speaker
	parts   []filled
	lead    bool // system messages of a strategy
	session bool // stands before the journal
	past    bool
	tail    bool // not part of what the next pack begins with
}

// filled is one part of an utterance.
type filled struct {
	kind    record.PortionKind
	id      string               // of a call
	name    string               // of its tool
	text    string               // of a text or a result; of a call its arguments; of an image what stands in its place
	words   string               // of a thought
	failed  bool                 // of a result
	footer  string               // of the last result in a tool loop: text after its own
	tail    bool                 // as utterance.tail
	beside  *ctxabi.Continuation // of a call or a text: what its provider wants back with it
	raw     []byte               // of a thought; of a call or a result the item that shows no more and no less
	item    bool                 // of a record without a role
	images  []record.Image
	refused []providers // per image: the providers that do not get it
}

const (
	noUser      = "(No message from the user yet.)"
	noMore      = "(No new message from the user.)"
	firstSpeaks = "(The assistant speaks first.)"
	systemSays  = "[System message]\n"
	ofResults   = "[Images of the results above]"
	toolFailed  = "[error]\n"
)

// ExtraDialogue is what a rendering takes at most for the footer's messages and the texts above that stand once.
const ExtraDialogue = 40

// QuoteTokens is what quoted data takes at most beside its text: its marks and its message.
const QuoteTokens = 36

// What a record takes natively beyond its tokens in pack.md, at most. A heading there takes five or more.
const (
	extraSystem   = 6  // systemSays
	extraNothing  = 6  // a text in the place of one that is empty
	extraStrange  = 16 // the text in front of what is not a message
	extraUnpaired = 24 // the text in front of a result without call
	extraNoResult = 10 // the text in the place of a result
)

// Heads returns the messages of the blocks in front: one for each, or, where these would be a noticeable part of the limit, one for each phase.
func Heads(blocks []Head, limit int) (texts []Head) {
	together := limit > 0 && MessageTokens*len(blocks) > limit/50
	for _, b := range blocks {
		if last := len(texts) - 1; together && last >= 0 && texts[last].Stable == b.Stable {
			texts[last].Text += b.Text
			continue
		}
		texts = append(texts, b)
	}
	return texts
}

// Dialogue fills in the texts.
// It returns ctxabi.ErrIO or ctxabi.ErrNotFound when a record cannot be read again as it was.
func (n *Prompt) Dialogue(messages, events record.Records) (*Dialogue, error) {
	talk := &Dialogue{head: Heads(n.Head, n.Limit)}
	framed := false // what the head has of the user's role stands behind the leading messages
	frame := func() {
		if !framed && n.Quoted != "" {
			talk.add(utterance{by: byNote, session: true, parts: []filled{{text: n.Quoted}}})
		}
		framed = true
	}
	for _, m := range n.Messages {
		by := map[string]Speaker{"system": bySystem, "developer": byDeveloper, "assistant": byAssistant}[m.Role]
		if m.Role == "user" {
			by = ByUser
		}
		lead := by == bySystem || by == byDeveloper
		if !lead {
			frame()
		}
		talk.add(utterance{by: by, lead: lead, session: !lead, parts: []filled{{text: m.Content}}})
	}
	frame()
	texts, err := n.contents(messages, events)
	if err != nil {
		return nil, err
	}
	stable := 0 // texts of that phase, and leading records behind them
	for stable < len(talk.head) && talk.head[stable].Stable {
		stable++
	}
	for _, t := range n.Script.Turns {
		u := utterance{by: t.By, past: t.past, tail: t.tail}
		for _, s := range t.Slots {
			u.parts = append(u.parts, n.Script.fill(s, texts))
		}
		if !t.lead {
			talk.add(u.withoutAuthority())
			continue
		}
		text, _ := u.text()
		talk.head = slices.Insert(talk.head, stable, Head{Text: text, Stable: true, by: t.By})
		stable++
	}
	talk.footer = n.Footer
	return talk, nil
}

// withoutAuthority returns a turn of the history in its rendered form. Notes become one text.
// A system or developer record after the leading ones gets the user's role and a marking line.
func (u utterance) withoutAuthority() utterance {
	switch u.by {
	case byNote:
		var b strings.Builder
		for _, p := range u.parts {
			b.WriteString(p.text)
		}
		u.parts = []filled{{text: b.String()}}
	case bySystem, byDeveloper:
		u.by = byNote
		for i := range u.parts {
			if p := &u.parts[i]; p.kind == record.TextPortion {
				p.text = systemSays + p.text
			}
		}
	}
	return u
}

func (d *Dialogue) add(u utterance) { d.turns = append(d.turns, u) }

// contents reads the records of the script again.
func (n *Prompt) contents(messages, events record.Records) ([][]record.Portion, error) {
	texts := make([][]record.Portion, len(n.Script.Lines))
	for i := range n.Script.Lines {
		l := &n.Script.Lines[i]
		if l.Note != "" {
			continue
		}
		log := messages
		if l.Address.Event {
			log = events
		}
		if l.Address.Line > log.Len() {
			return nil, record.Unreadable(l.Address, ctxabi.ErrNotFound)
		}
		list, err := l.read(log)
		if err != nil {
			return nil, err
		}
		if len(list) != len(l.Contents) { // its bytes were changed on the disk
			return nil, record.Unreadable(l.Address, ctxabi.ErrIO)
		}
		texts[i] = list
	}
	return texts, nil
}

// read reads the shown parts of a record.
func (l *Line) read(log record.Records) ([]record.Portion, error) {
	if l.Restores != nil {
		return record.RestoredCalls(log, l.Address, l.Restores)
	}
	_, list, err := record.ContentsOf(log, l.Address, l.Shown, l.Instead, func() int { return 0 })
	return list, err
}

// fill returns a slot with its texts.
func (sc *Script) fill(s Slot, texts [][]record.Portion) filled {
	lines := sc.Lines
	p := filled{kind: s.kind, id: s.id, name: s.name, text: s.Text, failed: s.failed}
	if s.Line < 0 {
		return p
	}
	c, known := &texts[s.Line][s.n], &lines[s.Line].Contents[s.n]
	carried := lines[s.Line].Carried
	if s.Text == "" {
		p.text, p.beside = c.Text, c.Beside
		if s.quoted {
			p.text = sc.marks.Quote(ctxabi.QuotedData, p.text)
		}
		p.text = s.front + p.text
	}
	if p.item = c.Item; c.Item && !s.plain && s.Text == "" && s.front == "" && s.id == c.ID && (s.kind == record.CallPortion && s.name == c.Name || s.kind == record.ResultPortion && !c.Blank) {
		p.raw = c.Raw
	}
	switch s.kind {
	case record.DataPortion:
		p.text = known.Text
		if im := record.ReadImage(c.Raw); carried && im.Problem == "" {
			p.images, p.refused = []record.Image{im}, s.refused
		} else {
			p.kind = record.TextPortion
		}
	case record.ThoughtPortion:
		p.raw, p.words, p.text = c.Raw, c.Words, ""
	case record.ResultPortion:
		for i, raw := range c.Data {
			if carried && i < len(s.refused) {
				if im := record.ReadImage(raw); im.Problem == "" {
					im.Mark = known.Marks[i]
					p.images, p.refused = append(p.images, im), append(p.refused, s.refused[i])
					continue
				}
			}
			p.text = strings.TrimLeft(p.text+"\n"+known.Marks[i], "\n")
		}
	}
	return p
}

// withoutImagesInResults puts the images of results into a turn of the user behind them, for providers whose results are texts.
func (d *Dialogue) withoutImagesInResults() {
	var turns []utterance
	var images []filled
	for i, u := range d.turns {
		if u.by == byTools {
			u.parts = slices.Clone(u.parts)
			for k := range u.parts {
				p := &u.parts[k]
				for _, im := range p.images {
					p.text = strings.TrimLeft(p.text+"\n"+im.Mark, "\n")
					images = append(images, filled{kind: record.DataPortion, text: im.Mark, images: []record.Image{im}})
				}
				p.images = nil
			}
		}
		turns = append(turns, u)
		if len(images) > 0 && (i+1 == len(d.turns) || d.turns[i+1].by != byTools) {
			turns = append(turns, utterance{by: ByUser, past: u.past, tail: u.tail, parts: append([]filled{{text: ofResults}}, images...)})
			images = nil
		}
	}
	d.turns = turns
}
