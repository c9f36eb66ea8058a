package notes

import "strconv"

// Record is one record as [Find] reads it.
type Record struct {
	Role    string // system, developer, user, assistant, tool; "event" of a record of events.jsonl
	Type    string // of an event: its type
	Text    string // what it says, decoded; of a result its output; of an event that is no tool's the record itself
	Tool    string // of a result: the tool's name
	Result  bool
	Failed  bool
	Calls   []Call
	Answers []Answer     // in a result: the output of each call
	Replies []UserAnswer // in a result: the user's answers to a question tool
	Bytes   int          // size of the full text (Text may hold only both ends); 0: len(Text)
}

// Call is a call of a tool.
type Call struct {
	Name, Arguments string
	ID              string // by which its answer names it
}

// Answer is what a result says to one call.
type Answer struct {
	Call, Tool, Text string // Call is the id of the call
	Failed           bool
}

// FindVersion is raised with whatever makes Find return other findings for the same record, or
// [State] read them in another way. Findings of another version are of no use.
const FindVersion = 15

// FindingKind is what a finding is. Kinds are letters, since findings are kept on disk.
type FindingKind string

// The kinds of findings.
const (
	FoundFact       FindingKind = "f" // Text is a sentence that stays true; Key what it is about
	FoundDecision   FindingKind = "d" // Text is a sentence that chooses
	FoundProposal   FindingKind = "p" // Text is a sentence that somebody may say yes to; Key the label of an option
	FoundAcceptance FindingKind = "y" // an acceptance, in the words of Text; Key the label of the option it takes
	FoundStatement  FindingKind = "s" // Text is part N of a user's message; see [UserWords]
	FoundTodo       FindingKind = "t" // Text is an item, State how far it is
	FoundFile       FindingKind = "r" // Path and State of a file
	FoundOutput     FindingKind = "o" // an output of N bytes
	FoundReply      FindingKind = "w" // Text is a tool's question and the user's answer; Key has the words of the question
	FoundRequest    FindingKind = "q" // Text is the first sentence of a request
	FoundConclusion FindingKind = "c" // Text is a sentence that concludes
	FoundFailure    FindingKind = "x" // a call of Tool failed
)

// Finding is one thing that a record says. It is JSON with short keys; what they mean goes with
// [FindVersion].
type Finding struct {
	Kind  FindingKind `json:"k"`
	Text  string      `json:"t,omitempty"`
	Key   string      `json:"s,omitempty"` // of a reply the words of its question; of an item its number; of a proposal its label
	Path  string      `json:"p,omitempty"` // of an item: the call that created it; of an event's statement: the source it names
	State string      `json:"w,omitempty"`
	Tool  string      `json:"l,omitempty"`
	N     int         `json:"n,omitempty"` // bytes of an output; of an item for how many requests it counts, 0: for ever; of a statement its index
}

// Position is where a record stands: line Line, from 1, of messages.jsonl or of events.jsonl.
type Position struct {
	Event bool
	Line  int // from 1
}

// Source returns the record's source string: "messages:12", "events:7".
func (p Position) Source() string {
	if p.Event {
		return "events:" + strconv.Itoa(p.Line)
	}
	return "messages:" + strconv.Itoa(p.Line)
}

// id returns a row's id: "f12", "f12.2" of the second of a record, "fe7" of an event's.
func (p Position) id(letter string, n int) string {
	if p.Event {
		letter += "e"
	}
	id := letter + strconv.Itoa(p.Line)
	if n > 1 {
		id += "." + strconv.Itoa(n)
	}
	return id
}
