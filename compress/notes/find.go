package notes

import (
	pathpkg "path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Bounds of what is found in one record.
const (
	largeOutput   = 4 << 10 // bytes from which an output is a ref
	maxFacts      = 24
	maxDecisions  = 8
	maxProposals  = 8
	maxStatements = 64 // statements of a message that later ones may change
	maxRequest    = 200
	maxConclusion = 320 // bytes, with the reason
)

// finder reads one record.
type finder struct {
	role      string
	size      int // bytes of the message
	out       []Finding
	counts    map[FindingKind]int
	proposals []Finding
	asks      bool // its last sentence is a question
	first     bool // nothing was said yet
	actOn     bool // the text asks which of its options to carry out
	yes       int  // index in out of the acceptance; -1: none
	stated    int  // index in out of the previous sentence's statement; -1: none
}

func newFinder(role string) finder {
	return finder{role: role, first: true, yes: -1, stated: -1, counts: map[FindingKind]int{}}
}

// Find returns what one record says that notes are made of: sentences verbatim, with single
// blanks. It knows that record alone, and returns the same for the same. Outputs of tools have no
// facts and no decisions. A system prompt has no findings: it is in every pack.
func Find(s Record) []Finding {
	if s.Bytes == 0 {
		s.Bytes = len(s.Text)
	}
	f := newFinder(s.Role)
	for _, c := range s.Calls[:min(len(s.Calls), maxFiles)] {
		f.out = slices.Concat(f.out, fileCall(c), todoCall(c), taskCall(c))
	}
	switch {
	case s.Result:
		for _, a := range s.Answers[:min(len(s.Answers), maxFiles)] {
			f.out = append(f.out, taskAnswer(a)...)
		}
		f.replied(s.Replies)
		f.result(s)
	case s.Role == "event":
		f.out = append(f.out, eventFindings(s)...)
	case s.Role == people:
		f.attached(s)
		f.message(OwnWords(s.Text))
	case s.Role == models && !noAnswer(s.Text):
		list := sentencesOf(bothEnds(WithoutMemory(s.Text)))
		f.read(list)
		f.propose()
		f.conclude(list)
	}
	return f.out
}

// message adds the findings of a user's message.
func (f *finder) message(text string) {
	list := sentencesOf(text)
	parts, _ := wordsOf(list)
	if own := WithoutMemory(text); own != text {
		text, list = own, sentencesOf(own)
	}
	f.size = len(text)
	if SenseOf(text) != Idle {
		f.request(list)
	}
	f.read(list)
	for i, part := range parts[:min(len(parts), maxStatements)] {
		if part != leftOutMark {
			f.out = append(f.out, Finding{Kind: FoundStatement, Text: compress.Clip(part, maxStatement), N: i})
		}
	}
}

// attached notes a file or directory that a program attached, and any large attachment.
func (f *finder) attached(s Record) {
	kind, name, ok := ctxabi.ParseAttached(s.Text)
	if !ok {
		return
	}
	state, isFile := map[string]string{"file": toolcall.Reads, "directory": toolcall.Reads, "change": toolcall.Changes}[kind]
	if isFile && isFileName(name) {
		f.out = append(f.out, Finding{Kind: FoundFile, Path: pathpkg.Clean(name), State: state})
	}
	if s.Bytes >= largeOutput {
		f.out = append(f.out, Finding{Kind: FoundOutput, N: s.Bytes})
	}
}

// result notes a large output, and a failed call.
func (f *finder) result(s Record) {
	if s.Bytes >= largeOutput {
		f.out = append(f.out, Finding{Kind: FoundOutput, Tool: s.Tool, N: s.Bytes})
	}
	if s.Failed {
		f.out = append(f.out, Finding{Kind: FoundFailure, Tool: s.Tool})
	}
}

// request notes the first sentence of a message of the user that says something by itself. Code,
// quotations, headings, and introductions of these count only without a sentence.
func (f *finder) request(list []sentence) {
	request := ""
	for i := range list {
		s := &list[i]
		first, _ := utf8.DecodeRuneInString(s.text)
		plain := s.kind == kindSaid && (unicode.IsLetter(first) || unicode.IsDigit(first)) && isProse(s.text) && !introduces(s.text)
		if strings.Contains(s.whole, " ") && s.kind != kindPasted && (plain || request == "") {
			if request = s.whole; plain {
				break
			}
		}
	}
	if request != "" {
		f.out = append(f.out, Finding{Kind: FoundRequest, Text: compress.Clip(request, maxRequest)})
	}
}

// conclude notes the best points of a text of the assistant.
func (f *finder) conclude(list []sentence) {
	for _, p := range bestPoints(list, maxConclusion, 1) {
		f.out = append(f.out, Finding{Kind: FoundConclusion, Text: p.Text})
	}
}

// drop removes the findings of a kind.
func (f *finder) drop(kind FindingKind) {
	f.out = slices.DeleteFunc(f.out, func(old Finding) bool { return old.Kind == kind })
}

// add notes a finding, unless there are too many of its kind.
func (f *finder) add(found Finding, limit int) {
	if f.counts[found.Kind]++; f.counts[found.Kind] <= limit {
		f.out = append(f.out, found)
	}
}

// read adds the findings of sentences of a person or a model.
func (f *finder) read(list []sentence) {
	open, from := false, len(f.out)
	for i := range list {
		s := &list[i]
		if s.kind == kindBox {
			state := todoOpen
			if s.done {
				state = todoDone
			}
			if it, ok := item(s.text, state); ok && !strings.HasPrefix(s.text, "[!") {
				open = open || !s.done
				f.add(it, maxItems)
			}
		} else if s.parse() {
			f.say(s)
		}
	}
	for i := from; i < len(f.out) && !open; i++ {
		if it := &f.out[i]; it.Kind == FoundTodo && it.State == todoDone {
			it.State = todoTicked
		}
	}
}

// say notes one sentence. A sentence that limits the statement before it, or gives its reason, is
// added to that statement.
func (f *finder) say(s *sentence) {
	before, first := len(f.out), f.first
	accepts := f.accept(s)
	f.first = false
	joins := !s.question && len(s.words) <= 20 && (f.role == people && limitsIt(s.words) || givesReason(s.text))
	if f.stated < 0 || !joins || !f.join(f.stated, s.text) {
		f.find(s, accepts)
	}
	f.stated = -1
	if len(f.out) == before && f.yes >= 0 && !first && !s.question {
		f.join(f.yes, s.text) // "Yes. Only for staging."
	}
	if len(f.out) > before && isOneOf(string(f.out[len(f.out)-1].Kind), string(FoundFact), string(FoundDecision)) {
		f.stated = len(f.out) - 1
	}
}

// join adds a sentence to a finding. It returns false if both are too long for one.
func (f *finder) join(i int, text string) bool {
	if len(f.out[i].Text)+len(text) >= longSentence {
		return false
	}
	f.out[i].Text += " " + text
	return true
}

// find notes one sentence as at most one finding: a rule, a decision, a preference, a value, or a
// proposal. accepts says that it is the yes of the message.
func (f *finder) find(s *sentence, accepts bool) {
	f.asks = s.question || asksWhich.has(s.words)
	isFact := f.role == people && s.states()
	switch {
	case isFact && s.constrains():
		f.add(Finding{Kind: FoundFact, State: factRule, Text: s.text}, maxFacts)
	case s.decides(f.role):
		found := Finding{Kind: FoundDecision, Text: s.text}
		if f.yes >= 0 && (accepts || len(tokensIn(s.words)) < 4) { // "Yes. Please go ahead with it."
			found.State = saidYes
		}
		f.add(found, maxDecisions)
	case isFact && (s.prefers() && len(tokensIn(s.words)) > 0 || s.hasValue()):
		f.add(Finding{Kind: FoundFact, Text: s.text}, maxFacts)
	case f.role == people && s.number && s.first && !s.question && len(s.words) > 2:
		f.add(numberedItem(s.text), maxItems)
	case f.role == models:
		f.actOn = f.actOn || s.question && mayI.has(s.words) && acts.has(s.words)
		if p, ok := proposal(s); ok {
			f.proposals = append(f.proposals, p)
		}
	}
}

// factRule is the state of a fact that is a rule. Rules outlast other facts.
const factRule = "c"

// constrains reports whether a sentence is a standing rule about something that it names, and no
// permission.
func (s *sentence) constrains() bool {
	isReport := func(w noteWord) bool { return w.text == "only" || w.text == "must" } // "you only ran half of the tests"
	if allows.has(s.words) ||
		!s.orders() && (limits.at(s.words, 0) > 0 || slices.ContainsFunc(s.words, isReport) || !s.rules()) {
		return false
	}
	n := len(tokensIn(s.words))
	return n > 1 || s.isRun() || n > 0 && len(s.words) > 2 && !things.has(s.words)
}
