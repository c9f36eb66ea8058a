package atif

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const atifName = "atif"

// Format is Harbor's Agent Trajectory Interchange Format, the published versions 1.0 to 1.7.
var Format = &adapter.Format{
	Name:   atifName,
	Title:  "Harbor ATIF trajectory (JSON)",
	Sniff:  sniffATIF,
	Import: importATIF,
	Export: exportATIF,
}

func sniffATIF(_ string, head []byte) int {
	switch s := adapter.ShapeOf(head); {
	case !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
	case s.Says("$.schema_version", "ATIF-v*"):
		return 100
	case s.Has("$.steps[].step_id") && s.Says("$.steps[].source", "system", "user", "agent"):
		return 60
	}
	return 0
}

// atifReader imports a trajectory. A step is one message, or what it says, what
// it took, and each of its results: pieces that come later are added later.
type atifReader struct {
	*adapter.Emitter
	chains map[string]bool
}

func importATIF(in *adapter.Input, out adapter.Output) error {
	doc, err := adapter.ReadDocument(in.R)
	if err != nil || len(doc.Bytes) == 0 {
		return err
	}
	raw, err := adapter.ReadObject(in, out, atifName, doc)
	if err != nil || raw == nil {
		return err
	}
	a := &atifReader{Emitter: adapter.NewEmitter(in, out, atifName), chains: map[string]bool{"": true}}
	return a.trajectory("", raw, 0)
}

// maxAgents is how deep trajectories may stand in one another to be children; deeper ones stay in the document.
const maxAgents = 16

