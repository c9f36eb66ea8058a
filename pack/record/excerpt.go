package record

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Excerpt is what a record says, whatever its form.
type Excerpt struct {
	Asked   Answers // the calls that a result answers
	Text    string  // of its content or, of a result, its output
	Name    string  // of the tool that a result is from
	Calls   []ctxabi.Call
	Answers []derived.Answer     // of a result
	Replies []derived.UserAnswer // of a result: what the user answered by it
	Exit    string               // of a result that is an event: its exit code
	Bytes   int                  // of the whole text, of which this may be both ends
	Result  bool
	Failed  bool
	images  int
}

// Whole is all of it.
func (s *Excerpt) Whole() string {
	if len(s.Calls) == 0 {
		return s.Text
	}
	var b strings.Builder
	b.WriteString(s.Text)
	for _, c := range s.Calls {
		b.WriteString("\n" + c.Name + " " + c.Arguments)
	}
	return b.String()
}

// Said returns what the user says by the answers to a question tool, each in one line.
func (s *Excerpt) Said() (lines []string) {
	for _, r := range s.Replies {
		lines = append(lines, r.String())
	}
	return lines
}

// ExcerptOf reads the record at a place. Of a text that is very long, both ends are given.
// It returns ctxabi.ErrIO when a record cannot be read.
func ExcerptOf(m Records, at int) (Excerpt, error) { return read(m, at, true) }

// WordsOf is ExcerptOf for Text and Calls alone: it reads no call that a result answers.
// It returns ctxabi.ErrIO when the record cannot be read.
func WordsOf(m Records, at int) (Excerpt, error) { return read(m, at, false) }

// read is ExcerptOf, or without answers WordsOf.
func read(m Records, at int, answers bool) (Excerpt, error) {
	a := AddressOf(m, at)
	log := m
	if t, ok := m.(*Merged); ok {
		log = t.Log(a)
	}
	raw, err := log.Record(a.Line)
	if err != nil {
		return Excerpt{}, Unreadable(a, err)
	}
	if a.Event {
		return eventExcerpt(log, a.Line, raw, answers)
	}
	e := log.At(a.Line)
	msg := ctxabi.DecodeMessage(raw)
	if e.Flags&ctxabi.Damaged != 0 {
		msg = ctxabi.Message{Text: strings.ToValidUTF8(string(raw), "\uFFFD")}
	}
	s := Excerpt{Text: msg.Text, Name: msg.Name, Calls: msg.Calls, Result: IsResult(e), images: msg.Images}
	for i, r := range msg.Results {
		if i > 0 || s.Text != "" {
			s.Text += "\n"
		}
		s.Text += r.Text
		s.Failed = s.Failed || r.IsError
	}
	if s.Result && answers {
		var answered Answers
		if e.CallOf > 0 {
			if answered, err = CallsAt(log, int(e.CallOf)); err != nil && s.Name == "" {
				return s, err
			}
			s.Asked = answered
		}
		results := msg.Results
		if len(results) == 0 {
			results = []ctxabi.Result{{CallID: msg.CallID, Text: msg.Text}}
		}
		for _, r := range results {
			s.Answers = append(s.Answers, derived.Answer{Call: r.CallID, Tool: cmp.Or(answered.Name(r.CallID), s.Name), Text: Ends(r.Text), Failed: r.IsError})
		}
		s.Name = cmp.Or(s.Name, s.Answers[0].Tool)
	}
	if s.Replies, err = replies(log, e, raw, s.Answers); err != nil {
		return s, err
	}
	s.Bytes, s.Text = len(s.Text), Ends(s.Text)
	return s, nil
}

