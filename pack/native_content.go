package pack

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// portionKind says what a portion is.
type portionKind uint8

const (
	aText portionKind = iota
	aCall
	aResult
	aDatum   // an image or the like
	aThought // of a model
)

// portion is one part of a record as native renderings show it.
type portion struct {
	kind    portionKind
	id      string // of the call, as the record has it
	name    string // of the tool
	text    string // of a datum: the line that pack.md shows in its place; of a call its arguments
	words   string // of a thought
	failed  bool
	blank   bool     // there is nothing but blanks in text
	raw     []byte   // of a datum or a thought: the part as it was written
	data    [][]byte // of a result: such parts
	marks   []string // in the place of these
	extra   int      // tokens that it may take beyond what pack.md shows, by weight
	unknown bool     // a record that is not a message
	cost    int      // tokens of its images, where they are shown
	broken  bool     // a call whose arguments are not an object of JSON
}

// tokensOfOne is how many tokens a record that is cut must show for each of its calls or results. With fewer they
// do not stand on their own but in a text, as pack.md shows them.
const tokensOfOne = 48

const (
	nothingSaid  = "(empty message)"
	nothingGiven = "(no output)"
	standsAbove  = "(it stands in the result before this one)"
)

// contentsOf gives what a record shows. shown is the record as it stands in pack.md when it is cut, else "".
// instead are the texts that stand in the place of results, where some are references.
// turn gives the number of the turn that the record belongs to.
func contentsOf(log Records, at address, shown string, instead []string, turn func() int) (ctxabi.Role, []portion, error) {
	raw, err := log.Record(at.n)
	if err != nil {
		return 0, nil, unreadable(at, err)
	}
	if shown != "" { // below its heading
		_, shown, _ = strings.Cut(shown, "\n")
	}
	if at.event {
		role, c := eventContents(raw, at, shown, instead)
		return role, c, nil
	}
	m, parts := ctxabi.DecodeParts(raw)
	if damaged := log.At(at.n).Flags&ctxabi.Damaged != 0; damaged || m.Role == ctxabi.RoleUnknown {
		return ctxabi.RoleUnknown, strange(raw, shown), nil
	}
	var list []portion
	if shown != "" {
		list = cutContents(&m, parts, at, shown)
	} else {
		list = wholeContents(&m, parts, at, turn)
		for i := range list {
			if list[i].kind == aResult && len(instead) > 0 {
				if instead[0] != "" {
					list[i].text = instead[0]
				}
				instead = instead[1:]
			}
		}
	}
	for i := range list {
		list[i].finish()
	}
	return m.Role, list, nil
}

// strange is what a line shows that is not a record.
func strange(raw []byte, shown string) []portion {
	if shown == "" {
		shown = strings.ToValidUTF8(strings.TrimRight(string(raw), "\r\n"), "\uFFFD")
	}
	return []portion{{kind: aText, text: shown, unknown: true}}
}

// finish fills in what follows from the rest.
func (c *portion) finish() {
	c.blank = strings.TrimSpace(c.text) == ""
	if c.kind == aResult && c.blank {
		if c.text = ""; len(c.data) == 0 {
			c.text = nothingGiven
		} else {
			c.blank = false // an image is something
		}
	}
	if n := len(c.name); n > shortNameBytes || c.name != toolName(c.name) {
		c.extra += 2 * ctxabi.Weight(c.name)
	}
	if c.kind == aCall && !c.blank {
		v, ok := readJSON(c.text)
		_, is := v.(map[string]any)
		if c.broken = !ok || !is; c.broken {
			c.extra += 16 // of the object that it stands in, where its quotes are escaped
			for _, r := range c.text {
				switch {
				case r == '"' || r == '\\':
					c.extra++
				case r < ' ':
					c.extra += 5
				}
			}
		}
		c.extra += 5 * (strings.Count(c.text, "\u2028") + strings.Count(c.text, "\u2029")) // written as escapes
	}
	if c.kind == aThought {
		c.words = thoughtText(c.raw)
		c.extra += ctxabi.Weight(c.words) + 8
	}
}

const shortNameBytes = 48

// forget takes away what is read again when a rendering is made.
func (c *portion) forget() {
	c.words = ""
	if c.kind != aDatum {
		c.text = ""
	}
	c.raw, c.data = nil, nil
}

