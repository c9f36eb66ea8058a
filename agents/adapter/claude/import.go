package claude

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ctxfs/ctxfs/agents/adapter"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func importClaude(in *adapter.Input, out adapter.Output) error {
	c := claudeImport{in: in, out: out}
	records, err := c.read()
	if err != nil {
		return err
	}
	tree := newClaudeTree(records, &c.tally)
	c.noteLeft(tree)
	c.tally.Report(out.Loss)
	for i, r := range records {
		if r.compact {
			c.compacted = tree.compacted(i)
		}
		if err := c.emit(r); err != nil {
			return err
		}
		if err := c.emitBeside(r); err != nil {
			return err
		}
	}
	return nil
}

type claudeImport struct {
	in    *adapter.Input
	out   adapter.Output
	tally adapter.Tally

	compacted adapter.Compacted // range of the next compaction summary
}

// read reads all lines. Each gets its identity: a uuid is one where it first
// stands, for a transcript may hold a record twice.
func (c *claudeImport) read() (records []*claudeRecord, err error) {
	lines := adapter.NewLines(c.in.R)
	equal := adapter.Counter{}
	first := map[string]int{}
	for {
		line, err := lines.Next()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		line.Bytes = slices.Clip(line.Bytes)
		r := &claudeRecord{line: line, bad: line.Problem}
		if r.bad == "" && !r.read() {
			r.bad = "is not a JSON object"
		}
		if at, twice := first[r.uuid]; r.bad == "" && r.uuid != "" {
			r.id, r.native = r.uuid, !twice
			if twice {
				r.kind = claudeEvent
				c.tally.Add(line.Where(), fmt.Sprintf("has the uuid of line %d; kept as an event", at))
			} else {
				first[r.uuid] = line.N
			}
		}
		if !r.native {
			r.id = equal.ID(line.Bytes)
		}
		records = append(records, r)
	}
}

// noteLeft reports what had been imported before the conversation left it: what
// is in a session stays in it.
func (c *claudeImport) noteLeft(t *claudeTree) {
	for _, pair := range t.left {
		was, now := pair[0].records[0], pair[1].records[0]
		if c.in.Seen(was.chain, was.id) && !c.in.Seen(now.chain, now.id) {
			c.out.Loss(adapter.Loss{Where: now.line.Where(), What: fmt.Sprintf("the conversation continues from before %s, which was imported already: that stays where it is, and the new branch follows it", was.line.Where())})
		}
	}
}

// emit writes what is not in the session: the record, or the whole answer that it is a part of.
func (c *claudeImport) emit(r *claudeRecord) error {
	if r.bad != "" {
		return r.line.Keep(c.in, c.out, r.stamp(), r.bad)
	}
	live := r.isMessage() && !r.unit.lost
	var err error
	switch {
	case r.done:
	case c.in.Seen(r.chain, r.id):
		if live {
			c.in.HasSaid(r.line.Bytes)
		}
	case !live:
		err = c.out.Record(r.event())
	case r.compact:
		err = c.out.Record(r.summary(c.compacted))
	case r.kind == claudeAssistant:
		err = c.emitAnswer(r)
	default:
		err = c.out.Record(claudeMessageOf(r))
	}
	if err != nil || !live || !r.counted() || c.in.Seen(r.chain, r.usageID()) {
		return err
	}
	return c.out.Record(r.usageEvent())
}

func (c *claudeImport) emitAnswer(r *claudeRecord) error {
	var group []*claudeRecord
	size := 0
	for _, part := range r.unit.records {
		if part.done || c.in.Seen(r.chain, part.id) {
			continue
		}
		if size += len(part.line.Bytes) + 256; len(group) > 0 && size > ctxabi.MaxRecord {
			break // what is left is emitted when its turn comes
		}
		part.done = true
		group = append(group, part)
	}
	return c.out.Record(claudeMessageOf(group...))
}

// counted reports whether an answer begins with r whose tokens the provider counted.
func (r *claudeRecord) counted() bool {
	if r.kind != claudeAssistant || r.unit.records[0] != r || !r.native {
		return false
	}
	_, ok := r.usageField()
	return ok
}

// usageField is what the provider says that the answer took so far; ok is false where it says nothing.
func (r *claudeRecord) usageField() (usage string, ok bool) {
	if !r.usage {
		return "", false
	}
	usage = gjson.GetBytes(r.line.Bytes, "message.usage").Raw
	u, ok := ctxabi.DecodeUsage([]byte(`{"type":"usage","usage":` + usage + `}`))
	return usage, ok && u.Input+u.Output > 0
}

// usageEvent returns what the answer that begins with r took, in an event that
// ctxfs reads. The message's rest has it too, so it is not exported. Answers
// that the conversation left have none, so that there are as many as calls.
func (r *claudeRecord) usageEvent() adapter.Record {
	var usage string
	for _, part := range slices.Backward(r.unit.records) { // the last one has the final numbers
		var ok bool
		if usage, ok = part.usageField(); ok {
			break
		}
	}
	s := adapter.Stamp{Format: claudeName, IDs: []string{r.usageID()}, At: []int{r.line.N - 1}}
	return adapter.Record{Chain: r.chain, Event: true, Line: slices.Concat(
		[]byte(`{"type":"usage"`), r.timeField(), []byte(`,"usage":`+usage+`,"import":`), adapter.Raw(s), []byte("}"))}
}

// usageID is the identity of the usage event of the answer that begins with r.
func (r *claudeRecord) usageID() string { return r.id + "/usage" }

func (r *claudeRecord) stamp() adapter.Stamp {
	return adapter.Stamp{Format: claudeName, IDs: []string{r.id}, At: []int{r.line.N - 1}}
}

