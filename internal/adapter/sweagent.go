package adapter

import (
	"bytes"
	"encoding/json"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	miniAgentName = "mini-swe-agent"
)

var sweAgent = &Format{
	Name:   sweAgentName,
	Title:  "SWE-agent trajectory (.traj)",
	Sniff:  sniffSWEAgent,
	Import: importSWEAgent,
	Export: exportSWEAgent,
}

var miniAgent = &Format{
	Name:   miniAgentName,
	Title:  "mini-swe-agent trajectory (.traj.json)",
	Sniff:  sniffMiniAgent,
	Import: importMiniAgent,
	Export: exportMiniAgent,
}

var (
	sweSteps   = regexp.MustCompile(`"trajectory"\s*:\s*\[`)
	sweStep    = regexp.MustCompile(`"(observation|thought|response)"\s*:\s*"`)
	sweOther   = regexp.MustCompile(`"(history|info|environment|replay_config)"\s*:`)
	miniMark   = regexp.MustCompile(`"trajectory_format"\s*:\s*"mini-swe-agent`)
	miniInfo   = regexp.MustCompile(`"(mini_version|instance_cost|api_calls)"\s*:`)
	miniExited = regexp.MustCompile(`"exit_status"\s*:`)
)

func sniffSWEAgent(name string, head []byte) int {
	isTraj := strings.HasSuffix(path.Base(name), ".traj")
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case sweSteps.Match(head) && (sweStep.Match(head) || sweOther.Match(head)):
		return 95
	case isTraj && sweOther.Match(head):
		return 70
	}
	return 0
}

func sniffMiniAgent(name string, head []byte) int {
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case miniMark.Match(head):
		return 100
	case bytes.Contains(head, []byte(`"messages"`)) && miniInfo.Match(head) && (miniExited.Match(head) || strings.HasSuffix(name, ".traj.json")):
		return 95
	}
	return 0
}

// sweReader imports a trajectory: a document with lists of messages, and of steps that repeat them.
type sweReader struct {
	*emitter
	doc   *tree
	o     Object
	lists Object
}

// newSWEReader reads the document; nil is one of which nothing can be read.
func newSWEReader(in *Input, out Output, format string) (*sweReader, error) {
	doc, err := ReadDocument(in.R)
	if err != nil || len(doc.Bytes) == 0 {
		return nil, err
	}
	raw, err := readObject(in, out, format, doc)
	if err != nil || raw == nil {
		return nil, err
	}
	o, err := ParseObject(raw)
	if err != nil {
		return nil, err
	}
	return &sweReader{emitter: newEmitter(in, out, format), doc: &tree{raw: raw}, o: o}, nil
}

// take takes the list at key out of the document.
func (r *sweReader) take(key string) []sourceRecord {
	if !isArray(r.o.Get(key)) {
		return nil
	}
	r.doc.cut(key)
	ids, count := []string{}, Counter{}
	var sources []sourceRecord
	for i, raw := range r.o.Array(key) {
		id := key[:1] + count.ID(raw)
		ids, sources = append(ids, id), append(sources, sourceRecord{id, i, raw})
	}
	r.lists = append(r.lists, Field{key, Raw(ids)})
	return sources
}

func importSWEAgent(in *Input, out Output) error {
	r, err := newSWEReader(in, out, sweAgentName)
	if err != nil || r == nil {
		return err
	}
	history, steps := r.take("history"), r.take("trajectory")
	if err := r.document("", nil, r.doc, r.lists); err != nil {
		return err
	}
	r.common = newLifter()
	for _, src := range history {
		r.common.add("@"+src.id, src.raw)
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
		if !r.has("", src.id) { // what it says stands in the history
			if err := r.event("", Object{{"type", Raw(sweAgentName + "/step")}}, src); err != nil {
				return err
			}
		}
		r.common.setBase(src.id, src.raw, "query", "messages")
	}
	return nil
}

// said takes a message of the history.
func (r *sweReader) said(src sourceRecord) error {
	if r.has("", src.id) {
		return nil
	}
	o, err := ParseObject(src.raw)
	record := sweMessage(o)
	if err != nil || record == nil {
		common := r.common
		r.common = nil
		defer func() { r.common = common }()
		return r.event("", Object{{"type", Raw(sweAgentName + "/message")}}, src)
	}
	return r.message("", record, src)
}

// sweMessage is the record of a message; nil when it is none.
func sweMessage(o Object) Object {
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
	record := Object{{"role", Raw(role)}, {"content", content}}
	if isArray(o.Get("tool_calls")) {
		record = append(record, Field{"tool_calls", o.Get("tool_calls")})
	}
	if ids := o.Array("tool_call_ids"); role == "tool" && len(ids) > 0 && isString(ids[0]) {
		record = append(record, Field{"tool_call_id", ids[0]})
	} else if id := o.Get("tool_call_id"); isString(id) {
		record = append(record, Field{"tool_call_id", id})
	}
	if string(o.Get("is_demo")) == "true" { // not what happened: somebody shows how it is done
		record = append(record, Field{"is_demo", Raw(true)})
	}
	return record
}

