package pack

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// saying is what a record says, whatever its form.
type saying struct {
	text    string // of its content or, of a result, its output
	name    string // of the tool that a result is from
	calls   []ctxabi.Call
	answers []compress.SaidAnswer // of a result
	exit    string                // of a result that is an event: its exit code
	bytes   int                   // of the whole text, of which this may be both ends
	result  bool
	failed  bool
	images  int
}

// whole is all of it.
func (s *saying) whole() string {
	if len(s.calls) == 0 {
		return s.text
	}
	var b strings.Builder
	b.WriteString(s.text)
	for _, c := range s.calls {
		b.WriteString("\n" + c.Name + " " + c.Arguments)
	}
	return b.String()
}

// said reads the record at a place. Of a text that is very long, both ends are given.
func said(m Records, at int) (saying, error) {
	a := addressOf(m, at)
	log := m
	if t, ok := m.(*timeline); ok {
		log = t.log(a)
	}
	raw, err := log.Record(a.n)
	if err != nil {
		return saying{}, unreadable(a, err)
	}
	var s saying
	if a.event {
		ev, ok := ctxabi.DecodeToolEvent(raw)
		if !ok {
			ev.Text = strings.ToValidUTF8(string(raw), "\uFFFD")
		}
		s = saying{text: ev.Text, name: ev.Name, result: ev.IsResult, failed: ev.Failed || ev.ExitCode != "" && ev.ExitCode != "0", images: ev.Images, exit: ev.ExitCode}
		if !ev.IsResult {
			s.calls = []ctxabi.Call{{Name: ev.Name, Arguments: ev.Arguments}}
		} else if call := int(log.At(a.n).CallOf); call > 0 && s.name == "" {
			asked, err := eventCall(log, call)
			if err != nil {
				return s, err
			}
			s.name = asked.Name
		}
		if s.result {
			s.answers = []compress.SaidAnswer{{Call: ev.CallID, Tool: s.name, Text: s.text, Failed: ev.Failed}}
		}
		s.bytes, s.text = len(s.text), ends(s.text)
		return s, nil
	}
	e := log.At(a.n)
	msg := ctxabi.DecodeMessage(raw)
	if e.Flags&ctxabi.Damaged != 0 {
		msg = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}
	s = saying{text: msg.Text, name: msg.Name, calls: msg.Calls, result: isResult(e), images: msg.Images}
	for i, r := range msg.Results {
		if i > 0 || s.text != "" {
			s.text += "\n"
		}
		s.text += r.Text
		s.failed = s.failed || r.IsError
	}
	if s.result {
		var answered answers
		if e.CallOf > 0 && (s.name == "" || len(msg.Results) > 1) {
			if answered, err = callsAt(log, int(e.CallOf)); err != nil {
				return s, err
			}
		}
		results := msg.Results
		if len(results) == 0 {
			results = []ctxabi.Result{{CallID: msg.CallID, Text: msg.Text}}
		}
		for _, r := range results {
			s.answers = append(s.answers, compress.SaidAnswer{Call: r.CallID, Tool: cmp.Or(answered.name(r.CallID), s.name), Text: ends(r.Text), Failed: r.IsError})
		}
		s.name = cmp.Or(s.name, s.answers[0].Tool)
	}
	s.bytes, s.text = len(s.text), ends(s.text)
	return s, nil
}

// ends gives both ends of a text that is very long.
func ends(text string) string {
	if len(text) <= longText {
		return text
	}
	return strings.ToValidUTF8(text[:longText/2]+"\n"+text[len(text)-longText/2:], "\uFFFD")
}

// foldedAt is the record at a place in as much as stands of it when it is folded, and whether that is less than all:
//
//	## 96 assistant (folded) I will run the tests. [call 96.1] run_tests {"path":"./..."}
//	## 97 tool run_tests (folded) 212 passed, 1 failed TestRefreshExpired auth/refresh_test.go:41 · context/line/97.txt
func foldedAt(m Records, at int, r saying) (text string, cut bool) {
	a := addressOf(m, at)
	e := m.At(at)
	var b strings.Builder
	b.WriteString("## " + a.String())
	writeSpeaker(&b, m, at, r)
	b.WriteString(" (folded)")
	if r.failed {
		b.WriteString(" (error)")
	}
	switch {
	case r.result && compress.IsSubAgent(r.name):
		writeWord(&b, oneLine(compress.Conclusion(r.text, 2*foldedResult)))
		cut = true
	case r.result:
		text := compress.FoldSearch(r.text, r.name, "", 2*foldedResult)
		if text != "" {
			text = compress.FoldSearch(r.text, r.name, askedBy(m, at, r), 2*foldedResult)
		} else {
			text = compress.Fold(r.text, foldedResult)
		}
		writeWord(&b, oneLine(text))
		cut = true
	default:
		limit := foldedText
		if isUser(e) {
			limit = foldedUser
		}
		short, c := compress.ClipTokens(r.text, limit)
		writeWord(&b, oneLine(short))
		cut = c || r.images > 0
		for i, call := range r.calls {
			b.WriteString(" [call " + callRef(a, i) + "]")
			writeWord(&b, shortName(call.Name))
			short, c := compress.ClipTokens(call.Arguments, foldedCall)
			writeWord(&b, oneLine(short))
			cut = cut || c
		}
	}
	if cut {
		b.WriteString(" · " + a.path())
	}
	b.WriteByte('\n')
	return b.String(), cut
}

// askedBy returns the arguments of the first call that the record at a place answers; "" where they are not known.
func askedBy(m Records, at int, r saying) string {
	a, log := addressOf(m, at), m
	if t, ok := m.(*timeline); ok {
		log = t.log(a)
	}
	call := int(log.At(a.n).CallOf)
	if call == 0 || len(r.answers) == 0 {
		return ""
	}
	if a.event {
		asked, _ := eventCall(log, call) // the line can do without
		return asked.Arguments
	}
	calls, _ := callsAt(log, call)
	return calls.arguments(r.answers[0].Call)
}

// writeSpeaker writes who says what the record at a place says: " user", " tool run_tests".
func writeSpeaker(b *strings.Builder, m Records, at int, r saying) {
	switch {
	case r.result:
		b.WriteString(" tool")
		writeWord(b, shortName(r.name))
	case addressOf(m, at).event:
		b.WriteString(" tool_call")
	default:
		b.WriteString(" " + m.At(at).Role.String())
		writeWord(b, shortName(r.name))
	}
}

// callRef is how a pack names a call of the record at an address, counted from 0.
func callRef(a address, call int) string {
	if a.event {
		return a.String()
	}
	return fmt.Sprintf("%s.%d", a, call+1)
}

// How much of a record stands in a line, and how much of it is looked at.
const (
	longText = 64 << 10

	foldedResult = 30  // tokens of a tool's output
	foldedText   = 160 // of what an assistant said
	foldedCall   = 160 // of the arguments of a call

	foldedUser = 160 // of a request
)
