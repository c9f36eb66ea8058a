package claude

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/calls"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// claudeWriter makes records of Claude Code of messages that came from
// elsewhere. All it makes follows from the session's name and the records, so
// that an export gives the same bytes again.
type claudeWriter struct {
	w      *bufio.Writer
	name   string // of the session
	tally  *adapter.Tally
	chains map[string]*claudeChain

	accepted map[*adapter.Record][]ctxabi.Part // the parts of records whose data the provider does not accept as they are

	session, cwd, version, branch, userType string    // of every record
	mixed                                   bool      // there are messages from elsewhere at all
	begin                                   time.Time // before the first record
}

// claudeChain is where a chain has come to.
type claudeChain struct {
	name string
	n    int       // messages from elsewhere so far
	made int       // records made of the n-th
	last string    // uuid of the last record; "" at the beginning
	now  time.Time // of it

	open  map[string]string // calls that have no result yet: by id the uuid of the record
	queue []string          // the ids of all calls, from the first that may have none
	ids   map[string]string // the last call's id here by its id there, which may come again
}

func itoa(n int) string { return strconv.Itoa(n) }

func (w *claudeWriter) chain(name string) *claudeChain {
	c := w.chains[name]
	if c == nil {
		c = &claudeChain{name: name, now: w.begin, open: map[string]string{}, ids: map[string]string{}}
		w.chains[name] = c
	}
	return c
}

func (c *claudeChain) seeTime(ts string) {
	if t, err := time.Parse(time.RFC3339Nano, ts); err == nil && t.After(c.now) { // readers take the latest record for the end
		c.now = t.UTC()
	}
}

// hash is of the session's name and what else tells a thing from others.
func (w *claudeWriter) hash(of ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(w.name + "\x00" + strings.Join(of, "\x00")))
}

// uuid is a UUID of version 8, which is one that is derived from something.
func (w *claudeWriter) uuid(of ...string) string {
	h := w.hash(of...)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

func (w *claudeWriter) line(raw []byte) error {
	w.w.Write(raw)
	return w.w.WriteByte('\n')
}

// foreign writes a record that came from elsewhere as one or several.
func (w *claudeWriter) foreign(r *adapter.Record) error {
	c := w.chain(r.Chain)
	where := fmt.Sprintf("message %d", c.n+1)
	if r.Chain != "" {
		where += " of " + r.Chain
	}
	if r.Event {
		if typ := r.EventType(); typ != "usage" {
			w.tally.Add("event "+strconv.Quote(typ), "the format has no place for events of other programs")
		}
		return nil
	}
	c.n++
	c.made = 0
	m, parts := ctxabi.DecodeParts(r.Line)
	if list, ok := w.accepted[r]; ok {
		parts = list
	}
	if c.seeTime(m.TS); m.TS == "" {
		c.now = c.now.Add(time.Millisecond)
	}
	lose := func(what string) { w.tally.Add(where, what) }
	if strings.ContainsRune(m.Text, '\uFFFD') && claudeHalf().Match(r.Line) {
		lose("half of a surrogate pair is not a character; U+FFFD replaces it")
	}
	if m.Name != "" && m.Role != ctxabi.Tool {
		lose(adapter.NoAuthor)
	}
	adapter.BesideTexts(*r, lose)
	switch m.Role {
	case ctxabi.System, ctxabi.Developer:
		lose("a transcript has no system prompt; kept as a note that no model sees")
		return w.write(c, adapter.Object{{"type", adapter.Raw("system")}, {"subtype", adapter.Raw("informational")}, {"content", adapter.Raw(m.Text)}, {"isMeta", adapter.Raw(false)}, {"level", adapter.Raw("info")}})
	case ctxabi.Assistant:
		if m.Item == "" {
			return w.answer(c, m, parts, lose)
		}
		isResult := func(p ctxabi.Part) bool { return p.Kind == ctxabi.PartResult }
		if err := w.answer(c, m, slices.DeleteFunc(slices.Clone(parts), isResult), lose); err != nil || len(m.Results) == 0 {
			return err
		}
		return w.said(c, m, slices.DeleteFunc(parts, func(p ctxabi.Part) bool { return !isResult(p) }), lose) // of a provider's own tool
	case ctxabi.RoleUnknown:
		lose("is not a message; left out")
		return nil
	}
	return w.said(c, m, parts, lose)
}

// answer writes each part of an answer as a record, as Claude Code does: they share the message's id.
func (w *claudeWriter) answer(c *claudeChain, m ctxabi.Message, parts []ctxabi.Part, lose func(string)) error {
	var blocks []adapter.Object
	var made []string // ids of calls
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			if p.Text != "" {
				blocks = append(blocks, adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Text)}})
			}
		case ctxabi.PartThinking:
			o, err := adapter.ParseObject(p.Raw)
			if typ := o.Text("type"); err == nil && (typ == "thinking" && o.Text("signature") != "" || typ == "redacted_thinking") {
				blocks = append(blocks, o)
			} else {
				lose("thinking without a signature: the provider would refuse it; left out")
			}
		case ctxabi.PartCall:
			id := claudeCallID(p.Call.ID)
			if c.ids[id] != "" || id == "" { // the provider wants one of its own for each call
				h := w.hash(c.name, "call", itoa(c.n), itoa(len(made)))
				c.ids[id] = fmt.Sprintf("toolu_%x", h[:12])
				id = c.ids[id]
			} else {
				c.ids[id] = id
			}
			input := json.RawMessage(p.Call.Arguments)
			if _, err := adapter.ParseObject(input); err != nil {
				if p.Call.Arguments != "" {
					lose("arguments that are not a JSON object; put into one, as the string \"arguments\"")
					input = adapter.Raw(adapter.Object{{"arguments", adapter.Raw(p.Call.Arguments)}})
				} else {
					input = json.RawMessage("{}")
				}
			}
			name := calls.Name(p.Call.Name)
			if name != p.Call.Name {
				lose(adapter.RenamedTool)
			}
			blocks = append(blocks, adapter.Object{{"type", adapter.Raw("tool_use")}, {"id", adapter.Raw(id)}, {"name", adapter.Raw(name)}, {"input", input}})
			made = append(made, id)
		case ctxabi.PartData:
			lose("the format has no place for an image or a file in an answer; left out")
		case ctxabi.PartResult:
			lose("the format has no place for a result in an answer; left out")
		}
	}
	if len(blocks) == 0 {
		lose("is empty; left out")
	}
	h := w.hash(c.name, "message", itoa(c.n))
	stop := "end_turn"
	if len(made) > 0 {
		stop = "tool_use"
	}
	for _, block := range blocks {
		message := adapter.Object{{"id", adapter.Raw(fmt.Sprintf("msg_%x", h[:12]))}, {"type", adapter.Raw("message")}, {"role", adapter.Raw("assistant")}, {"model", adapter.Raw("unknown")},
			{"content", adapter.Raw([]json.RawMessage{adapter.Raw(block)})}, {"stop_reason", adapter.Raw(stop)}, {"stop_sequence", adapter.Raw(nil)},
			{"usage", json.RawMessage(`{"input_tokens":0,"output_tokens":0}`)}}
		if err := w.write(c, adapter.Object{{"type", adapter.Raw("assistant")}, {"message", adapter.Raw(message)}}); err != nil {
			return err
		}
		if block.Text("type") == "tool_use" {
			c.call(block.Text("id"), c.last)
		}
	}
	return nil
}