func (a *atifReader) trajectory(chain string, raw json.RawMessage, depth int) error {
	doc, lists := &adapter.Tree{Raw: raw}, adapter.Object{}
	o, err := adapter.ParseObject(raw)
	if err != nil {
		return err
	}
	var emits []func() error
	if adapter.IsArray(o.Get("steps")) {
		ids, count := []string{}, adapter.Counter{}
		for i, step := range o.Array("steps") {
			core := &adapter.Tree{Raw: step}
			core.Cut("observation")
			core.Cut("metrics")
			src := adapter.SourceRecord{ID: count.ID(core.Bytes()), At: i, Raw: step}
			ids = append(ids, src.ID)
			emits = append(emits, func() error { return a.step(chain, src) })
		}
		doc.Cut("steps")
		lists = append(lists, adapter.Field{"steps", adapter.Raw(ids)})
	}
	agents := o.Array("subagent_trajectories")
	if adapter.IsArray(o.Get("subagent_trajectories")) && depth < maxAgents && !slices.ContainsFunc(agents, func(t json.RawMessage) bool { return !adapter.IsDict(t) }) {
		names := []string{}
		for _, agent := range agents {
			name := a.child(chain, agent)
			names = append(names, ">"+name)
			emits = append(emits, func() error { return a.trajectory(name, agent, depth+1) })
		}
		doc.Cut("subagent_trajectories")
		lists = append(lists, adapter.Field{"subagent_trajectories", adapter.Raw(names)})
	}
	if err := a.Document(chain, nil, doc, lists); err != nil {
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
	o, _ := adapter.ParseObject(trajectory)
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

func (a *atifReader) step(chain string, src adapter.SourceRecord) error {
	o, err := adapter.ParseObject(src.Raw)
	record := atifMessage(o)
	if err != nil || record == nil {
		if a.Has(chain, src.ID) {
			return nil
		}
		return a.Event(chain, adapter.Object{{"type", adapter.Raw(atifName + "/step")}}, src)
	}
	whole := &adapter.Tree{Raw: src.Raw}
	type result struct {
		src adapter.SourceRecord
		o   adapter.Object
	}
	var results []result
	seen := o.Object("observation")
	for i, r := range seen.Array("results") {
		if inner, err := adapter.ParseObject(r); err == nil {
			path := "observation.results." + strconv.Itoa(i)
			whole.Cut(path)
			results = append(results, result{src.Piece(path, r), inner})
		}
	}
	metrics := o.Get("metrics")
	if adapter.IsDict(metrics) {
		whole.Cut("metrics")
	}
	if !a.Has(chain, src.ID) {
		if err := a.Message(chain, record, adapter.SourceRecord{ID: src.ID, At: src.At, Raw: whole.Bytes()}); err != nil {
			return err
		}
	}
	if piece := src.Piece("metrics", metrics); adapter.IsDict(metrics) && !a.Has(chain, piece.ID) {
		used := adapter.Object{{"type", adapter.Raw("usage")}}
		if adapter.IsString(o.Get("model_name")) {
			used = append(used, adapter.Field{"model", o.Get("model_name")})
		}
		if err := a.Event(chain, withTime(append(used, adapter.Field{"usage", metrics}), o), piece); err != nil {
			return err
		}
	}
	calls := atifCalls(o)
	for _, r := range results {
		if a.Has(chain, r.src.ID) {
			continue
		}
		if err := a.Message(chain, withTime(atifResult(o, r.o, calls, len(results)), o), r.src); err != nil {
			return err
		}
	}
	return nil
}

func withTime(record, step adapter.Object) adapter.Object {
	if ts := step.Get("timestamp"); adapter.IsString(ts) {
		return append(record, adapter.Field{"ts", ts})
	}
	return record
}

// atifOwn is the object in a step's extra that holds what the format has no
// place for and an export of ctxfs wrote.
const atifOwn = "ctxfs"

// atifMessage is the record of a step, without its results; nil when the step is none.
func atifMessage(o adapter.Object) adapter.Object {
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
	if !adapter.IsString(said) {
		content = adapter.PartsContent(atifParts(said))
	}
	var thinking []json.RawMessage
	if role == "assistant" {
		thinking = own.Array("thinking")
		if r := o.Get("reasoning_content"); len(thinking) == 0 && adapter.IsString(r) && len(r) > len(`""`) {
			thinking = []json.RawMessage{adapter.ThinkingPart(r)}
		}
	}
	if len(thinking) > 0 {
		content = adapter.Raw(append(thinking, atifParts(said)...))
	}
	record := adapter.Object{{"role", adapter.Raw(role)}, {"content", content}}
	if calls := atifCalls(o); role == "assistant" && len(calls) > 0 {
		list := []adapter.Object{}
		for _, c := range calls {
			call := adapter.Object{{"id", c.Get("tool_call_id")}, {"name", c.Get("function_name")}}
			if args := c.Get("arguments"); args != nil {
				call = append(call, adapter.Field{"arguments", args})
			}
			list = append(list, call)
		}
		record = append(record, adapter.Field{"tool_calls", adapter.Raw(list)})
	}
	return withTime(record, o)
}

// atifCalls are the calls of a step.
func atifCalls(o adapter.Object) (calls []adapter.Object) {
	for _, raw := range o.Array("tool_calls") {
		if c, err := adapter.ParseObject(raw); err == nil && adapter.IsString(c.Get("tool_call_id")) && adapter.IsString(c.Get("function_name")) {
			calls = append(calls, c)
		}
	}
	return calls
}

// atifParts are the parts of a message or of a result.
func atifParts(content json.RawMessage) (parts []json.RawMessage) {
	if adapter.IsString(content) {
		if string(content) == `""` {
			return nil
		}
		return []json.RawMessage{adapter.TextPart(content)}
	}
	list := []json.RawMessage{content}
	switch {
	case adapter.IsArray(content):
		list, _ = adapter.ParseArray(content)
	case len(content) == 0 || string(content) == "null":
		return nil
	}
	for _, p := range list {
		o, _ := adapter.ParseObject(p)
		if path := o.Object("source").Get("path"); o.Text("type") == "image" && bytes.HasPrefix(path, []byte(`"data:`)) {
			p = adapter.ImageURLPart(path)
		}
		parts = append(parts, p)
	}
	return parts
}

// atifResult is the record of a result of a step. One that names no call
// answers the only one, or is what the environment says.
func atifResult(step, result adapter.Object, calls []adapter.Object, results int) adapter.Object {
	content := result.Get("content")
	if !adapter.IsString(content) {
		content = adapter.PartsContent(atifParts(content))
	}
	id, name := result.Get("source_call_id"), json.RawMessage(nil)
	if !adapter.IsString(id) && len(calls) == 1 && results == 1 {
		id = calls[0].Get("tool_call_id")
	}
	if !adapter.IsString(id) {
		return adapter.Object{{"role", adapter.Raw("user")}, {"content", content}}
	}
	for _, c := range calls {
		if c.Text("tool_call_id") == result.Text("source_call_id") {
			name = c.Get("function_name")
		}
	}
	var failed []string
	json.Unmarshal(step.Object("extra").Object(atifOwn).Get("failed_calls"), &failed)
	return adapter.ToolResult(nil, id, name, content, slices.Contains(failed, result.Text("source_call_id")))
}