// wholeContents are the parts of a record that stands in full: results in front, texts that follow each other joined.
func wholeContents(m *ctxabi.Message, parts []ctxabi.Part, at address, turn func() int) (list []portion) {
	mark := func(part []byte, beside string) string { return imageMark(part, beside, turn(), at) }
	if m.Role == ctxabi.Tool && len(m.Results) == 0 {
		r := portion{kind: aResult, id: m.CallID, name: m.Name, text: m.Text}
		for _, p := range parts {
			switch p.Kind {
			case ctxabi.PartData:
				r.data, r.marks = append(r.data, p.Raw), append(r.marks, mark(p.Raw, m.Text))
			case ctxabi.PartCall:
				r.text += "\n[call] " + p.Call.Name + " " + p.Call.Arguments
			}
		}
		return []portion{r}
	}
	for _, p := range parts {
		if p.Kind != ctxabi.PartResult {
			continue
		}
		r := portion{kind: aResult, id: p.Result.CallID, text: p.Result.Text, failed: p.Result.IsError}
		for _, inner := range p.Inner {
			if inner.Kind == ctxabi.PartData {
				r.data, r.marks = append(r.data, inner.Raw), append(r.marks, mark(inner.Raw, p.Result.Text))
			}
		}
		list = append(list, r)
	}
	for _, p := range parts {
		switch last := len(list) - 1; {
		case p.Kind == ctxabi.PartText && last >= 0 && list[last].kind == aText:
			list[last].text += "\n" + p.Text
		case p.Kind == ctxabi.PartText:
			list = append(list, portion{kind: aText, text: p.Text})
		case p.Kind == ctxabi.PartCall && m.Role == ctxabi.Assistant:
			list = append(list, portion{kind: aCall, id: p.Call.ID, name: p.Call.Name, text: p.Call.Arguments})
		case p.Kind == ctxabi.PartCall: // nobody else calls tools
			list = append(list, portion{kind: aText, text: "[call] " + p.Call.Name + " " + p.Call.Arguments})
		case p.Kind == ctxabi.PartData:
			list = append(list, portion{kind: aDatum, raw: p.Raw, text: mark(p.Raw, m.Text)})
		case p.Kind == ctxabi.PartThinking && m.Role == ctxabi.Assistant:
			list = append(list, portion{kind: aThought, raw: p.Raw})
		}
	}
	return list
}

// cutContents are the parts of a record that stands shortened. What pack.md shows is its text, the beginnings of
// arguments included; whole arguments and results would not fit, a part of them is no JSON.
func cutContents(m *ctxabi.Message, parts []ctxabi.Part, at address, shown string) (list []portion) {
	tooMany := max(len(m.Calls), len(m.Results)) > ctxabi.Weight(shown)/tokensOfOne
	switch {
	case m.Role == ctxabi.Tool && len(m.Results) == 0:
		return []portion{{kind: aResult, id: m.CallID, name: m.Name, text: shown}}
	case tooMany:
		return []portion{{kind: aText, text: shown}}
	case len(m.Results) > 0:
		for i, r := range m.Results {
			c := portion{kind: aResult, id: r.CallID, text: shown, failed: r.IsError}
			if i > 0 {
				c.text, c.extra = standsAbove, 20
			}
			list = append(list, c)
		}
		return list
	}
	for _, p := range parts {
		if p.Kind == ctxabi.PartThinking && m.Role == ctxabi.Assistant {
			list = append(list, portion{kind: aThought, raw: p.Raw})
		}
	}
	list = append(list, portion{kind: aText, text: shown})
	if m.Role == ctxabi.Assistant {
		for _, call := range m.Calls {
			list = append(list, portion{kind: aCall, id: call.ID, name: call.Name, text: leftOutArguments(at), extra: 2*ctxabi.Weight(call.Name) + 32})
		}
	}
	return list
}

// leftOutArguments stand in the place of arguments that do not fit.
func leftOutArguments(at address) string { return `{"left_out":"` + at.path() + `"}` }

// eventContents are the parts of a tool event.
func eventContents(raw []byte, at address, shown string, instead []string) (ctxabi.Role, []portion) {
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok {
		return ctxabi.RoleUnknown, strange(raw, shown)
	}
	text := ev.Text
	if len(instead) > 0 && instead[0] != "" {
		text = instead[0]
	}
	for range ev.Images {
		text = strings.TrimLeft(text+"\n[Image in "+ctxabi.LineDir+"/"+at.String()+"]", "\n")
	}
	if shown != "" {
		text = shown
	}
	c := portion{kind: aResult, id: ev.CallID, name: ev.Name, text: text, failed: ev.Failed}
	if ev.IsResult {
		if ev.ExitCode != "" {
			c.text = strings.TrimRight("[exit code "+shortName(ev.ExitCode)+"]\n"+c.text, "\n")
			c.extra = 6
		}
		c.finish()
		return ctxabi.Tool, []portion{c}
	}
	list := []portion{{kind: aCall, id: ev.CallID, name: ev.Name, text: ev.Arguments}}
	if shown != "" {
		list[0].text, list[0].extra = leftOutArguments(at), 2*ctxabi.Weight(ev.Name)+32
	}
	if strings.TrimSpace(text) != "" {
		list = append([]portion{{kind: aText, text: text}}, list...)
	}
	for i := range list {
		list[i].finish()
	}
	return ctxabi.Assistant, list
}

// toolName makes a name that every provider takes: letters, digits, _ and -, at most 64 of them, the first one a letter or _.
func toolName(name string) string {
	clean := []byte(name)
	for i, c := range clean {
		if !(isLetter(c) && c < 0x80 || isDigit(c) || c == '-') {
			clean[i] = '_'
		}
	}
	if len(clean) > 64 {
		clean = clean[:64]
	}
	switch {
	case len(clean) == 0:
		return "unknown_tool"
	case isDigit(clean[0]) || clean[0] == '-':
		clean = append([]byte{'_'}, clean[:min(len(clean), 63)]...)
	}
	return string(clean)
}

// thoughtText is what a model thought, where it can be read.
func thoughtText(raw []byte) string {
	var t struct {
		Thinking string
		Text     string
		Summary  []struct{ Text string }
	}
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	text := t.Thinking + t.Text
	for _, s := range t.Summary {
		text += s.Text
	}
	return text
}

// readJSON gives a value with its numbers as they were written; ok is false for what is not one JSON value.
func readJSON(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}
