package adapter

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const atifName = "atif"

// atif is Harbor's Agent Trajectory Interchange Format, the published versions 1.0 to 1.7.
var atif = &Format{
	Name:   atifName,
	Title:  "Harbor ATIF trajectory (JSON)",
	Sniff:  sniffATIF,
	Import: importATIF,
	Export: exportATIF,
}

var (
	atifVersion = regexp.MustCompile(`"schema_version"\s*:\s*"ATIF-v\d`)
	atifStepID  = regexp.MustCompile(`"step_id"\s*:\s*\d`)
	atifSource  = regexp.MustCompile(`"source"\s*:\s*"(system|user|agent)"`)
)

func sniffATIF(_ string, head []byte) int {
	switch {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case atifVersion.Match(head):
		return 100
	case atifStepID.Match(head) && atifSource.Match(head) && bytes.Contains(head, []byte(`"steps"`)):
		return 60
	}
	return 0
}

// atifReader imports a trajectory. A step is one message, or what it says, what
// it took, and each of its results: pieces that come later are added later.
type atifReader struct {
	*emitter
	chains map[string]bool
}

func importATIF(in *Input, out Output) error {
	doc, err := ReadDocument(in.R)
	if err != nil || len(doc.Bytes) == 0 {
		return err
	}
	raw, err := readObject(in, out, atifName, doc)
	if err != nil || raw == nil {
		return err
	}
	a := &atifReader{emitter: newEmitter(in, out, atifName), chains: map[string]bool{"": true}}
	return a.trajectory("", raw, 0)
}

// maxAgents is how deep trajectories may stand in one another to be children; deeper ones stay in the document.
const maxAgents = 16

func (a *atifReader) trajectory(chain string, raw json.RawMessage, depth int) error {
	doc, lists := &tree{raw: raw}, Object{}
	o, err := ParseObject(raw)
	if err != nil {
		return err
	}
	var emits []func() error
	if isArray(o.Get("steps")) {
		ids, count := []string{}, Counter{}
		for i, step := range o.Array("steps") {
			core := &tree{raw: step}
			core.cut("observation")
			core.cut("metrics")
			src := sourceRecord{count.ID(core.bytes()), i, step}
			ids = append(ids, src.id)
			emits = append(emits, func() error { return a.step(chain, src) })
		}
		doc.cut("steps")
		lists = append(lists, Field{"steps", Raw(ids)})
	}
	agents := o.Array("subagent_trajectories")
	if isArray(o.Get("subagent_trajectories")) && depth < maxAgents && !slices.ContainsFunc(agents, func(t json.RawMessage) bool { return !isDict(t) }) {
		names := []string{}
		for _, agent := range agents {
			name := a.child(chain, agent)
			names = append(names, ">"+name)
			emits = append(emits, func() error { return a.trajectory(name, agent, depth+1) })
		}
		doc.cut("subagent_trajectories")
		lists = append(lists, Field{"subagent_trajectories", Raw(names)})
	}
	if err := a.document(chain, nil, doc, lists); err != nil {
		return err
	}
	for _, emit := range emits {
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// child returns the trajectory of a sub-agent a name of its own.
func (a *atifReader) child(chain string, trajectory json.RawMessage) string {
	o, _ := ParseObject(trajectory)
	name := childName(o.Text("trajectory_id"))
	if name == "" {
		name = childName(o.Text("session_id"))
	}
	if name == "" {
		name = "subagent"
	}
	if chain != "" {
		name = chain + "." + name
	}
	if len(name) > ctxabi.MaxName-4 {
		name = name[:ctxabi.MaxName-4]
	}
	unique := name
	for n := 2; a.chains[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	a.chains[unique] = true
	return unique
}

// childName makes a name that a child may have of an id.
func childName(id string) string {
	name := strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._+-", c)) {
			return c
		}
		return '-'
	}, id)
	return strings.TrimLeft(name, "._+-")
}

