package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// readAt reads the record at a place of m for a rendering; see readRecord and readEvent.
func readAt(m Records, at, body int) (shown, error) {
	t, ok := m.(*timeline)
	if !ok {
		return readRecord(m, at)
	}
	a := t.address(at)
	if a.event {
		return readEvent(t.events, a.n, body)
	}
	return readRecord(t.messages, a.n)
}

// RenderRecord gives the message at a line of m as a pack shows it in full, or shortened to about
// body tokens (by weight) of content where body is not 0.
func RenderRecord(m Records, line, body int) (string, error) {
	r, err := readRecord(m, line)
	if err != nil {
		return "", err
	}
	text, _ := r.write(body)
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
func readRecord(m Records, line int) (s shown, err error) {
	raw, err := m.Record(line)
	if err != nil {
		return s, unreadable(address{n: line}, err)
	}
	e := m.At(line)
	msg := ctxabi.DecodeMessage(raw)
	if e.Flags&ctxabi.Damaged != 0 {
		msg = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}
	var answered answers
	if e.CallOf > 0 && (msg.Role == ctxabi.Tool || len(msg.Results) > 0) {
		if answered, err = callsAt(m, int(e.CallOf)); err != nil {
			return s, err
		}
	}
	// An Anthropic message that only carries one result is what others write as a tool record.
	role, name, callID, failed := msg.Role.String(), msg.Name, msg.CallID, false
	content := msg.Text
	about := compress.Hint{}
	if len(msg.Results) == 1 && content == "" && msg.Images == 0 && len(msg.Calls) == 0 {
		r := msg.Results[0]
		role, callID, content, failed = ctxabi.Tool.String(), r.CallID, r.Text, r.IsError
		msg.Results = nil
	}

	var b strings.Builder
	fmt.Fprintf(&b, "## %d %s", line, role)
	if role == ctxabi.Tool.String() {
		if name == "" {
			name = answered.name(callID)
		}
		writeWord(&b, shortName(name))
		if ref := answered.ref(callID); ref != "" {
			b.WriteString(" [call " + ref + "]")
		}
		if failed {
			b.WriteString(" (error)")
		}
	} else {
		writeWord(&b, shortName(name))
	}
	b.WriteByte('\n')

	if role == ctxabi.Tool.String() {
		about = compress.Hint{Tool: name, Args: answered.arguments(callID), IsError: failed}
	}
	fenced := e.Flags&ctxabi.Damaged != 0 || msg.Role == ctxabi.RoleUnknown || needsFence(content)
	s = shown{at: address{n: line}, heading: b.String(), fenced: fenced,
		alone:   len(msg.Calls) == 0 && len(msg.Results) == 0 && msg.Images == 0,
		results: len(msg.Calls) == 0 && (msg.Role == ctxabi.Tool || msg.Role == ctxabi.User && isResult(e))}
	s.add("", content, role == ctxabi.Tool.String(), about)
	var c strings.Builder
	if msg.Images > 0 {
		_, all := ctxabi.DecodeParts(raw)
		for _, mark := range imageMarks(all, msg.Text, turnOf(m, line), address{n: line}) {
			c.WriteString(mark + "\n")
		}
	}
	for i, call := range msg.Calls {
		s.fenced = writeCall(&c, fmt.Sprintf("%d.%d", line, i+1), call.Name, call.Arguments) || s.fenced
	}
	for _, r := range msg.Results {
		c.WriteString("[result of ")
		ref := answered.ref(r.CallID)
		if ref == "" {
			ref = "an unknown call"
		}
		c.WriteString(ref)
		writeWord(&c, shortName(answered.name(r.CallID)))
		c.WriteString("]")
		if r.IsError {
			c.WriteString(" (error)")
		}
		c.WriteByte('\n')
		s.fenced = s.fenced || needsFence(r.Text)
		s.add(c.String(), r.Text, true, compress.Hint{Tool: answered.name(r.CallID), Args: answered.arguments(r.CallID), IsError: r.IsError})
		c.Reset()
	}
	s.add(c.String(), "", false, compress.Hint{})
	return s, nil
}

// writeCall writes one call. fenced: its arguments could be taken for framing.
func writeCall(c *strings.Builder, ref, name, arguments string) (fenced bool) {
	c.WriteString("[call " + ref + "]")
	writeWord(c, shortName(name))
	if strings.ContainsAny(arguments, "\n\r") {
		c.WriteByte('\n')
		writeContent(c, arguments, true)
		return needsFence(arguments)
	}
	writeWord(c, arguments)
	c.WriteByte('\n')
	return false
}

func unreadable(at address, err error) error {
	return &ctxabi.Error{Op: "pack", Path: at.log(), Kind: ctxabi.ErrIO, Why: fmt.Sprintf("record %d cannot be read", at.n), Err: err}
}

func writeWord(b *strings.Builder, word string) {
	if word != "" {
		b.WriteByte(' ')
		b.WriteString(word)
	}
}

// answers resolves the ids of the calls of one record.
type answers struct {
	line  int
	calls []ctxabi.Call
}

func callsAt(m Records, line int) (answers, error) {
	raw, err := m.Record(line)
	if err != nil {
		return answers{}, unreadable(address{n: line}, err)
	}
	return answers{line, ctxabi.DecodeMessage(raw).Calls}, nil
}

func (a answers) find(id string) int {
	return slices.IndexFunc(a.calls, func(c ctxabi.Call) bool { return c.ID == id })
}

// name is the name of the tool that the call with this id called.
func (a answers) name(id string) string {
	if i := a.find(id); i >= 0 {
		return a.calls[i].Name
	}
	return ""
}

// arguments are those of the call with this id, as they were written.
func (a answers) arguments(id string) string {
	if i := a.find(id); i >= 0 {
		return a.calls[i].Arguments
	}
	return ""
}

// ref is how a pack names that call: the record's line and the call's place in it; the id itself
// where the call is not known.
func (a answers) ref(id string) string {
	if i := a.find(id); i >= 0 {
		return fmt.Sprintf("%d.%d", a.line, i+1)
	}
	return strings.ReplaceAll(shortName(id), "]", ")")
}

// turnOf counts the user records up to line.
func turnOf(m Records, line int) int {
	turn := 0
	for i := 1; i <= line; i++ {
		if isUser(m.At(i)) {
			turn++
		}
	}
	return turn
}

// isUser says whether a record is a request of the user; Anthropic's user
// records that carry tool results are not.
func isUser(e ctxabi.Entry) bool {
	return e.Role == ctxabi.User && e.Flags&ctxabi.HasResults == 0
}

// isResult says whether a record answers calls.
func isResult(e ctxabi.Entry) bool {
	return e.Role == ctxabi.Tool || e.Flags&ctxabi.HasResults != 0
}
