package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed workspace.txtar
var workspace []byte

// scene is a session in the making and the workspace it happens in.
type scene struct {
	messages, events bytes.Buffer

	files map[string]string // by path, as they are at this moment
	now   time.Time
	rng   *rand.Rand
	n     int // messages so far
	calls int
	used  int // tokens of the prompt, roughly, for usage events
}

func newScene() *scene {
	s := &scene{
		files: map[string]string{},
		now:   time.Date(2026, 3, 10, 9, 2, 11, 0, time.UTC),
		rng:   rand.New(rand.NewPCG(20260310, 9)),
		used:  900,
	}
	for _, f := range txtar.Parse(workspace).Files {
		s.files[f.Name] = string(f.Data)
	}
	s.event("state", "state", "active")
	return s
}

// message is one record, its fields in the order in which they are written.
type message struct {
	ID      string     `json:"id"`
	TS      string     `json:"ts"`
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
	Name    string     `json:"name,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// pass moves the clock on by min to max seconds.
func (s *scene) pass(min, max int) {
	s.now = s.now.Add(time.Duration(min+s.rng.IntN(max-min+1)) * time.Second)
}

func (s *scene) write(m message) {
	s.n++
	m.ID, m.TS = fmt.Sprintf("m%03d", s.n), s.now.Format(time.RFC3339)
	line(&s.messages, m)
	if m.Content != nil {
		s.used += len(*m.Content) / 4
	}
}

func line(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
}

// user adds a message of the user, after a while.
func (s *scene) user(text string) {
	s.pass(40, 400)
	s.write(message{Role: "user", Content: &text})
}

// say is an answer that calls no tool.
func (s *scene) say(text string) {
	s.pass(4, 20)
	s.usage(text)
	s.write(message{Role: "assistant", Content: &text})
}

// call is a tool call whose result is known when it is made.
type call struct {
	name   string
	args   map[string]any
	result string
	failed bool
}

// do is an answer that calls tools, all at once; text may be empty. The results follow in order.
func (s *scene) do(text string, calls ...call) {
	s.pass(3, 15)
	m := message{Role: "assistant"}
	if text != "" {
		m.Content = &text
	}
	for _, c := range calls {
		s.calls++
		t := toolCall{ID: fmt.Sprintf("call_%04d", s.calls), Type: "function"}
		t.Function.Name = c.name
		var b bytes.Buffer
		line(&b, c.args)
		t.Function.Arguments = string(bytes.TrimSpace(b.Bytes()))
		m.Calls = append(m.Calls, t)
	}
	s.usage(text)
	s.write(m)
	for i, c := range calls {
		s.pass(0, 6)
		s.write(message{Role: "tool", CallID: m.Calls[i].ID, Name: c.name, Content: &c.result})
		if c.failed {
			s.event("error", "tool", c.name, "call", m.Calls[i].ID)
		}
	}
}

// usage notes what the model call cost.
func (s *scene) usage(text string) {
	line(&s.events, map[string]any{
		"type": "usage", "ts": s.now.Format(time.RFC3339),
		"input_tokens": s.used, "cached_tokens": s.used * 9 / 10, "output_tokens": 40 + len(text)/4,
	})
}

// event notes one event with the given keys and values.
func (s *scene) event(kind string, kv ...string) {
	e := map[string]any{"type": kind, "ts": s.now.Format(time.RFC3339)}
	for i := 0; i+1 < len(kv); i += 2 {
		e[kv[i]] = kv[i+1]
	}
	line(&s.events, e)
}

// decide notes a decision that the last message made.
func (s *scene) decide(text string) {
	s.event("decision", "text", text, "source", fmt.Sprintf("messages:%d", s.n))
}