func (a *atifReader) step(chain string, src sourceRecord) error {
	o, err := ParseObject(src.raw)
	record := atifMessage(o)
	if err != nil || record == nil {
		if a.has(chain, src.id) {
			return nil
		}
		return a.event(chain, Object{{"type", Raw(atifName + "/step")}}, src)
	}
	whole := &tree{raw: src.raw}
	type result struct {
		src sourceRecord
		o   Object
	}
	var results []result
	seen := o.Object("observation")
	for i, r := range seen.Array("results") {
		if inner, err := ParseObject(r); err == nil {
			path := "observation.results." + strconv.Itoa(i)
			whole.cut(path)
			results = append(results, result{src.piece(path, r), inner})
		}
	}
	metrics := o.Get("metrics")
	if isDict(metrics) {
		whole.cut("metrics")
	}
	if !a.has(chain, src.id) {
		if err := a.message(chain, record, sourceRecord{src.id, src.at, whole.bytes()}); err != nil {
			return err
		}
	}
	if piece := src.piece("metrics", metrics); isDict(metrics) && !a.has(chain, piece.id) {
		used := Object{{"type", Raw("usage")}}
		if isString(o.Get("model_name")) {
			used = append(used, Field{"model", o.Get("model_name")})
		}
		if err := a.event(chain, withTime(append(used, Field{"usage", metrics}), o), piece); err != nil {
			return err
		}
	}
	calls := atifCalls(o)
	for _, r := range results {
		if a.has(chain, r.src.id) {
			continue
		}
		if err := a.message(chain, withTime(atifResult(o, r.o, calls, len(results)), o), r.src); err != nil {
			return err
		}
	}
	return nil
}

func withTime(record, step Object) Object {
	if ts := step.Get("timestamp"); isString(ts) {
		return append(record, Field{"ts", ts})
	}
	return record
}

// atifOwn is the object in a step's extra that holds what the format has no
// place for and an export of ctxfs wrote.
const atifOwn = "ctxfs"

// atifMessage is the record of a step, without its results; nil when the step is none.
func atifMessage(o Object) Object {
	roles := map[string]string{"system": "system", "user": "user", "agent": "assistant"}
	role, own := roles[o.Text("source")], o.Object("extra").Object(atifOwn)
	if role == "" {
		return nil
	}
	if role == "system" && own.Text("role") == "developer" {
		role = "developer"
	}
	said := o.Get("message")
	content := said
	if !isString(said) {
		content = partsContent(atifParts(said))
	}
	var thinking []json.RawMessage
	if role == "assistant" {
		thinking = own.Array("thinking")
		if r := o.Get("reasoning_content"); len(thinking) == 0 && isString(r) && len(r) > len(`""`) {
			thinking = []json.RawMessage{thinkingPart(r)}
		}
	}
	if len(thinking) > 0 {
		content = Raw(append(thinking, atifParts(said)...))
	}
	record := Object{{"role", Raw(role)}, {"content", content}}
	if calls := atifCalls(o); role == "assistant" && len(calls) > 0 {
		list := []Object{}
		for _, c := range calls {
			call := Object{{"id", c.Get("tool_call_id")}, {"name", c.Get("function_name")}}
			if args := c.Get("arguments"); args != nil {
				call = append(call, Field{"arguments", args})
			}
			list = append(list, call)
		}
		record = append(record, Field{"tool_calls", Raw(list)})
	}
	return withTime(record, o)
}

// atifCalls are the calls of a step.
func atifCalls(o Object) (calls []Object) {
	for _, raw := range o.Array("tool_calls") {
		if c, err := ParseObject(raw); err == nil && isString(c.Get("tool_call_id")) && isString(c.Get("function_name")) {
			calls = append(calls, c)
		}
	}
	return calls
}

// atifParts are the parts of a message or of a result.
func atifParts(content json.RawMessage) (parts []json.RawMessage) {
	if isString(content) {
		if string(content) == `""` {
			return nil
		}
		return []json.RawMessage{textPart(content)}
	}
	list := []json.RawMessage{content}
	switch {
	case isArray(content):
		list, _ = parseArray(content)
	case len(content) == 0 || string(content) == "null":
		return nil
	}
	for _, p := range list {
		o, _ := ParseObject(p)
		if path := o.Object("source").Get("path"); o.Text("type") == "image" && bytes.HasPrefix(path, []byte(`"data:`)) {
			p = imageURLPart(path)
		}
		parts = append(parts, p)
	}
	return parts
}

// atifResult is the record of a result of a step. One that names no call
// answers the only one, or is what the environment says.
func atifResult(step, result Object, calls []Object, results int) Object {
	content := result.Get("content")
	if !isString(content) {
		content = partsContent(atifParts(content))
	}
	id, name := result.Get("source_call_id"), json.RawMessage(nil)
	if !isString(id) && len(calls) == 1 && results == 1 {
		id = calls[0].Get("tool_call_id")
	}
	if !isString(id) {
		return Object{{"role", Raw("user")}, {"content", content}}
	}
	for _, c := range calls {
		if c.Text("tool_call_id") == result.Text("source_call_id") {
			name = c.Get("function_name")
		}
	}
	var failed []string
	json.Unmarshal(step.Object("extra").Object(atifOwn).Get("failed_calls"), &failed)
	return toolResult(nil, id, name, content, slices.Contains(failed, result.Text("source_call_id")))
}
