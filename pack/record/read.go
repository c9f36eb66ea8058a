package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Read reads the record at a place of m for a rendering; see readRecord and readEvent.
// It returns ctxabi.ErrIO when a record cannot be read.
func Read(m Records, at, body int) (Rendering, error) {
	t, ok := m.(*Merged)
	if !ok {
		return readRecord(m, at)
	}
	a := t.address(at)
	if a.Event {
		return readEvent(t.Events, a.Line, body)
	}
	return readRecord(t.Messages, a.Line)
}

// RenderRecord returns the message at a line of m as a pack shows it in full, or shortened to about
// body tokens of content where body is not 0; count counts them (nil: ctxabi.Weight).
// It returns ctxabi.ErrIO when a record cannot be read.
func RenderRecord(m Records, line, body int, count func(text string) int) (string, error) {
	r, err := readRecord(m, line)
	if err != nil {
		return "", err
	}
	r.Count = count
	text, _ := r.Write(body)
	return text, nil
}

// readRecord reads message line for pack.md. The forms in
// which calls and results can be written all come out alike:
//
//	## 12 assistant
//	I will look at the file.
//	[call 12.1] read_file {"path":"a.go"}
//	## 13 tool read_file [call 12.1]
//	package a
func readRecord(m Records, line int) (s Rendering, err error) {
	raw, err := m.Record(line)
	if err != nil {
		return s, Unreadable(Address{Line: line}, err)
	}
	e := m.At(line)
	msg := ctxabi.DecodeMessage(raw)
	if e.Flags&ctxabi.Damaged != 0 {
		msg = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}
	var answered Answers
	if e.CallOf > 0 && (msg.Role == ctxabi.Tool || len(msg.Results) > 0) {
		if answered, err = CallsAt(m, int(e.CallOf)); err != nil {
			return s, err
		}
	}
	if msg.Item != "" && msg.Role == ctxabi.Assistant { // the result of a provider's own tool stands with its call
		answered = Answers{line, msg.Calls}
	}
	o := openingOf(&msg, answered)
	fenced := e.Flags&ctxabi.Damaged != 0 || msg.Role == ctxabi.RoleUnknown || NeedsFence(o.text)
	s = Rendering{At: Address{Line: line}, heading: o.heading(line, answered), Fenced: fenced,
		Alone:   len(msg.Calls) == 0 && len(msg.Results) == 0 && msg.Images == 0,
		Results: len(msg.Calls) == 0 && (msg.Role == ctxabi.Tool || msg.Role == ctxabi.User && IsResult(e))}
	s.add("", o.text, o.result, o.about)
	var c strings.Builder
	if msg.Images > 0 {
		_, all := ctxabi.DecodeParts(raw)
		for _, mark := range imageMarks(all, msg.Text, TurnOf(m, line), Address{Line: line}) {
			c.WriteString(mark + "\n")
		}
	}
	for i, call := range msg.Calls {
		s.addCall(c.String(), fmt.Sprintf("%d.%d", line, i+1), call.Name, call.Arguments)
		c.Reset()
	}
	for _, r := range msg.Results {
		about := answered.hint(r.CallID, r.IsError)
		writeResult(&c, answered.ref(r.CallID), about)
		s.Fenced = s.Fenced || NeedsFence(r.Text)
		s.add(c.String(), r.Text, true, about)
		c.Reset()
	}
	s.add(c.String(), "", false, result.Hint{})
	return s, nil
}

// opening is what stands of a message before its images, calls and results.
type opening struct {
	role, name string
	text       string
	result     bool   // text is the result of a call
	callID     string // of that call
	about      result.Hint
}

// openingOf returns the opening of msg. An Anthropic message that only carries one result is what others write as a tool
// record: the result is moved from msg to the opening.
func openingOf(msg *ctxabi.Message, answered Answers) opening {
	o, failed := opening{role: msg.Role.String(), name: msg.Name, text: msg.Text, callID: msg.CallID, result: msg.Role == ctxabi.Tool}, false
	if len(msg.Results) == 1 && msg.Text == "" && msg.Images == 0 && len(msg.Calls) == 0 {
		r := msg.Results[0]
		o.role, o.callID, o.text, o.result, failed = ctxabi.Tool.String(), r.CallID, r.Text, true, r.IsError
		msg.Results = nil
	}
	if o.result {
		o.about = answered.hint(o.callID, failed)
		if o.name != "" {
			o.about.Tool = o.name
		}
		o.name = o.about.Tool
	}
	return o
}

