package openhands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

var Format = &adapter.Format{
	Name:  adapter.OpenHandsName,
	Title: "OpenHands conversation (events: JSONL, an array, or a file each)",
	Notes: []string{"PauseEvent", "TokenEvent", "LLMCompletionLogEvent", "ConversationStateUpdateEvent",
		"recall", "change_agent_state", "condensation_request", "loop_recovery", "task_tracking_state", "null",
		"agent_state_changed", ".message", ".summary", ".observation", ".args.agent_class", ".args.openhands_version",
		".args.impl_source", ".args.confirmation_state"},
	Sniff:  sniffOpenHands,
	Import: importOpenHands,
	Export: exportOpenHands,
}

// openHandsKinds are the kinds of the events of the software-agent-sdk.
var openHandsKinds = []string{"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent",
	"UserRejectObservation", "AgentErrorEvent",
	"Condensation*", "PauseEvent", "TokenEvent", "LLMCompletionLogEvent", "Conversation*"}

var openHandsFile = lazy.Regexp(`^event-(\d+)-.*\.json$`)

func sniffOpenHands(name string, head []byte) int {
	s := adapter.ShapeOf(head)
	for _, p := range []string{"$", "$[]"} {
		switch {
		case !s.Says(p+".source", "agent", "user", "environment"):
		case s.Says(p+".kind", openHandsKinds...):
			return 95
		case openHandsFile().MatchString(path.Base(name)):
			return 90
		case len(s.Strings[p+".action"])+len(s.Strings[p+".observation"]) > 0 &&
			s.Has(p+".args", p+".extras", p+".cause"):
			return 80
		}
	}
	return 0
}

func importOpenHands(in *adapter.Input, out adapter.Output) error {
	data, err := io.ReadAll(in.R)
	if err != nil {
		return err
	}
	h := &openHandsReader{Emitter: adapter.NewEmitter(in, out, adapter.OpenHandsName), lines: adapter.Counter{}, ids: map[string]bool{},
		calls: map[string]adapter.SourceRecord{}, responses: map[string]bool{}, names: map[string]string{}}
	doc, err := adapter.ReadDocument(bytes.NewReader(data))
	if err != nil {
		return err
	}
	switch {
	case len(doc.Bytes) == 0:
		return nil
	case doc.Problem == "" && json.Valid(doc.Bytes) && doc.Bytes[0] != '[':
		if err := h.line(adapter.Line{N: 1, Bytes: doc.Bytes}, fileNumber(in.Name)); err != nil {
			return err
		}
	case doc.Problem == "" && doc.Bytes[0] == '[':
		if err := h.array(doc); err != nil {
			return err
		}
	default:
		lines := adapter.NewLines(bytes.NewReader(data))
		for at := 0; ; at++ {
			line, err := lines.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if err := h.line(line, at); err != nil {
				return err
			}
		}
	}
	return h.flush()
}

// fileNumber is the place of an event that has a file of its own.
func fileNumber(name string) int {
	m := openHandsFile().FindStringSubmatch(path.Base(name))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

type openHandsReader struct {
	*adapter.Emitter
	lines adapter.Counter
	ids   map[string]bool   // source record ids of this transcript
	names map[string]string // source record id of each event, by the event's own id

	group     []openHandsAction               // actions of one answer that are not emitted yet
	response  string                          // its id
	calls     map[string]adapter.SourceRecord // v0: the actions, by their number and the id of their call
	responses map[string]bool                 // v0: those whose usage was met
}

func (h *openHandsReader) array(doc adapter.Line) error {
	list := doc.Bytes
	if !json.Valid(list) {
		whole, lost, ok := adapter.Mended(list, 1)
		if !ok {
			return doc.Keep(h.In, h.Out, adapter.Stamp{Format: h.Format, IDs: []string{h.lines.ID(list)}, At: []int{0}}, "is not JSON")
		}
		h.Out.Loss(adapter.Loss{Where: doc.Where(), What: fmt.Sprintf("is cut off: its last %d bytes are not read; import again when it is whole", lost)})
		list = whole
	}
	var events []json.RawMessage
	if err := json.Unmarshal(list, &events); err != nil {
		return nil
	}
	first := json.RawMessage("null")
	if len(events) > 0 {
		first = events[0]
	}
	if id := "array/" + adapter.SourceID(first, 0); !h.Has("", id) {
		h.Emitted[[2]string{"", id}] = true
		s := adapter.Stamp{Format: h.Format, IDs: []string{id}, At: []int{0}}
		if err := h.Out.Record(adapter.Record{Event: true, Line: adapter.Raw(adapter.Object{{"type", adapter.Raw(h.Format + adapter.OpenHandsArray)}, {adapter.StampKey, adapter.Raw(s)}})}); err != nil {
			return err
		}
	}
	for at, e := range events {
		if err := h.line(adapter.Line{N: at + 1, Bytes: e}, at); err != nil {
			return err
		}
	}
	return nil
}

// line takes an event, or what stands in its place.
func (h *openHandsReader) line(line adapter.Line, at int) error {
	why := line.Problem
	if why == "" && (line.Bytes[0] != '{' || !json.Valid(line.Bytes)) {
		why = "is not a JSON object"
	}
	if why != "" {
		return line.Keep(h.In, h.Out, adapter.Stamp{Format: h.Format, IDs: []string{h.lines.ID(line.Bytes)}, At: []int{at}}, why)
	}
	o, err := adapter.ParseObject(line.Bytes)
	if err != nil {
		return err
	}
	isV0 := !o.Has("kind") && (o.Has("action") || o.Has("observation"))
	id := sourceName(o.Get("id"))
	switch {
	case id == "":
		id = h.lines.ID(line.Bytes)
	case isV0 || !isPlainID(id): // its events are numbered from 0 in every conversation
		id += "/" + h.lines.ID(line.Bytes)
	case h.ids[id]:
		if id += "/" + h.lines.ID(line.Bytes); !h.Has("", id) {
			h.Out.Loss(adapter.Loss{Where: line.Where(), What: "the id of the event comes twice; both are kept"})
		}
	}
	if !isPlainID(id) {
		id = h.lines.ID(line.Bytes)
	}
	h.ids[id] = true
	h.names[sourceName(o.Get("id"))] = id
	src := adapter.SourceRecord{ID: id, At: at, Raw: line.Bytes}
	if isV0 {
		return h.v0(src, o)
	}
	return h.v1(src, o)
}

// isPlainID reports whether paths and stamps can name a source record so.
func isPlainID(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == '#' || c == '.' || c == '@' || c == '>' || c == '[' {
			return false
		}
	}
	return id != "" && len(id) <= 200
}
