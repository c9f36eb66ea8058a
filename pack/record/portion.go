package record

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// PortionKind is the kind of a portion.
type PortionKind uint8

const (
	TextPortion PortionKind = iota
	CallPortion
	ResultPortion
	DataPortion    // an image or the like
	ThoughtPortion // of a model
)

// Portion is one part of a record as native renderings show it.
type Portion struct {
	Kind    PortionKind
	ID      string // of the call, as the record has it
	Name    string // of the tool
	Text    string // of a datum: the line that pack.md shows in its place; of a call its arguments
	Words   string // of a thought
	Failed  bool
	Instead bool                 // a result in whose place a reference stands, or a call with shortened arguments
	Blank   bool                 // there is nothing but blanks in text
	Raw     []byte               // of a datum or a thought: the part as it was written; of an item: the record, if it stands in full
	Data    [][]byte             // of a result: such parts
	Marks   []string             // in the place of these
	Images  []picture.Picture    // of a datum, or of the data of a result
	Extra   int                  // tokens that it may take beyond what pack.md shows, by weight
	Unknown bool                 // a record that is not a message
	Cost    int                  // tokens of its images, where they are shown
	Broken  bool                 // a call whose arguments are not an object of JSON
	Halved  bool                 // a call whose arguments have half of a surrogate pair
	Item    bool                 // of a record without a role
	ItemID  string               // the own id of an item that is a thought or a call
	Beside  *ctxabi.Continuation // of a call or text: fields to return to its provider; nil: none
}

// TokensOfOne is how many tokens a record that is cut must show for each of its calls or results. With fewer they
// do not stand on their own but in a text, as pack.md shows them.
const TokensOfOne = 48

const (
	EmptyMessage = "(empty message)"
	NothingGiven = "(no output)"
	standsAbove  = "(included in the previous result)"
)

// ContentsOf returns what a record shows. shown is the record as it stands in pack.md when it is cut, else "".
// instead are the texts that stand in the place of results, where some are references, or of an answer of the model in the place of
// the arguments of its calls.
// turn returns the number of the turn that the record belongs to.
// It returns ctxabi.ErrIO when a record cannot be read.
func ContentsOf(log Records, at Address, shown string, instead []string, turn func() int) (ctxabi.Role, []Portion, error) {
	raw, err := log.Record(at.Line)
	if err != nil {
		return 0, nil, Unreadable(at, err)
	}
	if shown != "" { // below its heading
		_, shown, _ = strings.Cut(shown, "\n")
	}
	if at.Event {
		role, c := eventContents(raw, at, shown, instead)
		return role, c, nil
	}
	m, parts := ctxabi.DecodeParts(raw)
	if damaged := log.At(at.Line).Flags&ctxabi.Damaged != 0; damaged || m.Role == ctxabi.RoleUnknown {
		return ctxabi.RoleUnknown, strange(raw, shown), nil
	}
	var list []Portion
	if shown != "" {
		list = cutContents(&m, parts, at, shown)
	} else {
		list = wholeContents(&m, parts, at, turn)
		kind := ResultPortion
		if len(m.Calls) > 0 {
			kind = CallPortion
		}
		for i := range list {
			if list[i].Kind == kind && len(instead) > 0 {
				if instead[0] != "" {
					list[i].Text, list[i].Instead = instead[0], true
				}
				instead = instead[1:]
			}
		}
	}
	if m.Item != "" {
		keepItem(list, raw, shown == "")
	} else if r, ok := ctxabi.ReasoningOf(raw); ok && m.Role == ctxabi.Assistant {
		thought, _ := json.Marshal(r)
		list = append([]Portion{{Kind: ThoughtPortion, Raw: thought}}, list...)
	}
	for i := range list {
		list[i].finish()
	}
	return m.Role, list, nil
}

// keepItem notes that the portions are those of an item, and the item itself where they show all of it.
func keepItem(list []Portion, raw []byte, whole bool) {
	for _, c := range list {
		whole = whole && len(c.Data) == 0 && !c.Instead
	}
	for i := range list {
		c := &list[i]
		if c.Item = true; c.Kind == ThoughtPortion || c.Kind == CallPortion {
			var own struct{ ID string }
			json.Unmarshal(raw, &own) // an id that is no string is none
			c.ItemID = own.ID
		}
		if whole && (c.Kind == CallPortion || c.Kind == ResultPortion) {
			c.Raw = raw
		}
	}
}

// strange is what a line shows that is not a record.
func strange(raw []byte, shown string) []Portion {
	if shown == "" {
		shown = strings.ToValidUTF8(strings.TrimRight(string(raw), "\r\n"), "\uFFFD")
	}
	return []Portion{{Kind: TextPortion, Text: shown, Unknown: true}}
}