// heading returns the line above the message at a line of the log.
func (o opening) heading(line int, answered Answers) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %d %s", line, o.role)
	WriteWord(&b, ShortName(o.name))
	if o.result {
		if ref := answered.ref(o.callID); ref != "" {
			b.WriteString(" [call " + ref + "]")
		}
		if o.about.IsError {
			b.WriteString(" (error)")
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// writeResult writes the line above the result of the call ref; "" stands for one that is not known.
func writeResult(c *strings.Builder, ref string, about result.Hint) {
	c.WriteString("[result of ")
	c.WriteString(cmp.Or(ref, "an unknown call"))
	WriteWord(c, ShortName(about.Tool))
	c.WriteString("]")
	if about.IsError {
		c.WriteString(" (error)")
	}
	c.WriteByte('\n')
}

// WriteCall writes one call. fenced: its arguments could be taken for framing.
func WriteCall(c *strings.Builder, ref, name, arguments string) (fenced bool) {
	c.WriteString("[call " + ref + "]")
	WriteWord(c, ShortName(name))
	if strings.ContainsAny(arguments, "\n\r") {
		c.WriteByte('\n')
		WriteContent(c, arguments, true)
		return NeedsFence(arguments)
	}
	WriteWord(c, arguments)
	c.WriteByte('\n')
	return false
}

// Unreadable returns the error, of kind ctxabi.ErrIO, that the record at an address cannot be read
// because of err.
func Unreadable(at Address, err error) error {
	return &ctxabi.Error{Op: "pack", Path: at.Log(), Kind: ctxabi.ErrIO, Why: fmt.Sprintf("record %d cannot be read", at.Line), Err: err}
}

// WriteWord writes a word behind a blank; nothing for "".
func WriteWord(b *strings.Builder, word string) {
	if word != "" {
		b.WriteByte(' ')
		b.WriteString(word)
	}
}

// Answers resolves the ids of the calls of one record.
type Answers struct {
	line  int
	calls []ctxabi.Call
}

// CallsAt returns the calls that the record at a line makes. It returns ctxabi.ErrIO when a record
// cannot be read.
func CallsAt(m Records, line int) (Answers, error) {
	raw, err := m.Record(line)
	if err != nil {
		return Answers{}, Unreadable(Address{Line: line}, err)
	}
	return Answers{line, ctxabi.DecodeMessage(raw).Calls}, nil
}

// Known reports whether the record was read.
func (a Answers) Known() bool { return a.line > 0 }

func (a Answers) find(id string) int {
	return slices.IndexFunc(a.calls, func(c ctxabi.Call) bool { return c.ID == id })
}

// Name is the name of the tool that the call with this id called.
func (a Answers) Name(id string) string {
	if i := a.find(id); i >= 0 {
		return a.calls[i].Name
	}
	return ""
}

// Arguments are those of the call with this id, as they were written.
func (a Answers) Arguments(id string) string {
	if i := a.find(id); i >= 0 {
		return a.calls[i].Arguments
	}
	return ""
}

// hint returns what is known of the call with this id for its result, which failed or not.
func (a Answers) hint(id string, failed bool) result.Hint {
	return result.Hint{Tool: a.Name(id), Args: a.Arguments(id), IsError: failed}
}

// ref is how a pack names that call: the record's line and the call's place in it; the id itself
// where the call is not known.
func (a Answers) ref(id string) string {
	if i := a.find(id); i >= 0 {
		return fmt.Sprintf("%d.%d", a.line, i+1)
	}
	return strings.ReplaceAll(ShortName(id), "]", ")")
}

// TurnOf counts the user records up to line.
func TurnOf(m Records, line int) int {
	turn := 0
	for i := 1; i <= line; i++ {
		if IsUser(m.At(i)) {
			turn++
		}
	}
	return turn
}

// IsUser reports whether a record is a request of the user; Anthropic's user
// records that carry tool results are not.
func IsUser(e ctxabi.Entry) bool {
	return e.Role == ctxabi.User && e.Flags&ctxabi.HasResults == 0
}

// IsResult reports whether a record answers calls.
func IsResult(e ctxabi.Entry) bool {
	return e.Role == ctxabi.Tool || e.Flags&ctxabi.HasResults != 0
}