// event is a record that is no message of the conversation, as it stands.
func (r *claudeRecord) event() adapter.Record {
	typ := adapter.Raw(claudeName + "/" + r.typ)
	switch {
	case r.typ == "" || len(r.typ) > 100, adapter.IsReserved(r.typ):
		typ = adapter.Raw(claudeName + "/record")
	case r.typ == "system" && r.subtype == "compact_boundary":
		typ = adapter.Raw("compaction")
	}
	b := slices.Concat([]byte(`{"type":`), typ)
	if r.native {
		b = append(append(append(b, `,"id":"`...), r.uuid...), '"')
	}
	b = append(b, r.timeField()...)
	if r.isMessage() {
		b = append(b, `,"abandoned":true`...)
	}
	b = append(b, `,"import":`...)
	ids, at := []string{r.id}, []int{r.line.N - 1}
	if r.isMessage() && r.counted() { // no usage event comes later, either
		ids, at = append(ids, r.usageID()), append(at, at[0])
	}
	b = append(b, claudeStamp(ids, at, r.line.Bytes)...)
	return adapter.Record{Chain: r.chain, Event: true, Line: append(b, '}')}
}

// summary returns the event that delivers a compaction summary with the range c. If the record is
// not a single text, or if no text remains, summary returns an ordinary message.
func (r *claudeRecord) summary(c adapter.Compacted) adapter.Record {
	event, ok := adapter.SummaryEvent(r.said())
	if !ok || r.list && gjson.GetBytes(r.line.Bytes, "message.content.#").Int() != 1 {
		return claudeMessageOf(r)
	}
	b := adapter.Raw(event)
	b = append(append(b[:len(b)-1], r.timeField()...), `,"import":`...)
	b = append(b, claudeStamp([]string{r.id}, []int{r.line.N - 1}, r.line.Bytes)...)
	return adapter.Record{Chain: r.chain, Event: true, Line: append(b, '}'), Compacted: &c}
}

func (r *claudeRecord) timeField() []byte {
	if ts := gjson.GetBytes(r.line.Bytes, "timestamp"); claudePlain(ts) != "" {
		return []byte(`,"ts":` + ts.Raw)
	}
	return nil
}

// claudeMessageOf makes one message of a record, or of all parts of an answer.
//
// The stamp's rest is the record without uuid, timestamp and content, which
// are the message's id, ts and content. Of several records it is
// {"parts":[1,2],"records":[…]}: how many parts of the content each has, and what is
// left of each. Only the first gives its timestamp away.
func claudeMessageOf(group ...*claudeRecord) adapter.Record {
	r := group[0]
	role := `"user"`
	if r.kind == claudeAssistant {
		role = `"assistant"`
	}
	var content, rest, counts []byte
	var ids []string
	var at []int
	ts := ""
	for i, part := range group {
		ids, at = append(ids, part.id), append(at, part.line.N-1)
		if i > 0 {
			rest = append(rest, ',')
		}
		var said, when string
		rest, said, when = part.appendRest(rest, i == 0)
		if i == 0 {
			ts = when
		}
		if len(group) == 1 {
			content = append(content, said...)
			break
		}
		n := 0
		gjson.Parse(said).ForEach(func(_, part gjson.Result) bool {
			if len(content) > 0 {
				content = append(content, ',')
			}
			content = append(content, part.Raw...)
			n++
			return true
		})
		counts = strconv.AppendInt(append(counts, ','), int64(n), 10)
	}
	if len(group) > 1 {
		content = slices.Concat([]byte("["), content, []byte("]"))
		rest = slices.Concat([]byte(`{"parts":[`), counts[1:], []byte(`],"records":[`), rest, []byte("]}"))
	}
	b := make([]byte, 0, len(content)+len(rest)+200+80*len(group))
	b = append(append(append(b, `{"role":`...), role...), `,"content":`...)
	b = append(b, content...)
	if r.native {
		b = append(append(append(b, `,"id":"`...), r.uuid...), '"')
	}
	if ts != "" {
		b = append(append(b, `,"ts":`...), ts...)
	}
	b = append(append(b, `,"import":`...), claudeStamp(ids, at, rest)...)
	return adapter.Record{Chain: r.chain, Line: append(b, '}')}
}

// appendRest appends what a message has no place for, and gives what it has: the content and the time, as they stand.
func (r *claudeRecord) appendRest(b []byte, givesTime bool) (rest []byte, content, ts string) {
	if r.kind == claudeAttached {
		left, said, when := r.attachedRest(givesTime)
		return append(b, left...), string(said), when
	}
	outer, inner := "message", "content"
	if r.kind == claudeQueued {
		outer, inner = "attachment", "prompt"
	}
	rest = claudeFields(b, gjson.ParseBytes(r.line.Bytes), func(b []byte, k, v gjson.Result) []byte {
		switch {
		case k.Str == "uuid" && r.native:
			return b
		case k.Str == "timestamp" && givesTime && claudePlain(v) != "":
			ts = v.Raw
			return b
		case k.Str == outer && v.IsObject():
			b = append(append(b, k.Raw...), ':')
			return claudeFields(b, v, func(b []byte, k, v gjson.Result) []byte {
				if k.Str == inner {
					content = v.Raw
					return b
				}
				return claudeField(b, k, v)
			})
		}
		return claudeField(b, k, v)
	})
	return rest, content, ts
}

// claudeStamp is a stamp with a rest that is JSON on one line already.
func claudeStamp(ids []string, at []int, rest []byte) []byte {
	stamp := adapter.Raw(adapter.Stamp{Format: claudeName, IDs: ids, At: at})
	return slices.Concat(stamp[:len(stamp)-1], []byte(`,"rest":`), rest, []byte("}"))
}
