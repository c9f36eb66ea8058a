package sweagent

import (
	"bytes"
	"encoding/json"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

const (
	miniAgentName = "mini-swe-agent"
)

var Format = &adapter.Format{
	Name:  adapter.SweAgentName,
	Title: "SWE-agent trajectory (.traj)",
	Notes: []string{".query.content", ".query.content.text", ".messages.content", ".messages.content.text"},
	// the history, as each step had it
	Sniff:  sniffSWEAgent,
	Import: importSWEAgent,
	Export: exportSWEAgent,
}

var Mini = &adapter.Format{
	Name:   miniAgentName,
	Title:  "mini-swe-agent trajectory (.traj.json)",
	Sniff:  sniffMiniAgent,
	Import: importMiniAgent,
	Export: exportMiniAgent,
}

func sniffSWEAgent(name string, head []byte) int {
	s := adapter.ShapeOf(head)
	steps := s.Has("$.trajectory[].observation", "$.trajectory[].thought", "$.trajectory[].response")
	other := s.Has("$.history", "$.info", "$.environment", "$.replay_config")
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case steps, other && s.Has("$.trajectory["):
		return 95
	case strings.HasSuffix(path.Base(name), ".traj") && other:
		return 70
	}
	return 0
}

func sniffMiniAgent(name string, head []byte) int {
	s := adapter.ShapeOf(head)
	info := s.Has("$.info.mini_version", "$.info.model_stats.instance_cost", "$.info.model_stats.api_calls")
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case s.Says("$.trajectory_format", "mini-swe-agent*"), s.Says("$.info.trajectory_format", "mini-swe-agent*"):
		return 100
	case info && (s.Has("$.info.exit_status") || strings.HasSuffix(name, ".traj.json")):
		return 95
	}
	return 0
}

// sweReader imports a trajectory: a document with lists of messages, and of steps that repeat them.
type sweReader struct {
	*adapter.Emitter
	doc   *adapter.Tree
	o     adapter.Object
	lists adapter.Object
}

// newSWEReader reads the document; nil is one of which nothing can be read.
func newSWEReader(in *adapter.Input, out adapter.Output, format string) (*sweReader, error) {
	doc, err := adapter.ReadDocument(in.R)
	if err != nil || len(doc.Bytes) == 0 {
		return nil, err
	}
	raw, err := adapter.ReadObject(in, out, format, doc)
	if err != nil || raw == nil {
		return nil, err
	}
	o, err := adapter.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	return &sweReader{Emitter: adapter.NewEmitter(in, out, format), doc: &adapter.Tree{Raw: raw}, o: o}, nil
}

// take takes the list at key out of the document.
func (r *sweReader) take(key string) []adapter.SourceRecord {
	if !adapter.IsArray(r.o.Get(key)) {
		return nil
	}
	r.doc.Cut(key)
	ids, count := []string{}, adapter.Counter{}
	var sources []adapter.SourceRecord
	for i, raw := range r.o.Array(key) {
		id := key[:1] + count.ID(raw)
		ids, sources = append(ids, id), append(sources, adapter.SourceRecord{ID: id, At: i, Raw: raw})
	}
	r.lists = append(r.lists, adapter.Field{key, adapter.Raw(ids)})
	return sources
}

func importSWEAgent(in *adapter.Input, out adapter.Output) error {
	r, err := newSWEReader(in, out, adapter.SweAgentName)
	if err != nil || r == nil {
		return err
	}
	history, steps := r.take("history"), r.take("trajectory")
	if err := r.Document("", nil, r.doc, r.lists); err != nil {
		return err
	}
	r.Common = adapter.NewLifter()
	for _, src := range history {
		r.Common.Add("@"+src.ID, src.Raw)
		if err := r.said(src); err != nil {
			return err
		}
	}
	for i, src := range steps {
		if len(history) == 0 {
			if err := r.step(src, i == 0); err != nil {
				return err
			}
			continue
		}
		if !r.Has("", src.ID) { // what it says stands in the history
			if err := r.Event("", adapter.Object{{"type", adapter.Raw(adapter.SweAgentName + "/step")}}, src); err != nil {
				return err
			}
		}
		r.Common.SetBase(src.ID, src.Raw, "query", "messages")
	}
	return nil
}