// finish fills in what follows from the rest.
func (c *Portion) finish() {
	c.Blank = strings.TrimSpace(c.Text) == ""
	c.escapeMarks()
	if c.Kind == ResultPortion || c.Unknown { // it may be quoted
		if escaped := ctxabi.Escape(c.Text); escaped != c.Text {
			c.Extra += max(0, ctxabi.Weight(escaped)-ctxabi.Weight(c.Text)) + strings.Count(escaped, "\\#") + strings.Count(escaped, "\\[")
		}
	}
	if c.Kind == ResultPortion && c.Blank {
		if c.Text = ""; len(c.Data) == 0 {
			c.Text = NothingGiven
		} else {
			c.Blank = false // an image is something
		}
	}
	if n := len(c.Name); n > shortNameBytes || c.Name != calls.Name(c.Name) {
		c.Extra += 2 * ctxabi.Weight(c.Name)
	}
	if c.Kind == CallPortion && !c.Blank {
		v, ok := ReadJSON(c.Text)
		_, is := v.(map[string]any)
		c.Halved = ctxabi.WithoutHalves(c.Text) != c.Text
		if c.Broken = !ok || !is; c.Broken {
			c.Extra += 16 // of the object that it stands in, where its quotes are escaped
			for _, r := range c.Text {
				switch {
				case r == '"' || r == '\\':
					c.Extra++
				case r < ' ':
					c.Extra += 5
				}
			}
		}
		c.Extra += 5 * (strings.Count(c.Text, "\u2028") + strings.Count(c.Text, "\u2029")) // written as escapes
	}
	if c.Item && c.Raw != nil && c.Kind != ThoughtPortion { // what an item has beside these
		c.Extra += max(0, ctxabi.Weight(c.Raw)-ctxabi.Weight(c.Text)) + 8
	}
	if c.Beside != nil {
		c.Extra += ctxabi.Weight(string(c.Beside.Extra)) + ctxabi.Weight(c.Beside.Signature) + 8
	}
	if c.Kind == ThoughtPortion {
		c.Words = thoughtText(c.Raw, c.Item)
		c.Extra += ctxabi.Weight(c.Words) + 8
	}
}

// escapeMarks keeps the text from being read as a mark of ctxfs, which no record may contain.
func (c *Portion) escapeMarks() {
	if c.Kind != TextPortion && c.Kind != ResultPortion {
		return
	}
	if text := ctxabi.EscapeMarks(c.Text); text != c.Text {
		c.Text, c.Raw = text, nil
	}
}

const shortNameBytes = 48

// Forget takes away what is read again when a rendering is made.
func (c *Portion) Forget() {
	c.Words = ""
	if c.Kind != DataPortion {
		c.Text = ""
	}
	c.Raw, c.Data, c.Beside = nil, nil, nil
}

// wholeContents are the parts of a record that stands in full: results in front, texts that follow each other joined.
func wholeContents(m *ctxabi.Message, parts []ctxabi.Part, at Address, turn func() int) (list []Portion) {
	mark := func(part []byte, beside string) string { return imageMark(part, beside, turn(), at) }
	if m.Role == ctxabi.Tool && len(m.Results) == 0 {
		r := Portion{Kind: ResultPortion, ID: m.CallID, Name: m.Name, Text: m.Text}
		for _, p := range parts {
			switch p.Kind {
			case ctxabi.PartData:
				r.Data, r.Marks = append(r.Data, p.Raw), append(r.Marks, mark(p.Raw, m.Text))
			case ctxabi.PartCall:
				r.Text += "\n[call] " + p.Call.Name + " " + p.Call.Arguments
			}
		}
		return []Portion{r}
	}
	for _, p := range parts {
		if p.Kind != ctxabi.PartResult {
			continue
		}
		r := Portion{Kind: ResultPortion, ID: p.Result.CallID, Text: p.Result.Text, Failed: p.Result.IsError}
		for _, inner := range p.Inner {
			if inner.Kind == ctxabi.PartData {
				r.Data, r.Marks = append(r.Data, inner.Raw), append(r.Marks, mark(inner.Raw, p.Result.Text))
			}
		}
		list = append(list, r)
	}
	for _, p := range parts {
		beside := besideOf(m, p)
		switch last := len(list) - 1; {
		case p.Kind == ctxabi.PartText && last >= 0 && list[last].Kind == TextPortion && beside == nil && list[last].Beside == nil:
			list[last].Text += "\n" + p.Text
		case p.Kind == ctxabi.PartText:
			list = append(list, Portion{Kind: TextPortion, Text: p.Text, Beside: beside})
		case p.Kind == ctxabi.PartCall && m.Role == ctxabi.Assistant:
			list = append(list, Portion{Kind: CallPortion, ID: p.Call.ID, Name: p.Call.Name, Text: p.Call.Arguments, Beside: beside})
		case p.Kind == ctxabi.PartCall: // nobody else calls tools
			list = append(list, Portion{Kind: TextPortion, Text: "[call] " + p.Call.Name + " " + p.Call.Arguments})
		case p.Kind == ctxabi.PartData:
			list = append(list, Portion{Kind: DataPortion, Raw: p.Raw, Text: mark(p.Raw, m.Text)})
		case p.Kind == ctxabi.PartThinking && m.Role == ctxabi.Assistant:
			list = append(list, Portion{Kind: ThoughtPortion, Raw: p.Raw})
		}
	}
	return list
}

