package atif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// exportATIF writes a trajectory that the models of Harbor take: a step for
// each thing that was said, with the results of its calls; children of the
// session as trajectories of sub-agents. One that was imported is
// written as it was, with what came after it.
func exportATIF(src *adapter.Source, w io.Writer) error {
	x := &atifWriter{src: src, lost: &adapter.Tally{}, set: adapter.NewSourceSet(src.Records, atifName), written: map[string]bool{}}
	doc := x.trajectory("")
	x.set.Report(x.lost)
	x.lost.Report(src.Loss)
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

type atifWriter struct {
	src     *adapter.Source
	lost    *adapter.Tally
	set     *adapter.SourceSet
	written map[string]bool // the chains
}

// atifStep is a step that is being written.
type atifStep struct {
	whole *adapter.Tree // of one that was imported

	source, message, reasoning string
	ts                         string
	parts                      []json.RawMessage // instead of message, when it has images
	calls                      []adapter.Object
	results                    []adapter.Object
	usage                      *ctxabi.Usage
	own                        adapter.Object // of its extra
	failed                     []string
	ids                        []string // of its calls
}

func (x *atifWriter) trajectory(chain string) json.RawMessage {
	x.written[chain] = true
	doc := &adapter.Tree{Raw: json.RawMessage("{}")}
	var steps []*atifStep
	hasDoc := false
	if last := x.set.Last[chain]; last != nil {
		raw, ok := x.set.Source(chain, last.ID)
		if !ok {
			x.lost.Add("the document", "the trajectory that was imported cannot be put together again: its records have changed")
		} else {
			doc.Raw, hasDoc = raw, true
			o, _ := adapter.ParseObject(raw)
			for _, s := range o.Array("steps") {
				step := &atifStep{whole: &adapter.Tree{Raw: s}}
				in, _ := adapter.ParseObject(s)
				for _, c := range atifCalls(in) {
					step.ids = append(step.ids, c.Text("tool_call_id"))
				}
				steps = append(steps, step)
			}
			x.agents(doc, last)
		}
	}
	imported := len(steps)
	v := atifSteps{x: x, steps: steps}
	for _, t := range adapter.ReadTurns(adapter.OfChain(x.src.Records, chain, nil), atifName, picture.Any, x.lost) {
		if !t.Own {
			v.where = adapter.RecordName(t.Record)
			v.turn(t)
		}
	}
	if len(v.steps) == 0 && !hasDoc {
		x.lost.Add(sessionName(chain), "is empty; the format requires one step at least, and gets an empty one")
		v.steps = append(v.steps, &atifStep{source: "system"})
	}
	var agents []json.RawMessage
	if chain == "" {
		for _, r := range x.src.Records {
			if !x.written[r.Chain] {
				agents = append(agents, x.trajectory(r.Chain))
			}
		}
	}
	if hasDoc && !v.changed && len(agents) == 0 {
		return doc.Bytes()
	}
	if !hasDoc {
		x.head(doc, chain, v, len(agents) > 0)
	}
	for i := range v.steps {
		if i >= imported || v.steps[i].whole != nil {
			doc.Put("steps."+strconv.Itoa(i), v.steps[i].json(i+1))
		}
	}
	x.totals(doc, v)
	o, _ := adapter.ParseObject(doc.Bytes())
	n := len(o.Array("subagent_trajectories"))
	for i, agent := range agents {
		doc.Put("subagent_trajectories."+strconv.Itoa(n+i), agent)
	}
	return doc.Bytes()
}

func sessionName(chain string) string {
	if chain == "" {
		return "the session"
	}
	return fmt.Sprintf("child %q", chain)
}

// agents writes the trajectories that an imported document holds anew: their
// sessions may have gone on.
func (x *atifWriter) agents(doc *adapter.Tree, e *adapter.SourceEntry) {
	rest, _ := adapter.ParseObject(e.Rest)
	var names []string
	json.Unmarshal(rest.Object(adapter.LiftKey).Get("subagent_trajectories"), &names)
	i := 0
	for _, name := range names {
		name = strings.TrimPrefix(name, ">")
		if x.set.Last[name] == nil || x.written[name] {
			continue
		}
		doc.Put("subagent_trajectories."+strconv.Itoa(i), x.trajectory(name))
		i++
	}
}

// head is what a trajectory that was not imported begins with. Its version
// is the lowest one that has what it uses.
func (x *atifWriter) head(doc *adapter.Tree, chain string, v atifSteps, hasAgents bool) {
	version := "ATIF-v1.4"
	switch {
	case hasAgents || chain != "":
		version = "ATIF-v1.7"
	case v.images:
		version = "ATIF-v1.6"
	}
	name, agentVersion := "ctxfs", ctxabi.Version
	for _, r := range adapter.OfChain(x.src.Records, chain, nil) {
		if s, ok := r.Stamp(); ok {
			name, agentVersion = s.Format, "unknown"
			break
		}
	}
	session := x.src.Name
	if session == "" {
		session = "session"
	}
	doc.Put("schema_version", adapter.Raw(version))
	doc.Put("session_id", adapter.Raw(session))
	if chain != "" {
		doc.Put("trajectory_id", adapter.Raw(chain))
	}
	doc.Put("agent", adapter.Raw(adapter.Object{{"name", adapter.Raw(name)}, {"version", adapter.Raw(agentVersion)}}))
}

// totals are the sums over the steps that were written anew.
func (x *atifWriter) totals(doc *adapter.Tree, v atifSteps) {
	if old := (&adapter.Tree{Raw: doc.Bytes()}).At("final_metrics"); old != nil {
		return // somebody else's account; it says nothing of what came after
	}
	prompt, cached, completion, known, caches := 0, 0, 0, false, false
	for _, s := range v.steps {
		if s.usage != nil {
			known, caches = true, caches || s.usage.Caches
			prompt, cached, completion = prompt+s.usage.Input, cached+s.usage.CacheRead, completion+s.usage.Output
		}
	}
	totals := adapter.Object{}
	if known {
		totals = append(totals, adapter.Field{"total_prompt_tokens", adapter.Raw(prompt)}, adapter.Field{"total_completion_tokens", adapter.Raw(completion)})
	}
	if caches {
		totals = append(totals, adapter.Field{"total_cached_tokens", adapter.Raw(cached)})
	}
	doc.Put("final_metrics", adapter.Raw(append(totals, adapter.Field{"total_steps", adapter.Raw(len(v.steps))})))
}

// atifSteps collects the steps of a trajectory.
type atifSteps struct {
	x       *atifWriter
	where   string
	steps   []*atifStep
	images  bool
	changed bool
}

func (v *atifSteps) turn(t adapter.Turn) {
	v.changed = true
	for _, r := range t.Results {
		v.result(r)
	}
	if len(t.Results) > 0 && len(t.Texts) == 0 && len(t.Calls) == 0 && len(t.Thinking) == 0 {
		return
	}
	s := &atifStep{ts: t.Ts}
	switch {
	case t.Compaction:
		s.source, s.own = "system", adapter.Object{{"event", adapter.Raw("compaction")}}
	case t.Role == ctxabi.Assistant:
		s.source = "agent"
	case t.Role == ctxabi.User || t.Role == ctxabi.Tool:
		s.source = "user"
	default:
		s.source = "system"
		if t.Role == ctxabi.Developer {
			s.own = adapter.Object{{"role", adapter.Raw("developer")}}
		}
	}
	s.message, s.parts = v.content(t.Texts)
	if s.source == "agent" {
		v.agent(s, t)
	} else if len(t.Calls)+len(t.Thinking) > 0 {
		v.x.lost.Add(v.where, "calls and thinking of others than the assistant have no place in the format")
	}
	v.steps = append(v.steps, s)
}

// agent fills in what only a step of the agent has.
func (v *atifSteps) agent(s *atifStep, t adapter.Turn) {
	var thoughts []string
	signed := false
	for _, raw := range t.Thinking {
		th := adapter.ThoughtOf(raw)
		signed = signed || th.Signature
		if th.Text != "" {
			thoughts = append(thoughts, th.Text)
		}
	}
	s.reasoning = strings.Join(thoughts, "\n\n")
	if signed {
		s.own = append(s.own, adapter.Field{"thinking", adapter.Raw(t.Thinking)})
	}
	for _, c := range t.Calls {
		id := c.ID
		for n := 2; slices.Contains(s.ids, id); n++ {
			id = c.ID + "-" + strconv.Itoa(n)
		}
		s.ids = append(s.ids, id)
		args := json.RawMessage(c.Arguments)
		switch {
		case strings.TrimSpace(c.Arguments) == "":
			args = json.RawMessage("{}")
		case !json.Valid(args) || !adapter.IsDict(bytes.TrimSpace(args)):
			v.x.lost.Add(v.where, `arguments that are not a JSON object are written as {"arguments": …}`)
			args = adapter.Raw(adapter.Object{{"arguments", adapter.Raw(c.Arguments)}})
		}
		s.calls = append(s.calls, adapter.Object{{"tool_call_id", adapter.Raw(id)}, {"function_name", adapter.Raw(c.Name)}, {"arguments", args}})
	}
	s.usage = t.Usage
}

// result puts a result to the call that it answers.
func (v *atifSteps) result(r adapter.TurnResult) {
	at := -1
	for i := len(v.steps) - 1; i >= 0 && at < 0 && r.CallID != ""; i-- {
		if slices.Contains(v.steps[i].ids, r.CallID) {
			at = i
		}
	}
	result := adapter.Object{}
	if at >= 0 {
		result = append(result, adapter.Field{"source_call_id", adapter.Raw(r.CallID)})
	} else {
		v.x.lost.Add(v.where, "a result of a call that nobody made is put with the step before it")
		if at = len(v.steps) - 1; at < 0 || v.steps[at].source == "user" || v.steps[at].whole != nil {
			v.steps = append(v.steps, &atifStep{source: "system"})
			at++
		}
	}
	text, parts := v.content(r.Parts)
	content := adapter.Raw(text)
	if parts != nil {
		content = adapter.Raw(parts)
	}
	result = append(result, adapter.Field{"content", content})
	s := v.steps[at]
	if s.whole == nil {
		s.results = append(s.results, result)
	} else {
		o, _ := adapter.ParseObject(s.whole.Bytes())
		n := len(o.Object("observation").Array("results"))
		s.whole.Put("observation.results."+strconv.Itoa(n), adapter.Raw(result))
	}
	if r.IsError {
		s.failed = append(s.failed, r.CallID)
	}
}

// atifImages are the types of images that the format has.
var atifImages = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// content is a text, or parts where there are images.
func (v *atifSteps) content(parts []adapter.TurnPart) (text string, list []json.RawMessage) {
	if !adapter.HasImage(parts) {
		return adapter.PartsText(parts), nil
	}
	for _, p := range parts {
		if p.Image == "" {
			list = append(list, adapter.TextPart(adapter.Raw(p.Text)))
			continue
		}
		if !slices.Contains(atifImages, p.Mime) {
			if p.Mime != "" {
				v.x.lost.Add(v.where, fmt.Sprintf("images of type %s have no place in the format; their address replaces them", p.Mime))
				list = append(list, adapter.TextPart(adapter.Raw("[image: "+p.Image[:min(len(p.Image), 200)]+"]")))
				continue
			}
			p.Mime = "image/png"
		}
		v.images = true
		source := adapter.Object{{"media_type", adapter.Raw(p.Mime)}, {"path", adapter.Raw(p.Image)}}
		list = append(list, adapter.Raw(adapter.Object{{"type", adapter.Raw("image")}, {"source", adapter.Raw(source)}}))
	}
	return "", list
}

// json writes a step. Those that were imported keep their bytes.
func (s *atifStep) json(id int) json.RawMessage {
	if s.whole != nil {
		return s.whole.Bytes()
	}
	o := adapter.Object{{"step_id", adapter.Raw(id)}}
	if s.ts != "" {
		o = append(o, adapter.Field{"timestamp", adapter.Raw(s.ts)})
	}
	message := adapter.Raw(s.message)
	if s.parts != nil {
		message = adapter.Raw(s.parts)
	}
	o = append(o, adapter.Field{"source", adapter.Raw(s.source)}, adapter.Field{"message", message})
	if s.reasoning != "" {
		o = append(o, adapter.Field{"reasoning_content", adapter.Raw(s.reasoning)})
	}
	if len(s.calls) > 0 {
		o = append(o, adapter.Field{"tool_calls", adapter.Raw(s.calls)})
	}
	if len(s.results) > 0 {
		o = append(o, adapter.Field{"observation", adapter.Raw(adapter.Object{{"results", adapter.Raw(s.results)}})})
	}
	if u := s.usage; u != nil {
		metrics := adapter.Object{{"prompt_tokens", adapter.Raw(u.Input)}, {"completion_tokens", adapter.Raw(u.Output)}}
		if u.Caches {
			metrics = append(metrics, adapter.Field{"cached_tokens", adapter.Raw(u.CacheRead)})
		}
		o = append(o, adapter.Field{"metrics", adapter.Raw(metrics)})
	}
	if len(s.failed) > 0 {
		s.own = append(s.own, adapter.Field{"failed_calls", adapter.Raw(s.failed)})
	}
	if len(s.own) > 0 {
		o = append(o, adapter.Field{"extra", adapter.Raw(adapter.Object{{atifOwn, adapter.Raw(s.own)}})})
	}
	return adapter.Raw(o)
}