// said writes a message of the user or a tool.
func (w *claudeWriter) said(c *claudeChain, m ctxabi.Message, parts []ctxabi.Part, lose func(string)) error {
	var blocks []json.RawMessage
	caller := ""
	result := func(callID string, isError bool, inner []ctxabi.Part) {
		id, uuid := c.answer(claudeCallID(callID))
		if id == "" {
			lose("a result that no call asked for; put as text")
			blocks = append(blocks, w.blocks(inner, lose)...)
			return
		}
		caller = uuid
		o := adapter.Object{{"tool_use_id", adapter.Raw(id)}, {"type", adapter.Raw("tool_result")}, {"content", claudeContent(w.blocks(inner, lose))}}
		if isError {
			o = o.With("is_error", true)
		}
		blocks = append(blocks, adapter.Raw(o))
	}
	for _, p := range parts { // results stand first: the provider wants it so
		if p.Kind == ctxabi.PartResult {
			result(p.Result.CallID, p.Result.IsError, p.Inner)
		}
	}
	parts = slices.DeleteFunc(parts, func(p ctxabi.Part) bool { return p.Kind == ctxabi.PartResult })
	if m.Role == ctxabi.Tool && (len(blocks) == 0 || m.CallID != "" && len(parts) > 0) {
		result(m.CallID, false, parts)
	} else {
		blocks = append(blocks, w.blocks(parts, lose)...)
	}
	if len(blocks) == 0 {
		lose("is empty; left out")
		return nil
	}
	record := adapter.Object{{"type", adapter.Raw("user")}, {"message", adapter.Raw(adapter.Object{{"role", adapter.Raw("user")}, {"content", claudeContent(blocks)}})}}
	if caller != "" {
		record = record.With("sourceToolAssistantUUID", caller)
	}
	return w.write(c, record)
}

// call notes a call in the record of that uuid.
func (c *claudeChain) call(id, uuid string) {
	c.open[id] = uuid
	c.queue = append(c.queue, id)
}

