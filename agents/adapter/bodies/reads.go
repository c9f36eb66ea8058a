package bodies

import (
	"bytes"
	"encoding/json"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Reads reports whether the format understands most elements at the beginning of a transcript and
// most messages in its conversations. head may be cut at any byte. Without a complete element in
// head, Reads returns true.
func (b *Bodies) Reads(head []byte) bool {
	doc := bytes.TrimSpace(head)
	list, as, _, _ := takeApart(bytes.NewReader(head))
	if as != AsArray && !json.Valid(doc) {
		if whole, _, ok := adapter.Mended(doc, 2); ok && bytes.IndexByte(doc, '{') == 0 {
			if end := bytes.IndexByte(doc, '\n'); end < 0 || !json.Valid(doc[:end]) {
				list = []Element{{Raw: whole}}
			}
		}
	}
	read, all := 0, 0
	count := func(raw json.RawMessage) {
		if all++; b.understands(raw) {
			read++
		}
	}
	for _, e := range list {
		lists := b.listsOf(e)
		if e.Raw == nil {
			continue
		}
		if lists == nil {
			count(e.Raw)
			continue
		}
		o, _ := adapter.ParseObject(e.Raw)
		for _, l := range lists {
			value := o.At(l.Path)
			if l.Path == "" {
				value = e.Raw
			}
			if messages, ok := adapter.ParseArray(value); ok && !l.System {
				for _, m := range messages {
					count(m)
				}
			}
		}
	}
	return 2*read >= all
}

// understands reports whether raw is a message with a text, a call, or data, or an explicitly empty
// message.
func (b *Bodies) understands(raw json.RawMessage) bool {
	o, err := adapter.ParseObject(raw)
	if err != nil {
		return false
	}
	record, ok := b.Message(o)
	return ok && holds(o, record)
}

// holds reports whether the record of a message has a text, a call, or data, or the message itself
// is empty.
func holds(m, record adapter.Object) bool {
	fields, _ := remainder(m, record)
	return len(adapter.Unread(adapter.Raw(fields), adapter.Raw(record))) == 0 || !isEmpty(record)
}

// isEmpty reports whether the record of a message holds nothing.
func isEmpty(record adapter.Object) bool {
	m, parts := ctxabi.DecodeParts(adapter.Raw(record))
	for _, p := range parts {
		if p.Kind != ctxabi.PartText || p.Text != "" {
			return false
		}
	}
	return m.Text == ""
}
