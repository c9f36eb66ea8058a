package gemini

import (
	"bytes"
	"io"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// Format is a chat of Gemini CLI, ~/.gemini/tmp/<project>/chats/session-*.jsonl.
//
// A line is the head of the chat, a message, what changes of the head ({"$set": …}, which may bring
// all messages anew), or {"$rewindTo": id}. A message that has grown is written again under its id:
// the last one counts. Earlier versions kept one document with all messages, session-*.json.
var Format = &adapter.Format{
	Name:   cliName,
	Title:  "Gemini CLI chat (JSONL, JSON)",
	Notes:  []string{"info", "error", "warning", ".summary"},
	Sniff:  sniffCLI,
	Import: importCLI,
	Export: exportCLI,
}

const cliName = "gemini"

func sniffCLI(_ string, head []byte) int {
	if h := bytes.TrimSpace(head); len(h) == 0 || h[0] != '{' {
		return 0
	}
	s := adapter.ShapeOf(head)
	switch {
	case s.Has("$.sessionId") && s.Has("$.projectHash"):
		return 100
	case s.Has("$.$set", "$.$rewindTo"), s.Says("$.type", "gemini") && s.Has("$.id"):
		return 90
	}
	return 0
}

func importCLI(in *adapter.Input, out adapter.Output) error {
	data, err := io.ReadAll(in.R)
	if err != nil {
		return err
	}
	r := &reader{Emitter: adapter.NewEmitter(in, out, cliName), counter: adapter.Counter{}}
	r.Earlier = adapter.NewLifter()
	doc, err := adapter.ReadDocument(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if isDocument(doc) {
		return r.document(doc)
	}
	return r.lines(data)
}
