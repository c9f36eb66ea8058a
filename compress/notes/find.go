package notes

import (
	pathpkg "path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Bounds of what is found in one record.
const (
	largeOutput  = 4 << 10 // from so many bytes on an output is a ref
	maxFacts     = 24      // of one record
	maxDecisions = 8
	maxProposals = 8
	failureTail  = 400 // bytes at the end of an output that may say that it failed
)

// asksWhich are phrases that ask without a question mark.
var asksWhich = phraseSet("asksWhich")

// finder reads one record.
type finder struct {
	role      string
	out       []Finding
	facts     int // how many were found
	decisions int
	proposals []Finding
	asks      bool // its last sentence is a question
	first     bool // nothing was said yet
	actOn     bool // the text asks which of its options to carry out
	accepted  bool // it began with a yes
	text      string

	yes        int    // index in out of the acceptance
	stated     int    // index in out of the previous sentence's statement; -1: none
	statedText string // the previous sentence
}

// Find returns what one record says that notes are made of: sentences verbatim, with single
// blanks. It knows that record alone, and returns the same for the same. It reads no facts and
// no decisions in the output of a tool, which is what stands in some file, not what somebody
// wants. A system prompt has no findings: it is in every pack as it stands.
func Find(s Record) []Finding {
	if s.Bytes == 0 {
		s.Bytes = len(s.Text)
	}
	f := finder{role: s.Role, first: true, stated: -1}
	size := s.Bytes
	for i, c := range s.Calls {
		size += len(c.Arguments)
		if i < maxFiles {
			f.out = append(f.out, fileCall(c)...)
			f.out = append(f.out, todoCall(c)...)
			f.out = append(f.out, taskCall(c)...)
		}
	}
	switch {
	case s.Result:
		for _, a := range s.Answers[:min(len(s.Answers), maxFiles)] {
			f.out = append(f.out, taskAnswer(a)...)
		}
		f.replied(s.Replies)
		f.result(s)
	case s.Role == "event":
		switch {
		case strings.Contains(s.Type, "todo") || strings.Contains(s.Type, "plan"):
			f.out = append(f.out, todoEvent(s.Text)...)
		case strings.Contains(s.Type, "artifact"):
			f.out = append(f.out, artifactEvent(s.Text)...)
		case statedKind(s.Type) != "":
			f.out = append(f.out, statedEvent(statedKind(s.Type), s.Text)...)
		}
	case s.Role == "user":
		f.attached(s)
		parts, _ := UserWords(s.Text)
		s.Text = WithoutMemory(withoutOwn(OwnWords(s.Text)))
		f.read(s.Text)
		f.statements(parts)
	case s.Role == "assistant" && !noAnswer(s.Text):
		f.read(WithoutMemory(s.Text))
	}
	if len(f.out) > 0 {
		f.out[0].Of = size
	}
	return f.out
}

// attached notes a file or directory that a program attached, and any large attachment.
func (f *finder) attached(s Record) {
	kind, name, ok := ctxabi.ParseAttached(s.Text)
	if !ok {
		return
	}
	state, isFile := map[string]string{"file": fileRead, "directory": fileRead, "change": fileChanged}[kind]
	if isFile && isFileName(name) {
		f.out = append(f.out, Finding{Kind: FoundFile, Path: pathpkg.Clean(name), State: state})
	}
	if s.Bytes >= largeOutput {
		f.out = append(f.out, Finding{Kind: FoundOutput, N: s.Bytes})
	}
}

// result notes an output that is large, and one that reports a failure.
func (f *finder) result(s Record) {
	if s.Bytes >= largeOutput {
		f.out = append(f.out, Finding{Kind: FoundOutput, Tool: s.Tool, N: s.Bytes})
	}
	tail := s.Text[max(0, len(s.Text)-failureTail):]
	if !s.Failed && !saysFailed(tail) {
		return
	}
	text := strings.ToValidUTF8(s.Text[max(0, len(s.Text)-4096):], "")
	state := ""
	if s.Failed {
		state = "e"
	}
	if line := compress.Clip(compress.Fold(text, 40), 200); line != "" {
		f.out = append(f.out, Finding{Kind: FoundFailure, Tool: s.Tool, Text: line, State: state})
	}
}

// saysFailed reports whether the end of an output is about a failure, in the words of shells,
// compilers and test runners.
func saysFailed(tail string) bool {
	for _, mark := range []string{"exited with code ", "exit code: ", "exit status ", "Exit code "} {
		if i := strings.LastIndex(tail, mark); i >= 0 && i+len(mark) < len(tail) && tail[i+len(mark)] != '0' {
			return true
		}
	}
	return strings.Contains(tail, "Traceback (most recent call last)") || strings.Contains(tail, "npm ERR!") || strings.Contains(tail, "\nFAIL") || strings.Contains(tail, "command not found")
}

// read notes what a person or a model says.
func (f *finder) read(text string) {
	f.text = text
	if f.role == "user" {
		if first := compress.Sentence(text, 200); strings.Contains(first, " ") { // more than "continue"
			f.out = append(f.out, Finding{Kind: FoundRequest, Text: first})
		}
	}
	open, from := false, len(f.out)
	prose(text, f.say, func(text string, done bool) {
		state := todoOpen
		if done {
			state = todoDone
		}
		if it, ok := item(text, state); ok && f.items() < maxItems {
			open = open || !done
			f.out = append(f.out, it)
		}
	})
	for i := from; i < len(f.out) && !open; i++ {
		if it := &f.out[i]; it.Kind == FoundTodo && it.State == todoDone {
			it.State = todoTicked
		}
	}
	if f.role == "assistant" {
		f.propose()
		if said := compress.Decision(text, 200); said != "" {
			f.out = append(f.out, Finding{Kind: FoundConclusion, Text: said})
		}
	}
}

// maxStatements is the number of statements of a message that later ones may change.
const maxStatements = 64

// statements notes the parts of a user's message.
func (f *finder) statements(parts []string) {
	for i, part := range parts[:min(len(parts), maxStatements)] {
		if part != leftOutMark {
			f.out = append(f.out, Finding{Kind: FoundStatement, Text: compress.Clip(part, maxStatement), N: i})
		}
	}
}

// items returns how many items were found.
func (f *finder) items() (n int) {
	for i := range f.out {
		if f.out[i].Kind == FoundTodo {
			n++
		}
	}
	return n
}

// say notes one sentence and remembers its statement, which the next sentence may limit.
func (f *finder) say(s *sentence) {
	before, first := len(f.out), f.first
	f.find(s)
	switch {
	case len(f.out) == before:
		if f.accepted && !first && !s.question {
			f.out[f.yes].Text += " " + s.text // "Yes. Only for staging."
		}
		f.limit(s)
		f.stated = -1
	case f.role == "user" && isOneOf(string(f.out[len(f.out)-1].Kind), string(FoundFact), string(FoundDecision)):
		f.stated, f.statedText = len(f.out)-1, s.text
	default:
		f.stated = -1
	}
}

// find notes one sentence as at most one finding: an item, a rule, a choice, a preference, or a
// value.
func (f *finder) find(s *sentence) {
	accepted := f.accept(s)
	f.asks = s.question || asksWhich.has(s.words)
	if allowed, ok := f.permission(s); ok {
		if allowed.Kind != "" {
			f.out = append(f.out, allowed)
		}
		return
	}
	if it, ok := f.todo(s); ok && f.items() < maxItems {
		f.out = append(f.out, it)
		return
	}
	fact := func(found Finding, ok bool) bool {
		if ok && f.facts < maxFacts {
			f.facts++
			f.out = append(f.out, found)
		}
		return ok
	}
	if states(s) && fact(f.constraint(s)) {
		return
	}
	if d, ok := f.decision(s); ok && f.decisions < maxDecisions {
		f.decisions++
		if f.accepted && (accepted || countWords(d.Key) <= 3) { // "Yes. Please go ahead with it."
			d.State = saidYes
		}
		f.out = append(f.out, d)
		return
	}
	if states(s) && (fact(f.preference(s)) || fact(f.value(s))) {
		return
	}
	if f.role == "assistant" {
		f.actOn = f.actOn || s.question && mayI.has(s.words) && acts.has(s.words)
		if p, ok := f.proposal(s); ok {
			f.proposals = append(f.proposals, p)
		}
	}
}

// accept notes the yes at the start of a user's message. It reports whether s is that yes.
func (f *finder) accept(s *sentence) (yes bool) {
	first := f.first
	f.first = false
	label, ok := acceptance(s.words, len(f.text))
	if !first || f.role != people || !ok {
		return false
	}
	f.out = slices.DeleteFunc(f.out, func(old Finding) bool { return old.Kind == FoundRequest }) // a yes asks for nothing
	f.out = append(f.out, Finding{Kind: FoundAcceptance, Key: label, Text: s.text})
	f.yes, f.accepted = len(f.out)-1, true
	return true
}

// saidYes is the state of a decision that stands in the sentence of the yes, or only repeats it.
const saidYes = "y"

// propose keeps the proposals that a yes may mean: the last ones, and options if the record asks
// in the end.
func (f *finder) propose() {
	options := 0
	for _, p := range f.proposals {
		if p.Key != "" {
			options++
		}
	}
	kept := f.proposals[:0]
	for _, p := range f.proposals {
		if p.Key != "" && f.actOn {
			p.State = proposedAct
		}
		if p.Key == "" || options > 1 && options <= maxProposals && f.asks {
			kept = append(kept, p)
		}
	}
	f.out = append(f.out, last(kept, maxProposals)...)
}

// last returns the last n rows, or all.
func last[T any](rows []T, n int) []T { return rows[max(0, len(rows)-n):] }