// chatContent is the content of a message of OpenAI's form with what the model
// thought in front of it; nil for one that is none.
func chatContent(o Object, content json.RawMessage) json.RawMessage {
	if len(content) > 0 && !isString(content) && !isArray(content) && string(content) != "null" {
		return nil
	}
	said := openHandsSaid(o, nil)
	if len(said) > 0 {
		return Raw(append(said, openHandsParts(content)...))
	}
	if len(content) == 0 {
		return json.RawMessage("null")
	}
	return content
}

// step takes a step of a trajectory without a history: its answer is a message, what came of it another one.
func (r *sweReader) step(src sourceRecord, first bool) error {
	o, err := ParseObject(src.raw)
	answer := o.Get("response")
	if !isString(answer) {
		answer = o.Get("thought")
	}
	if err != nil || !isString(answer) {
		if r.has("", src.id) {
			return nil
		}
		r.common = nil
		return r.event("", Object{{"type", Raw(sweAgentName + "/step")}}, src)
	}
	whole := &tree{raw: src.raw}
	type piece struct {
		src    sourceRecord
		record Object
	}
	var before, after []piece
	if first { // what was there before the first answer
		key := "query"
		if !isArray(o.Get(key)) {
			key = "messages"
		}
		for i, raw := range o.Array(key) {
			m, err := ParseObject(raw)
			if record := sweMessage(m); err == nil && record != nil {
				path := key + "." + strconv.Itoa(i)
				whole.cut(path)
				before = append(before, piece{src.piece(path, raw), record})
			}
		}
	}
	if seen := o.Get("observation"); isString(seen) && len(seen) > len(`""`) {
		whole.cut("observation")
		after = append(after, piece{src.piece("observation", seen), Object{{"role", Raw("user")}, {"content", seen}}})
	}
	all := append(before, piece{sourceRecord{src.id, src.at, whole.bytes()}, Object{{"role", Raw("assistant")}, {"content", answer}}})
	for _, p := range append(all, after...) {
		if r.has("", p.src.id) {
			continue
		}
		if err := r.message("", p.record, p.src); err != nil {
			return err
		}
	}
	return nil
}

func importMiniAgent(in *Input, out Output) error {
	r, err := newSWEReader(in, out, miniAgentName)
	if err != nil || r == nil {
		return err
	}
	messages := r.take("messages")
	if err := r.document("", nil, r.doc, r.lists); err != nil {
		return err
	}
	for _, src := range messages {
		if err := r.mini(src); err != nil {
			return err
		}
	}
	return nil
}

func (r *sweReader) mini(src sourceRecord) error {
	o, err := ParseObject(src.raw)
	record := sweMessage(o)
	kind := "message"
	switch {
	case err != nil:
	case o.Text("object") == "response":
		record = responseMessage(o)
	case o.Text("type") == "function_call_output" && isString(o.Get("call_id")):
		content := o.Get("output")
		if !isString(content) && !isArray(content) {
			content = json.RawMessage(`""`)
		}
		record = Object{{"role", Raw("tool")}, {"content", content}, {"tool_call_id", o.Get("call_id")}}
	case record == nil && o.Text("role") == "exit":
		kind = "exit"
	}
	if record == nil {
		if r.has("", src.id) {
			return nil
		}
		return r.event("", Object{{"type", Raw(miniAgentName + "/" + kind)}}, src)
	}
	ts := unixTime(o.Object("extra").Get("timestamp"))
	if ts != "" {
		record = append(record, Field{"ts", Raw(ts)})
	}
	whole := &tree{raw: src.raw}
	var usage sourceRecord
	for _, path := range []string{"extra.response.usage", "usage"} {
		if raw := whole.at(path); isDict(raw) && usage.raw == nil {
			usage = src.piece(path, raw)
			whole.cut(path)
		}
	}
	if !r.has("", src.id) {
		if err := r.message("", record, sourceRecord{src.id, src.at, whole.bytes()}); err != nil {
			return err
		}
	}
	if usage.raw == nil || r.has("", usage.id) {
		return nil
	}
	used := Object{{"type", Raw("usage")}, {"usage", usage.raw}}
	if ts != "" {
		used = append(used, Field{"ts", Raw(ts)})
	}
	return r.event("", used, usage)
}

// responseMessage is the record of a response of OpenAI's Responses.
func responseMessage(o Object) Object {
	parts, calls := []json.RawMessage{}, []Object{}
	for _, raw := range o.Array("output") {
		item, _ := ParseObject(raw)
		switch item.Text("type") {
		case "reasoning":
			parts = append(parts, raw)
		case "message":
			parts = append(parts, openHandsParts(item.Get("content"))...)
		case "function_call":
			if isString(item.Get("call_id")) && isString(item.Get("name")) {
				calls = append(calls, Object{{"id", item.Get("call_id")}, {"name", item.Get("name")}, {"arguments", item.Get("arguments")}})
			}
		}
	}
	record := Object{{"role", Raw("assistant")}, {"content", Raw(parts)}}
	if len(calls) > 0 {
		for i, c := range calls {
			if c.Get("arguments") == nil {
				calls[i] = c.Without("arguments")
			}
		}
		record = append(record, Field{"tool_calls", Raw(calls)})
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
