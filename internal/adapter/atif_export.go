package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// exportATIF writes a trajectory that the models of Harbor take: a step for
// each thing that was said, with the results of its calls; children of the
// session as trajectories of sub-agents. One that was imported is
// written as it was, with what came after it.
func exportATIF(src *Source, w io.Writer) error {
	x := &atifWriter{src: src, lost: &tally{}, set: newSourceSet(src.Records, atifName), written: map[string]bool{}}
	doc := x.trajectory("")
	x.set.report(x.lost)
	x.lost.report(src.Loss)
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

type atifWriter struct {
	src     *Source
	lost    *tally
	set     *sourceSet
	written map[string]bool // the chains
}

// atifStep is a step that is being written.
type atifStep struct {
	whole *tree // of one that was imported

	source, message, reasoning string
	ts                         string
	parts                      []json.RawMessage // instead of message, when it has images
	calls                      []Object
	results                    []Object
	usage                      *ctxabi.Usage
	own                        Object // of its extra
	failed                     []string
	ids                        []string // of its calls
}

func (x *atifWriter) trajectory(chain string) json.RawMessage {
	x.written[chain] = true
	doc := &tree{raw: json.RawMessage("{}")}
	var steps []*atifStep
	hasDoc := false
	if last := x.set.last[chain]; last != nil {
		raw, ok := x.set.source(chain, last.id)
		if !ok {
			x.lost.add("the document", "the trajectory that was imported cannot be put together again: its records have changed")
		} else {
			doc.raw, hasDoc = raw, true
			o, _ := ParseObject(raw)
			for _, s := range o.Array("steps") {
				step := &atifStep{whole: &tree{raw: s}}
				in, _ := ParseObject(s)
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
	for _, t := range readTurns(ofChain(x.src.Records, chain, nil), atifName, x.lost) {
		if !t.own {
			v.where = recordName(t.record)
			v.turn(t)
		}
	}
	if len(v.steps) == 0 && !hasDoc {
		x.lost.add(sessionName(chain), "says nothing; the format wants one step at least, and gets an empty one")
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
		return doc.bytes()
	}
	if !hasDoc {
		x.head(doc, chain, v, len(agents) > 0)
	}
	for i := range v.steps {
		if i >= imported || v.steps[i].whole != nil {
			doc.put("steps."+strconv.Itoa(i), v.steps[i].json(i+1))
		}
	}
	x.totals(doc, v)
	o, _ := ParseObject(doc.bytes())
	n := len(o.Array("subagent_trajectories"))
	for i, agent := range agents {
		doc.put("subagent_trajectories."+strconv.Itoa(n+i), agent)
	}
	return doc.bytes()
}

func sessionName(chain string) string {
	if chain == "" {
		return "the session"
	}
	return fmt.Sprintf("child %q", chain)
}

// agents writes the trajectories that an imported document holds anew: their
// sessions may have gone on.
func (x *atifWriter) agents(doc *tree, e *sourceEntry) {
	rest, _ := ParseObject(e.rest)
	var names []string
	json.Unmarshal(rest.Object(liftKey).Get("subagent_trajectories"), &names)
	i := 0
	for _, name := range names {
		name = strings.TrimPrefix(name, ">")
		if x.set.last[name] == nil || x.written[name] {
			continue
		}
		doc.put("subagent_trajectories."+strconv.Itoa(i), x.trajectory(name))
		i++
	}
}

// head is what a trajectory that was not imported begins with. Its version
// is the lowest one that has what it uses.
func (x *atifWriter) head(doc *tree, chain string, v atifSteps, hasAgents bool) {
	version := "ATIF-v1.4"
	switch {
	case hasAgents || chain != "":
		version = "ATIF-v1.7"
	case v.images:
		version = "ATIF-v1.6"
	}
	name, agentVersion := "ctxfs", ctxabi.Version
	for _, r := range ofChain(x.src.Records, chain, nil) {
		if s, ok := r.Stamp(); ok {
			name, agentVersion = s.Format, "unknown"
			break
		}
	}
	session := x.src.Name
	if session == "" {
		session = "session"
	}
	doc.put("schema_version", Raw(version))
	doc.put("session_id", Raw(session))
	if chain != "" {
		doc.put("trajectory_id", Raw(chain))
	}
	doc.put("agent", Raw(Object{{"name", Raw(name)}, {"version", Raw(agentVersion)}}))
}

// totals are the sums over the steps that were written anew.
func (x *atifWriter) totals(doc *tree, v atifSteps) {
	if old := (&tree{raw: doc.bytes()}).at("final_metrics"); old != nil {
		return // somebody else's account; it says nothing of what came after
	}
	prompt, cached, completion, known, caches := 0, 0, 0, false, false
	for _, s := range v.steps {
		if s.usage != nil {
			known, caches = true, caches || s.usage.Caches
			prompt, cached, completion = prompt+s.usage.Input, cached+s.usage.CacheRead, completion+s.usage.Output
		}
	}
	totals := Object{}
	if known {
		totals = append(totals, Field{"total_prompt_tokens", Raw(prompt)}, Field{"total_completion_tokens", Raw(completion)})
	}
	if caches {
		totals = append(totals, Field{"total_cached_tokens", Raw(cached)})
	}
	doc.put("final_metrics", Raw(append(totals, Field{"total_steps", Raw(len(v.steps))})))
}

// atifSteps collects the steps of a trajectory.
type atifSteps struct {
	x       *atifWriter
	where   string
	steps   []*atifStep
	images  bool
	changed bool
}

func (v *atifSteps) turn(t turn) {
	v.changed = true
	for _, r := range t.results {
		v.result(r)
	}
	if len(t.results) > 0 && len(t.texts) == 0 && len(t.calls) == 0 && len(t.thinking) == 0 {
		return
	}
	s := &atifStep{ts: t.ts}
	switch {
	case t.compaction:
		s.source, s.own = "system", Object{{"event", Raw("compaction")}}
	case t.role == ctxabi.Assistant:
		s.source = "agent"
	case t.role == ctxabi.User || t.role == ctxabi.Tool:
		s.source = "user"
	default:
		s.source = "system"
		if t.role == ctxabi.Developer {
			s.own = Object{{"role", Raw("developer")}}
		}
	}
	s.message, s.parts = v.content(t.texts)
	if s.source == "agent" {
		v.agent(s, t)
	} else if len(t.calls)+len(t.thinking) > 0 {
		v.x.lost.add(v.where, "calls and thinking of others than the assistant have no place in the format")
	}
	v.steps = append(v.steps, s)
}

// agent fills in what only a step of the agent has.
func (v *atifSteps) agent(s *atifStep, t turn) {
	var thoughts []string
	signed := false
	for _, raw := range t.thinking {
		th := thoughtOf(raw)
		signed = signed || th.signature
		if th.text != "" {
			thoughts = append(thoughts, th.text)
		}
	}
	s.reasoning = strings.Join(thoughts, "\n\n")
	if signed {
		s.own = append(s.own, Field{"thinking", Raw(t.thinking)})
	}
	for _, c := range t.calls {
		id := c.ID
		for n := 2; slices.Contains(s.ids, id); n++ {
			id = c.ID + "-" + strconv.Itoa(n)
		}
		s.ids = append(s.ids, id)
		args := json.RawMessage(c.Arguments)
		switch {
		case strings.TrimSpace(c.Arguments) == "":
			args = json.RawMessage("{}")
		case !json.Valid(args) || !isDict(bytes.TrimSpace(args)):
			v.x.lost.add(v.where, `arguments that are no JSON object are written as {"arguments": …}`)
			args = Raw(Object{{"arguments", Raw(c.Arguments)}})
		}
		s.calls = append(s.calls, Object{{"tool_call_id", Raw(id)}, {"function_name", Raw(c.Name)}, {"arguments", args}})
	}
	s.usage = t.usage
}

// result puts a result to the call that it answers.
func (v *atifSteps) result(r turnResult) {
	at := -1
	for i := len(v.steps) - 1; i >= 0 && at < 0 && r.callID != ""; i-- {
		if slices.Contains(v.steps[i].ids, r.callID) {
			at = i
		}
	}
	result := Object{}
	if at >= 0 {
		result = append(result, Field{"source_call_id", Raw(r.callID)})
	} else {
		v.x.lost.add(v.where, "a result of a call that nobody made stands with the step before it")
		if at = len(v.steps) - 1; at < 0 || v.steps[at].source == "user" || v.steps[at].whole != nil {
			v.steps = append(v.steps, &atifStep{source: "system"})
			at++
		}
	}
	text, parts := v.content(r.parts)
	content := Raw(text)
	if parts != nil {
		content = Raw(parts)
	}
	result = append(result, Field{"content", content})
	s := v.steps[at]
	if s.whole == nil {
		s.results = append(s.results, result)
	} else {
		o, _ := ParseObject(s.whole.bytes())
		n := len(o.Object("observation").Array("results"))
		s.whole.put("observation.results."+strconv.Itoa(n), Raw(result))
	}
	if r.isError {
		s.failed = append(s.failed, r.callID)
	}
}

// atifImages are the types of images that the format has.
var atifImages = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// content is a text, or parts where there are images.
func (v *atifSteps) content(parts []turnPart) (text string, list []json.RawMessage) {
	if !hasImage(parts) {
		return partsText(parts), nil
	}
	for _, p := range parts {
		if p.image == "" {
			list = append(list, textPart(Raw(p.text)))
			continue
		}
		if !slices.Contains(atifImages, p.mime) {
			if p.mime != "" {
				v.x.lost.add(v.where, fmt.Sprintf("images of type %s have no place in the format; their place has their address", p.mime))
				list = append(list, textPart(Raw("[image: "+p.image[:min(len(p.image), 200)]+"]")))
				continue
			}
			p.mime = "image/png"
		}
		v.images = true
		source := Object{{"media_type", Raw(p.mime)}, {"path", Raw(p.image)}}
		list = append(list, Raw(Object{{"type", Raw("image")}, {"source", Raw(source)}}))
	}
	return "", list
}

// json writes a step. Those that were imported keep their bytes.
func (s *atifStep) json(id int) json.RawMessage {
	if s.whole != nil {
		return s.whole.bytes()
	}
	o := Object{{"step_id", Raw(id)}}
	if s.ts != "" {
		o = append(o, Field{"timestamp", Raw(s.ts)})
	}
	message := Raw(s.message)
	if s.parts != nil {
		message = Raw(s.parts)
	}
	o = append(o, Field{"source", Raw(s.source)}, Field{"message", message})
	if s.reasoning != "" {
		o = append(o, Field{"reasoning_content", Raw(s.reasoning)})
	}
	if len(s.calls) > 0 {
		o = append(o, Field{"tool_calls", Raw(s.calls)})
	}
	if len(s.results) > 0 {
		o = append(o, Field{"observation", Raw(Object{{"results", Raw(s.results)}})})
	}
	if u := s.usage; u != nil {
		metrics := Object{{"prompt_tokens", Raw(u.Input)}, {"completion_tokens", Raw(u.Output)}}
		if u.Caches {
			metrics = append(metrics, Field{"cached_tokens", Raw(u.CacheRead)})
		}
		o = append(o, Field{"metrics", Raw(metrics)})
	}
	if len(s.failed) > 0 {
		s.own = append(s.own, Field{"failed_calls", Raw(s.failed)})
	}
	if len(s.own) > 0 {
		o = append(o, Field{"extra", Raw(Object{{atifOwn, Raw(s.own)}})})
	}
	return Raw(o)
}