// answer returns the open call that a result belongs to, and the uuid of its
// record: that of its id, or without one the first. "" means that there is none.
func (c *claudeChain) answer(id string) (call, uuid string) {
	call = c.ids[id]
	for id == "" && len(c.queue) > 0 {
		call, c.queue = c.queue[0], c.queue[1:]
		if c.open[call] != "" {
			break
		}
	}
	uuid = c.open[call]
	delete(c.open, call)
	if uuid == "" {
		return "", ""
	}
	return call, uuid
}

// blocks are the texts, images and documents among parts.
func (w *claudeWriter) blocks(parts []ctxabi.Part, lose func(string)) (blocks []json.RawMessage) {
	for _, p := range parts {
		switch p.Kind {
		case ctxabi.PartText:
			if p.Text != "" {
				blocks = append(blocks, adapter.Raw(adapter.Object{{"type", adapter.Raw("text")}, {"text", adapter.Raw(p.Text)}}))
			}
		case ctxabi.PartData:
			if b := claudeData(p.Raw); b != nil {
				blocks = append(blocks, b)
			} else {
				lose("a sound, a video or a file of another kind; left out")
			}
		case ctxabi.PartThinking:
			lose("thinking of others than the model; left out")
		}
	}
	return blocks
}

// claudeData is an image or a PDF as Anthropic's part; nil for other data.
func claudeData(raw []byte) json.RawMessage {
	o, err := adapter.ParseObject(raw)
	if err != nil {
		return nil
	}
	if typ := o.Text("type"); (typ == "image" || typ == "document") && o.Object("source") != nil {
		return raw
	}
	source := func(typ string, fields ...adapter.Field) json.RawMessage {
		return adapter.Raw(adapter.Object{{"type", adapter.Raw(typ)}, {"source", adapter.Raw(adapter.Object(fields))}})
	}
	if data, ok := ctxabi.PayloadOf(raw); ok {
		typ := ""
		switch data.Mime {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			typ = "image"
		case "application/pdf":
			typ = "document"
		default:
			return nil
		}
		return source(typ, adapter.Field{"type", adapter.Raw("base64")}, adapter.Field{"media_type", adapter.Raw(data.Mime)}, adapter.Field{"data", adapter.Raw(base64.StdEncoding.EncodeToString(data.Bytes))})
	}
	url := o.Text("image_url")
	if inner := o.Object("image_url"); inner != nil {
		url = inner.Text("url")
	}
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
		return source("image", adapter.Field{"type", adapter.Raw("url")}, adapter.Field{"url", adapter.Raw(url)})
	}
	return nil
}

// claudeContent is a content of blocks: a string where they are one text, or nothing.
func claudeContent(blocks []json.RawMessage) json.RawMessage {
	if len(blocks) == 0 {
		return adapter.Raw("")
	}
	if len(blocks) == 1 {
		if o, _ := adapter.ParseObject(blocks[0]); o.Text("type") == "text" {
			return o.Get("text")
		}
	}
	return adapter.Raw(blocks)
}

var claudeHalf = lazy.Regexp(`\\u[dD][89a-fA-F]`)

var claudeCallIDs = lazy.Regexp(`^[A-Za-z0-9_-]{1,64}$`)

// claudeCallID is an id of a call that the provider accepts.
func claudeCallID(id string) string {
	if id == "" || claudeCallIDs().MatchString(id) {
		return id
	}
	return "toolu_" + adapter.SourceID([]byte(id), 0)
}

// write writes one record, behind the last one of its chain.
func (w *claudeWriter) write(c *claudeChain, fields adapter.Object) error {
	c.made++
	parent := json.RawMessage("null")
	if c.last != "" {
		parent = adapter.Raw(c.last)
	}
	uuid := w.uuid(c.name, itoa(c.n), itoa(c.made))
	record := adapter.Object{{"parentUuid", parent}, {"isSidechain", adapter.Raw(c.name != "")}, {"userType", adapter.Raw(w.userType)}, {"cwd", adapter.Raw(w.cwd)},
		{"sessionId", adapter.Raw(w.session)}, {"version", adapter.Raw(w.version)}, {"gitBranch", adapter.Raw(w.branch)}}
	if c.name != "" {
		record = append(record, adapter.Field{"agentId", adapter.Raw(strings.TrimPrefix(c.name, "agent-"))})
	}
	record = append(record, fields...)
	record = append(record, adapter.Field{"uuid", adapter.Raw(uuid)}, adapter.Field{"timestamp", adapter.Raw(c.now.Format("2006-01-02T15:04:05.000Z"))})
	c.last = uuid
	c.now = c.now.Add(time.Millisecond)
	return w.line(adapter.Raw(record))
}
