package record

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// RenderEvent returns the tool event at a line of events as a pack shows it, as [RenderRecord] does a message.
// It returns ctxabi.ErrIO when a record cannot be read.
func RenderEvent(events Records, line, body int) (string, error) {
	s, err := readEvent(events, line, body)
	if err != nil {
		return "", err
	}
	text, _ := s.Write(body)
	return text, nil
}

// readEvent reads a tool event for pack.md, where it stands much as messages do. Of its call it knows the arguments where body is not 0:
//
//	## e3 tool_call
//	[call e3] run_tests {"path":"./..."}
//	## e7 tool run_tests [call e3] (error) (exit 1)
//	212 passed, 1 failed
func readEvent(events Records, n, body int) (s Rendering, err error) {
	at := Address{n, true}
	raw, err := events.Record(n)
	if err != nil {
		return s, Unreadable(at, err)
	}
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok { // its bytes were changed on the disk
		ev = ctxabi.ToolEvent{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}

	var b strings.Builder
	about := result.Hint{}
	b.WriteString("## " + at.String())
	if !ev.IsResult {
		b.WriteString(" tool_call")
	} else {
		b.WriteString(" tool")
		ref, name := strings.ReplaceAll(ShortName(ev.CallID), "]", ")"), ev.Name
		if call := int(events.At(n).CallOf); call > 0 {
			ref = Address{call, true}.String()
			if name == "" || body > 0 {
				asked, err := EventCall(events, call)
				if err != nil {
					return s, err
				}
				about.Args = asked.Arguments
				if name == "" {
					name = asked.Name
				}
			}
		}
		about.Tool, about.IsError = name, ev.Failed
		WriteWord(&b, ShortName(name))
		if ref != "" {
			b.WriteString(" [call " + ref + "]")
		}
	}
	if ev.Failed {
		b.WriteString(" (error)")
	}
	if ev.ExitCode != "" {
		b.WriteString(" (exit " + ShortName(ev.ExitCode) + ")")
	}
	b.WriteByte('\n')

	s = Rendering{At: at, heading: b.String(), Fenced: NeedsFence(ev.Text), Results: ev.IsResult,
		Alone: ev.Images == 0 && (ev.IsResult || ev.Name == "" && ev.Arguments == "")}
	s.add("", ev.Text, ev.IsResult, about)
	var c strings.Builder
	for range ev.Images {
		c.WriteString("[Image in " + ctxabi.LineDir + "/" + at.String() + "]\n")
	}
	if !ev.IsResult && !s.Alone {
		s.addCall(c.String(), at.String(), ev.Name, ev.Arguments)
		c.Reset()
	}
	s.add(c.String(), "", false, result.Hint{})
	return s, nil
}

// EventCall is the call that event n is.
// It returns ctxabi.ErrIO when a record cannot be read.
func EventCall(events Records, n int) (ctxabi.ToolEvent, error) {
	raw, err := events.Record(n)
	if err != nil {
		return ctxabi.ToolEvent{}, Unreadable(Address{n, true}, err)
	}
	ev, _ := ctxabi.DecodeToolEvent(raw)
	return ev, nil
}

// Types of the events that stand in the timeline.
const (
	CallType   = "tool_call"
	ResultType = "tool_result"
)