// said takes a message of the history.
func (r *sweReader) said(src adapter.SourceRecord) error {
	if r.Has("", src.ID) {
		return nil
	}
	o, err := adapter.ParseObject(src.Raw)
	record := sweMessage(o)
	if err != nil || record == nil {
		common := r.Common
		r.Common = nil
		defer func() { r.Common = common }()
		return r.Event("", adapter.Object{{"type", adapter.Raw(adapter.SweAgentName + "/message")}}, src)
	}
	return r.Message("", record, src)
}

// sweMessage is the record of a message; nil when it is none.
func sweMessage(o adapter.Object) adapter.Object {
	role := o.Text("role")
	switch role {
	case "system", "developer", "user", "assistant", "tool":
	default:
		return nil
	}
	content := chatContent(o, o.Get("content"))
	if content == nil {
		return nil
	}
	record := adapter.Object{{"role", adapter.Raw(role)}, {"content", content}}
	if adapter.IsArray(o.Get("tool_calls")) {
		record = append(record, adapter.Field{"tool_calls", o.Get("tool_calls")})
	}
	if ids := o.Array("tool_call_ids"); role == "tool" && len(ids) > 0 && adapter.IsString(ids[0]) {
		record = append(record, adapter.Field{"tool_call_id", ids[0]})
	} else if id := o.Get("tool_call_id"); adapter.IsString(id) {
		record = append(record, adapter.Field{"tool_call_id", id})
	}
	if string(o.Get("is_demo")) == "true" { // not what happened: somebody shows how it is done
		record = append(record, adapter.Field{"is_demo", adapter.Raw(true)})
	}
	return record
}

// chatContent is the content of a message of OpenAI's form with what the model
// thought in front of it; nil for one that is none.
func chatContent(o adapter.Object, content json.RawMessage) json.RawMessage {
	if len(content) > 0 && !adapter.IsString(content) && !adapter.IsArray(content) && string(content) != "null" {
		return nil
	}
	said := adapter.OpenHandsSaid(o, nil)
	if len(said) > 0 {
		return adapter.Raw(append(said, adapter.OpenHandsParts(content)...))
	}
	if len(content) == 0 {
		return json.RawMessage("null")
	}
	return content
}

// step takes a step of a trajectory without a history: its answer is a message, what came of it another one.
func (r *sweReader) step(src adapter.SourceRecord, first bool) error {
	o, err := adapter.ParseObject(src.Raw)
	answer := o.Get("response")
	if !adapter.IsString(answer) {
		answer = o.Get("thought")
	}
	if err != nil || !adapter.IsString(answer) {
		if r.Has("", src.ID) {
			return nil
		}
		r.Common = nil
		return r.Event("", adapter.Object{{"type", adapter.Raw(adapter.SweAgentName + "/step")}}, src)
	}
	whole := &adapter.Tree{Raw: src.Raw}
	type piece struct {
		src    adapter.SourceRecord
		record adapter.Object
	}
	var before, after []piece
	if first { // what was there before the first answer
		key := "query"
		if !adapter.IsArray(o.Get(key)) {
			key = "messages"
		}
		for i, raw := range o.Array(key) {
			m, err := adapter.ParseObject(raw)
			if record := sweMessage(m); err == nil && record != nil {
				path := key + "." + strconv.Itoa(i)
				whole.Cut(path)
				before = append(before, piece{src.Piece(path, raw), record})
			}
		}
	}
	if seen := o.Get("observation"); adapter.IsString(seen) && len(seen) > len(`""`) {
		whole.Cut("observation")
		after = append(after, piece{src.Piece("observation", seen), adapter.Object{{"role", adapter.Raw("user")}, {"content", seen}}})
	}
	all := append(before, piece{adapter.SourceRecord{ID: src.ID, At: src.At, Raw: whole.Bytes()}, adapter.Object{{"role", adapter.Raw("assistant")}, {"content", answer}}})
	for _, p := range append(all, after...) {
		if r.Has("", p.src.ID) {
			continue
		}
		if err := r.Message("", p.record, p.src); err != nil {
			return err
		}
	}
	return nil
}

