package pack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// linePath is where a reader finds record line decoded.
func linePath(line int) string {
	return ctxabi.LineDir + "/" + strconv.Itoa(line) + ".txt"
}

// renderRecord gives record line as it stands in pack.md. body is how many
// tokens (by weight) of its content may be shown; 0: all of it. The forms in
// which calls and results can be written all come out alike:
//
//	## 12 assistant
//	I will look at the file.
//	[call 12.1] read_file {"path":"a.go"}
//	## 13 tool read_file [call 12.1]
//	package a
func renderRecord(m Records, line, body int) (text string, cut bool, err error) {
	raw, err := m.Record(line)
	if err != nil {
		return "", false, unreadable(line, err)
	}
	e := m.At(line)
	msg := ctxabi.DecodeMessage(raw)
	if e.Flags&session.Damaged != 0 {
		msg = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}
	var answered answers
	if e.CallOf > 0 && (msg.Role == ctxabi.Tool || len(msg.Results) > 0) {
		if answered, err = callsAt(m, int(e.CallOf)); err != nil {
			return "", false, err
		}
	}
	// An Anthropic message that only carries one result is what others write as a tool record.
	role, name, callID, failed := msg.Role.String(), msg.Name, msg.CallID, false
	content := msg.Text
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

	var c strings.Builder
	fenced := e.Flags&session.Damaged != 0 || msg.Role == ctxabi.RoleUnknown || needsFence(content)
	alone := len(msg.Calls) == 0 && len(msg.Results) == 0 && msg.Images == 0
	if alone {
		c.WriteString(content)
	} else {
		writeContent(&c, content, fenced)
	}
	for range msg.Images {
		fmt.Fprintf(&c, "[Image at Turn %d: %s/%d]\n", turnOf(m, line), ctxabi.LineDir, line)
	}
	for i, call := range msg.Calls {
		fmt.Fprintf(&c, "[call %d.%d]", line, i+1)
		writeWord(&c, shortName(call.Name))
		if strings.ContainsAny(call.Arguments, "\n\r") {
			c.WriteByte('\n')
			fenced = fenced || needsFence(call.Arguments)
			writeContent(&c, call.Arguments, true)
			continue
		}
		writeWord(&c, call.Arguments)
		c.WriteByte('\n')
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
		inner := needsFence(r.Text)
		fenced = fenced || inner
		writeContent(&c, r.Text, inner)
	}

	shown := c.String()
	if body > 0 {
		if shown, cut = compress.HeadTail(shown, body, linePath(line)); cut {
			// What kept the whole in order may now be on one side of the cut only.
			writeContent(&b, shown, fenced || unclosed(shown))
			return b.String(), true, nil
		}
	}
	writeContent(&b, shown, alone && fenced)
	return b.String(), false, nil
}

func unreadable(line int, err error) error {
	return ctxabi.E("pack", ctxabi.MessagesFile, ctxabi.ErrIO, "record %d cannot be read: %v", line, err)
}

// unclosed says whether shown leaves a fence open; marks of calls in it are our own.
func unclosed(shown string) bool {
	lines := strings.Split(shown, "\n")
	return needsFence(strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		return likeFraming(strings.TrimLeft(l, " \t\r"))
	}), "\n"))
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
		return answers{}, unreadable(line, err)
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
func isUser(e session.Entry) bool {
	return e.Role == ctxabi.User && e.Flags&session.HasResults == 0
}

// isResult says whether a record answers calls.
func isResult(e session.Entry) bool {
	return e.Role == ctxabi.Tool || e.Flags&session.HasResults != 0
}
