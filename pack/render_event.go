package pack

import (
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// renderEvent gives a tool event as it stands in pack.md, much as messages stand there:
//
//	## e3 tool_call
//	[call e3] run_tests {"path":"./..."}
//	## e7 tool run_tests [call e3] (error) (exit 1)
//	212 passed, 1 failed
func renderEvent(events Records, n, body int) (text string, cut bool, err error) {
	at := address{n, true}
	raw, err := events.Record(n)
	if err != nil {
		return "", false, unreadable(at, err)
	}
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok { // its bytes were changed on the disk
		ev = ctxabi.ToolEvent{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}

	var b strings.Builder
	b.WriteString("## " + at.String())
	if !ev.IsResult {
		b.WriteString(" tool_call")
	} else {
		b.WriteString(" tool")
		ref, name := strings.ReplaceAll(shortName(ev.CallID), "]", ")"), ev.Name
		if call := int(events.At(n).CallOf); call > 0 {
			ref = address{call, true}.String()
			if name == "" {
				if name, err = eventName(events, call); err != nil {
					return "", false, err
				}
			}
		}
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

	var c strings.Builder
	r := shown{fenced: needsFence(ev.Text), alone: ev.Images == 0 && ev.Name == "" && ev.Arguments == ""}
	if ev.IsResult {
		r.alone = ev.Images == 0
	}
	if r.alone {
		c.WriteString(ev.Text)
	} else {
		writeContent(&c, ev.Text, r.fenced)
	}
	for range ev.Images {
		c.WriteString("[Image in " + ctxabi.LineDir + "/" + at.String() + "]\n")
	}
	if !ev.IsResult && !r.alone {
		r.fenced = writeCall(&c, at.String(), ev.Name, ev.Arguments) || r.fenced
	}
	r.text = c.String()
	cut = r.write(&b, body, at)
	return b.String(), cut, nil
}

func eventName(events Records, n int) (string, error) {
	raw, err := events.Record(n)
	if err != nil {
		return "", unreadable(address{n, true}, err)
	}
	ev, _ := ctxabi.DecodeToolEvent(raw)
	return ev.Name, nil
}
