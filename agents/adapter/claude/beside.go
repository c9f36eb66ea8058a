package claude

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/lazy"

	"github.com/tidwall/gjson"
)

// Claude Code puts a result that is too large for the model into <session>/tool-results/<name>, and shows the model the beginning and this
// path. Such a file becomes an event tool_result of the same call, behind the message. Packs show the message, search finds what the
// event says, and an export, which is of the transcript alone, has no line of it.

// claudeBesideDir names the directory of these files.
const claudeBesideDir = "tool-results/"

var claudeBesideName = lazy.Regexp(claudeBesideDir + `([A-Za-z0-9][A-Za-z0-9._-]*)`)

// emitBeside emits the files that a record names, each once; what cannot be read is a loss. It returns the error of the output.
func (c *claudeImport) emitBeside(r *claudeRecord) error {
	if len(c.in.Beside) == 0 || r.bad != "" {
		return nil
	}
	for _, found := range claudeBesideName().FindAllSubmatch(r.line.Bytes, -1) {
		name := string(found[1])
		file := c.in.Beside[name]
		if file == nil || file.Named {
			continue
		}
		file.Named = true
		id := claudeBesideDir + name
		if c.in.Seen(r.chain, id) {
			continue
		}
		data, err := file.Read()
		if err != nil {
			c.out.Loss(adapter.Loss{Where: id, What: err.Error()})
			continue
		}
		if err := c.out.Record(r.besideEvent(id, name, data)); err != nil {
			return err
		}
	}
	return nil
}

// besideEvent is the event of a file that r names.
func (r *claudeRecord) besideEvent(id, name string, data []byte) adapter.Record {
	o := adapter.Object{{"type", adapter.Raw(claudeName + "/tool-results")}}
	if call := r.callNaming(name); call != nil && utf8.Valid(data) {
		o = adapter.Object{{"type", adapter.Raw("tool_result")}, {"tool_call_id", call}}
	}
	if when := gjson.GetBytes(r.line.Bytes, "timestamp"); claudePlain(when) != "" {
		o = append(o, adapter.Field{"ts", json.RawMessage(when.Raw)})
	}
	o = append(o, adapter.Field{"file", adapter.Raw(id)})
	if utf8.Valid(data) {
		o = append(o, adapter.Field{"content", adapter.Raw(string(data))})
	} else {
		o = append(o, adapter.Field{"base64", adapter.Raw(data)})
	}
	s := adapter.Stamp{Format: claudeName, IDs: []string{id}, At: []int{r.line.N - 1}}
	return adapter.Record{Chain: r.chain, Event: true, Line: adapter.Raw(append(o, adapter.Field{adapter.StampKey, adapter.Raw(s)}))}
}

// callNaming is the id of the call whose result in r names a file; nil for none.
func (r *claudeRecord) callNaming(name string) (id json.RawMessage) {
	gjson.GetBytes(r.line.Bytes, "message.content").ForEach(func(_, part gjson.Result) bool {
		for _, found := range claudeBesideName().FindAllStringSubmatch(part.Raw, -1) {
			if call := part.Get("tool_use_id"); found[1] == name && claudePlain(call) != "" {
				id = json.RawMessage(call.Raw)
			}
		}
		return id == nil
	})
	return id
}

// SubagentChain names the chain of the sub-agent of Claude Code that has this id.
func SubagentChain(id string) string { return claudeAgentName(id) }

// SubagentName returns a name made from the task of a sub-agent; it returns "" if no character of the
// task is allowed in a name.
func SubagentName(description string) string { return claudeSlug(description) }
