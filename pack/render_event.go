package pack

import (
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// RenderEvent gives the tool event at a line of events as a pack shows it, as [RenderRecord] does a message.
func RenderEvent(events Records, line, body int) (string, error) {
	s, err := readEvent(events, line, body)
	if err != nil {
		return "", err
	}
	text, _ := s.write(body)
	return text, nil
}

// readEvent reads a tool event for pack.md, where it stands much as messages do. Of its call it knows the arguments where body is not 0:
//
//	## e3 tool_call
//	[call e3] run_tests {"path":"./..."}
//	## e7 tool run_tests [call e3] (error) (exit 1)
//	212 passed, 1 failed
func readEvent(events Records, n, body int) (s shown, err error) {
	at := address{n, true}
	raw, err := events.Record(n)
	if err != nil {
		return s, unreadable(at, err)
	}
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok { // its bytes were changed on the disk
		ev = ctxabi.ToolEvent{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}

	var b strings.Builder
	about := compress.Hint{}
	b.WriteString("## " + at.String())
	if !ev.IsResult {
		b.WriteString(" tool_call")
	} else {
		b.WriteString(" tool")
		ref, name := strings.ReplaceAll(shortName(ev.CallID), "]", ")"), ev.Name
		if call := int(events.At(n).CallOf); call > 0 {
			ref = address{call, true}.String()
			if name == "" || body > 0 {
				asked, err := eventCall(events, call)
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
		writeWord(&b, shortName(name))
		if ref != "" {
			b.WriteString(" [call " + ref + "]")
		}
	}
	if ev.Failed {
		b.WriteString(" (error)")
	}
	if ev.ExitCode != "" {
		b.WriteString(" (exit " + shortName(ev.ExitCode) + ")")
	}
	b.WriteByte('\n')

	s = shown{at: at, heading: b.String(), fenced: needsFence(ev.Text), results: ev.IsResult,
		alone: ev.Images == 0 && (ev.IsResult || ev.Name == "" && ev.Arguments == "")}
	s.add("", ev.Text, ev.IsResult, about)
	var c strings.Builder
	for range ev.Images {
		c.WriteString("[Image in " + ctxabi.LineDir + "/" + at.String() + "]\n")
	}
	if !ev.IsResult && !s.alone {
		s.fenced = writeCall(&c, at.String(), ev.Name, ev.Arguments) || s.fenced
	}
	s.add(c.String(), "", false, compress.Hint{})
	return s, nil
}

// eventCall is the call that event n is.
func eventCall(events Records, n int) (ctxabi.ToolEvent, error) {
	raw, err := events.Record(n)
	if err != nil {
		return ctxabi.ToolEvent{}, unreadable(address{n, true}, err)
	}
	ev, _ := ctxabi.DecodeToolEvent(raw)
	return ev, nil
}

// Types of the events that stand in the timeline.
const (
	eventCallType   = "tool_call"
	eventResultType = "tool_result"
)