func importMiniAgent(in *adapter.Input, out adapter.Output) error {
	r, err := newSWEReader(in, out, miniAgentName)
	if err != nil || r == nil {
		return err
	}
	messages := r.take("messages")
	if err := r.Document("", nil, r.doc, r.lists); err != nil {
		return err
	}
	for _, src := range messages {
		if err := r.mini(src); err != nil {
			return err
		}
	}
	return nil
}

func (r *sweReader) mini(src adapter.SourceRecord) error {
	o, err := adapter.ParseObject(src.Raw)
	record := sweMessage(o)
	kind := "message"
	switch {
	case err != nil:
	case o.Text("object") == "response":
		record = responseMessage(o)
	case o.Text("type") == "function_call_output" && adapter.IsString(o.Get("call_id")):
		content := o.Get("output")
		if !adapter.IsString(content) && !adapter.IsArray(content) {
			content = json.RawMessage(`""`)
		}
		record = adapter.Object{{"role", adapter.Raw("tool")}, {"content", content}, {"tool_call_id", o.Get("call_id")}}
	case record == nil && o.Text("role") == "exit":
		kind = "exit"
	}
	if record == nil {
		if r.Has("", src.ID) {
			return nil
		}
		return r.Event("", adapter.Object{{"type", adapter.Raw(miniAgentName + "/" + kind)}}, src)
	}
	ts := unixTime(o.Object("extra").Get("timestamp"))
	if ts != "" {
		record = append(record, adapter.Field{"ts", adapter.Raw(ts)})
	}
	whole := &adapter.Tree{Raw: src.Raw}
	var usage adapter.SourceRecord
	for _, path := range []string{"extra.response.usage", "usage"} {
		if raw := whole.At(path); adapter.IsDict(raw) && usage.Raw == nil {
			usage = src.Piece(path, raw)
			whole.Cut(path)
		}
	}
	if !r.Has("", src.ID) {
		if err := r.Message("", record, adapter.SourceRecord{ID: src.ID, At: src.At, Raw: whole.Bytes()}); err != nil {
			return err
		}
	}
	if usage.Raw == nil || r.Has("", usage.ID) {
		return nil
	}
	used := adapter.Object{{"type", adapter.Raw("usage")}, {"usage", usage.Raw}}
	if ts != "" {
		used = append(used, adapter.Field{"ts", adapter.Raw(ts)})
	}
	return r.Event("", used, usage)
}

// responseMessage is the record of a response of OpenAI's Responses.
func responseMessage(o adapter.Object) adapter.Object {
	parts, calls := []json.RawMessage{}, []adapter.Object{}
	for _, raw := range o.Array("output") {
		item, _ := adapter.ParseObject(raw)
		switch item.Text("type") {
		case "reasoning":
			parts = append(parts, raw)
		case "message":
			parts = append(parts, adapter.OpenHandsParts(item.Get("content"))...)
		case "function_call":
			if adapter.IsString(item.Get("call_id")) && adapter.IsString(item.Get("name")) {
				calls = append(calls, adapter.Object{{"id", item.Get("call_id")}, {"name", item.Get("name")}, {"arguments", item.Get("arguments")}})
			}
		}
	}
	record := adapter.Object{{"role", adapter.Raw("assistant")}, {"content", adapter.Raw(parts)}}
	if len(calls) > 0 {
		for i, c := range calls {
			if c.Get("arguments") == nil {
				calls[i] = c.Without("arguments")
			}
		}
		record = append(record, adapter.Field{"tool_calls", adapter.Raw(calls)})
	}
	return record
}

// unixTime is a time in seconds since 1970 as a record has it, "" for none.
func unixTime(raw json.RawMessage) string {
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || seconds <= 0 || seconds > 1<<33 {
		return ""
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e6)*1e3).UTC().Format(time.RFC3339Nano)
}
