package native

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Format is the form in which a provider takes a conversation.
type Format string

// The formats.
const (
	OpenAI    Format = "openai"    // Chat Completions: messages, tools
	Anthropic Format = "anthropic" // Messages: system, messages, tools
	Responses Format = "responses" // OpenAI's Responses: input, tools
	Gemini    Format = "gemini"    // generateContent over HTTP: systemInstruction, contents, tools
	GenAI     Format = "genai"     // generateContent of Google's Gen AI SDK: contents, and config with the rest
)

// Formats are all of them.
var Formats = []Format{OpenAI, Anthropic, Responses, Gemini, GenAI}

// The native renderings are made in three steps.
//
//	what pack.md shows ──► script ──► dialogue ──► the provider's JSON
//
// The script (script.go) knows of each record only what its parts are, and
// puts calls and results together; it is made with every pack, because the repairs that it makes
// are reported, and because a pack must be folded so that every rendering fits. The texts are read again and
// put in (dialogue.go) when somebody asks for a rendering.

// Prompt is what a build keeps for its native renderings. It never changes but for what was made.
type Prompt struct {
	Script   *Script
	Head     []Head // blocks before the journal that have the system's role, with content
	Quoted   string // the blocks before the journal that have a label, with their marks
	Messages []Message
	Footer   Footer // the blocks after the journal without and with a label
	Tools    Tools
	Limit    int // of tokens; 0: none
	Counter  *tokens.Counter
	Bound    int // of tokens, by [native.count]; see script.bound

	mu   sync.Mutex
	made map[Format][]byte // guarded by mu
}

// MessageTokens is what a message costs beside its content.
const MessageTokens = 4

// Logs returns both logs of a session, as they were when a build was made or longer.
type Logs func() (messages, events record.Records, err error)

// Body is the rendering in a format, made when it is asked for first.
// It returns errors as [Prompt.Render] does.
func (n *Prompt) Body(f Format, logs Logs) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.keep(f, n, f, logs)
}

// RequestBody is the rendering in a format with a request as the last turn of the user instead of
// the footer, and without a choice of tools. Without talk it omits the conversation except for its
// leading system records. It exceeds the limit by the request at most. All calls have the same
// request and talk.
// It returns errors as [Prompt.Render] does.
func (n *Prompt) RequestBody(f Format, request string, talk bool, logs Logs) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := &Prompt{Script: n.Script, Head: n.Head, Quoted: n.Quoted, Messages: n.Messages, Tools: n.Tools, Limit: n.Limit,
		Counter: n.Counter, Footer: Footer{Request: request}}
	if !talk {
		lead := *n.Script
		lead.Turns = slices.DeleteFunc(slices.Clone(lead.Turns), func(t Turn) bool { return !t.lead })
		q.Script = &lead
	}
	return n.keep("request "+f, q, f, logs)
}

// keep returns the rendering that n keeps under a key, and makes it from p if there is none.
func (n *Prompt) keep(key Format, p *Prompt, f Format, logs Logs) ([]byte, error) {
	if data, ok := n.made[key]; ok {
		return data, nil
	}
	data, _, err := p.Render(f, logs)
	if err != nil {
		return nil, err
	}
	if n.made == nil {
		n.made = map[Format][]byte{}
	}
	n.made[key] = data
	return data, nil
}

// Size is about how many bytes of memory n holds.
func (n *Prompt) Size() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	size := n.Script.size() + len(n.Quoted) + len(n.Footer.System) + len(n.Footer.Quoted) + int(unsafe.Sizeof(Head{}))*len(n.Head)
	for _, data := range n.made {
		size += len(data)
	}
	return size
}

// size is about how many bytes s takes. The texts of records are not its own.
func (s *Script) size() int {
	n := len(s.Lines)*int(unsafe.Sizeof(Line{})) + len(s.Turns)*int(unsafe.Sizeof(Turn{})) + len(s.Repairs)*128
	for i := range s.Turns {
		for k := range s.Turns[i].Slots {
			n += int(unsafe.Sizeof(Slot{})) + len(s.Turns[i].Slots[k].front) + len(s.Turns[i].Slots[k].refused)
		}
	}
	return n
}

// Render makes a rendering. Units of stable are parts of messages in their order, those of the
// system prompt first.
// It returns ctxabi.ErrOverBudget when the rendering does not fit, ctxabi.ErrIO when a record cannot
// be read, and an error for an unknown format.
func (n *Prompt) Render(f Format, logs Logs) (data []byte, stable Stable, err error) {
	messages, events, err := logs()
	if err != nil {
		return nil, stable, err
	}
	talk, err := n.Dialogue(messages, events)
	if err != nil {
		return nil, stable, err
	}
	if n.Limit > 0 && n.Bound > n.Limit { // the bound is a little high
		if count := n.Count(talk); count > n.Limit {
			return nil, stable, ctxabi.E("pack", string(f), ctxabi.ErrOverBudget,
				"the native renderings would take %d of %d tokens, of which %d are definitions of tools; raise %s", count, n.Limit, n.Tools.Tokens(n.Counter), ctxabi.BudgetFile)
		}
	}
	if _, known := providerOf[f]; known {
		talk.withoutRefused(providerOf[f])
	}
	tools := n.Tools
	switch f {
	case OpenAI:
		data, stable = talk.openAI(tools)
	case Anthropic:
		data, stable = talk.anthropic(tools)
	case Responses:
		data, stable = talk.responses(tools)
	case Gemini, GenAI:
		var body object
		if body, stable = talk.gemini(tools); f == GenAI {
			body = genAI(body)
		}
		data = writeBody(body)
	default:
		return nil, stable, fmt.Errorf("there is no native rendering %q", f)
	}
	return data, stable, nil
}

// Count returns the tokens of a dialogue, at least as many as any rendering has: its texts, the
// names and arguments of calls, its images by an estimate, the definitions of tools, and 4 for each item of a list of messages.
func (n *Prompt) Count(talk *Dialogue) int {
	total := ExtraDialogue + n.Tools.Tokens(n.Counter)
	if f := talk.footer; f != (Footer{}) {
		total += QuoteTokens + n.Counter.CountCached(f.System) + n.Counter.CountCached(f.Quoted)
	}
	for _, h := range talk.head {
		total += MessageTokens + n.Counter.CountCached(h.Text)
	}
	for _, m := range talk.turns {
		for _, p := range m.parts {
			text := n.Counter.CountCached(p.text)
			if p.kind == record.CallPortion {
				var b bytes.Buffer
				writeCompact(&b, argumentsObject(p.text))
				text = max(text, n.Counter.CountCached(b.String()))
			}
			if p.raw != nil && p.kind != record.ThoughtPortion { // the item may stand as it is
				text = max(text, n.Counter.CountCached(string(p.raw)))
			}
			for _, im := range p.images {
				total += im.Tokens()
			}
			if p.beside != nil {
				total += n.Counter.CountCached(string(p.beside.Extra)) + n.Counter.CountCached(p.beside.Signature)
			}
			total += MessageTokens + text + n.Counter.CountCached(p.name) + n.Counter.CountCached(p.words)
		}
	}
	return total
}

// Message is one message as a model is sent it.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}