// cutContents are the parts of a record that stands shortened. What pack.md shows is its text, the beginnings of
// arguments included; whole arguments and results would not fit, a part of them is no JSON.
func cutContents(m *ctxabi.Message, parts []ctxabi.Part, at Address, shown string) (list []Portion) {
	tooMany := max(len(m.Calls), len(m.Results)) > ctxabi.Weight(shown)/TokensOfOne
	switch {
	case m.Role == ctxabi.Tool && len(m.Results) == 0:
		return []Portion{{Kind: ResultPortion, ID: m.CallID, Name: m.Name, Text: shown}}
	case tooMany:
		return []Portion{{Kind: TextPortion, Text: shown}}
	case m.Item != "" && len(m.Results) > 0: // of a provider's own tool: the call stands with its result
		return []Portion{{Kind: ResultPortion, ID: m.Results[0].CallID, Text: shown, Failed: m.Results[0].IsError}, leftOutCall(ctxabi.Part{Call: m.Calls[0]}, at)}
	case len(m.Results) > 0:
		for i, r := range m.Results {
			c := Portion{Kind: ResultPortion, ID: r.CallID, Text: shown, Failed: r.IsError}
			if i > 0 {
				c.Text, c.Extra = standsAbove, 20
			}
			list = append(list, c)
		}
		return list
	}
	for _, p := range parts {
		if p.Kind == ctxabi.PartThinking && m.Role == ctxabi.Assistant {
			list = append(list, Portion{Kind: ThoughtPortion, Raw: p.Raw})
		}
	}
	list = append(list, Portion{Kind: TextPortion, Text: shown})
	for _, p := range parts {
		if p.Kind == ctxabi.PartCall && m.Role == ctxabi.Assistant {
			call := leftOutCall(p, at)
			call.Beside = besideOf(m, p)
			list = append(list, call)
		}
	}
	return list
}

// leftOutCall is a call whose arguments do not fit.
func leftOutCall(p ctxabi.Part, at Address) Portion {
	return Portion{Kind: CallPortion, ID: p.Call.ID, Name: p.Call.Name, Text: leftOutArguments(at), Extra: 2*ctxabi.Weight(p.Call.Name) + 32}
}

// besideOf returns what the provider of a model wants back with a part of its message, nil for nothing.
func besideOf(m *ctxabi.Message, p ctxabi.Part) *ctxabi.Continuation {
	if m.Role != ctxabi.Assistant || p.Kind != ctxabi.PartCall && p.Kind != ctxabi.PartText {
		return nil
	}
	if c, ok := ctxabi.ContinuationOf(p.Raw); ok {
		return &c
	}
	return nil
}

// leftOutArguments stand in the place of arguments that do not fit.
func leftOutArguments(at Address) string { return `{"left_out":"` + at.Path() + `"}` }

// eventContents are the parts of a tool event.
func eventContents(raw []byte, at Address, shown string, instead []string) (ctxabi.Role, []Portion) {
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok {
		return ctxabi.RoleUnknown, strange(raw, shown)
	}
	text := ev.Text
	if len(instead) > 0 && instead[0] != "" {
		if ev.IsResult {
			text = instead[0]
		} else {
			ev.Arguments = instead[0]
		}
	}
	for range ev.Images {
		text = strings.TrimLeft(text+"\n[Image in "+ctxabi.LineDir+"/"+at.String()+"]", "\n")
	}
	if shown != "" {
		text = shown
	}
	c := Portion{Kind: ResultPortion, ID: ev.CallID, Name: ev.Name, Text: text, Failed: ev.Failed}
	if ev.IsResult {
		if ev.ExitCode != "" {
			c.Text = strings.TrimRight("[exit code "+ShortName(ev.ExitCode)+"]\n"+c.Text, "\n")
			c.Extra = 6
		}
		c.finish()
		return ctxabi.Tool, []Portion{c}
	}
	list := []Portion{{Kind: CallPortion, ID: ev.CallID, Name: ev.Name, Text: ev.Arguments}}
	if shown != "" {
		list[0].Text, list[0].Extra = leftOutArguments(at), 2*ctxabi.Weight(ev.Name)+32
	}
	if strings.TrimSpace(text) != "" {
		list = append([]Portion{{Kind: TextPortion, Text: text}}, list...)
	}
	for i := range list {
		list[i].finish()
	}
	return ctxabi.Assistant, list
}

// thoughtText is what a model thought, where it can be read; of an item the content, too.
func thoughtText(raw []byte, item bool) string {
	type list []struct{ Text string }
	if _, ok := ctxabi.ReasoningOf(raw); ok {
		return string(raw)
	}
	var t struct {
		Thinking            string
		Text                string
		Summary             list
		Content, RawContent list
	}
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	text := t.Thinking + t.Text
	if item {
		for _, s := range append(t.Content, t.RawContent...) {
			text += s.Text
		}
	}
	for _, s := range t.Summary {
		text += s.Text
	}
	return text
}