// eventExcerpt is read for the record raw of a line of events.jsonl.
func eventExcerpt(log Records, line int, raw []byte, answers bool) (Excerpt, error) {
	ev, ok := ctxabi.DecodeToolEvent(raw)
	if !ok {
		ev.Text = strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	s := Excerpt{Text: ev.Text, Name: ev.Name, Result: ev.IsResult, Failed: ev.Failed || ev.ExitCode != "" && ev.ExitCode != "0", images: ev.Images, Exit: ev.ExitCode}
	if !ev.IsResult {
		s.Calls = []ctxabi.Call{{ID: ev.CallID, Name: ev.Name, Arguments: ev.Arguments}}
	} else if call := int(log.At(line).CallOf); answers && call > 0 {
		asked, err := EventCall(log, call)
		if err != nil && s.Name == "" {
			return s, err
		}
		s.Name = cmp.Or(s.Name, asked.Name)
		s.Asked = Answers{call, []ctxabi.Call{{ID: ev.CallID, Name: asked.Name, Arguments: asked.Arguments}}}
	}
	if s.Result {
		s.Answers = []derived.Answer{{Call: ev.CallID, Tool: s.Name, Text: s.Text, Failed: ev.Failed}}
	}
	s.Bytes, s.Text = len(s.Text), Ends(s.Text)
	return s, nil
}

// Ends returns both ends of a text that is very long, with "…" between them.
func Ends(text string) string {
	if len(text) <= LongText {
		return text
	}
	return strings.ToValidUTF8(text[:LongText/2]+"\n…\n"+text[len(text)-LongText/2:], "\uFFFD")
}

// Fold is the record at a place in as much as stands of it when it is folded, and whether that is less than all:
//
//	## 96 assistant (folded) I will run the tests. [call 96.1] run_tests {"path":"./..."}
//	## 97 tool run_tests (folded) 212 passed, 1 failed TestRefreshExpired auth/refresh_test.go:41 · context/line/97.txt
//
// If as is not empty, it is the address of a folded record with equal results, which the line names instead:
//
//	## 53 tool bash (folded) the same as 57 · context/line/53.txt
func Fold(m Records, at int, r Excerpt, as string) (text string, cut bool) {
	a := AddressOf(m, at)
	e := m.At(at)
	var b strings.Builder
	b.WriteString("## " + a.String())
	b.WriteString(Speaker(m, at, r))
	b.WriteString(" (folded)")
	if r.Failed {
		b.WriteString(" (error)")
	}
	switch {
	case r.Result && as != "":
		b.WriteString(" the same as " + as)
		cut = true
	case r.Result && compress.IsSubAgent(r.Name):
		WriteWord(&b, OneLine(compress.Conclusion(r.Text, 2*FoldedResult)))
		cut = true
	case r.Result:
		WriteWord(&b, OneLine(foldResults(r)))
		cut = true
	default:
		limit := foldedText
		if IsUser(e) {
			limit = foldedUser
		}
		short, c := compress.ClipTokens(r.Text, limit)
		WriteWord(&b, OneLine(short))
		cut = c || r.images > 0
		for i, call := range r.Calls {
			b.WriteString(" [call " + CallRef(a, i) + "]")
			WriteWord(&b, ShortName(call.Name))
			arguments, shortened := toolcall.Shortened(call.Arguments, foldedCall, a.Path())
			short, c := compress.ClipTokens(arguments, foldedCall)
			c = c || shortened
			WriteWord(&b, OneLine(short))
			cut = cut || c
		}
	}
	if cut {
		b.WriteString(" · " + a.Path())
	}
	b.WriteByte('\n')
	return b.String(), cut
}

// foldResults returns the line of the results in a record, each by its kind.
func foldResults(r Excerpt) string {
	if len(r.Answers) == 0 {
		return cmp.Or(compress.Fold(r.Text, FoldedResult), NothingGiven)
	}
	var parts []string
	for _, a := range r.Answers {
		about := result.Hint{Tool: cmp.Or(r.Asked.Name(a.Call), a.Tool), Args: r.Asked.Arguments(a.Call), IsError: a.Failed || len(r.Answers) == 1 && r.Failed}
		size := len(a.Text)
		if len(r.Answers) == 1 {
			size = r.Bytes
		}
		parts = append(parts, cmp.Or(result.Fold(a.Text, about, size, FoldedResult), NothingGiven))
	}
	return strings.Join(parts, compress.FoldJoin)
}

// Speaker returns the author of the record at a place as headings name it: " user", " tool run_tests".
func Speaker(m Records, at int, r Excerpt) string {
	var b strings.Builder
	switch {
	case r.Result:
		b.WriteString(" tool")
		WriteWord(&b, ShortName(r.Name))
	case AddressOf(m, at).Event:
		b.WriteString(" tool_call")
	default:
		b.WriteString(" " + m.At(at).Role.String())
		WriteWord(&b, ShortName(r.Name))
	}
	return b.String()
}

// CallRef is how a pack names a call of the record at an address, counted from 0.
func CallRef(a Address, call int) string {
	if a.Event {
		return a.String()
	}
	return fmt.Sprintf("%s.%d", a, call+1)
}

// How much of a record stands in a line, and how much of it is looked at.
const (
	LongText = 64 << 10

	FoldedResult = 30  // tokens of a tool's output
	foldedText   = 160 // of what an assistant said
	foldedCall   = 160 // of the arguments of a call

	foldedUser = 160 // of a request
)
