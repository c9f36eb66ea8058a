package opencode

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/picture"
)

// exportSession writes a document that `opencode import` takes: the messages that were imported as they
// were, behind them what was said since.
func exportSession(src *adapter.Source, w io.Writer) error {
	x := newWriter(src)
	records := adapter.OfChain(src.Records, "", &x.lost)
	doc, list := x.imported(records)
	turns := adapter.ReadTurns(records, formatName, picture.Any, &x.lost)
	for _, t := range turns {
		if !t.Own {
			x.turn(t)
		}
	}
	said := x.flush()
	if doc == nil && len(records) > 0 {
		doc = x.session()
	}
	x.lost.Report(src.Loss)
	if doc == nil {
		return nil
	}
	if len(said) > 0 {
		doc = doc.With("messages", adapter.Raw(append(list, said...)))
	}
	var b bytes.Buffer
	if json.Indent(&b, adapter.Raw(doc), "", "  ") != nil {
		b.Write(adapter.Raw(doc))
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// imported returns the document that was imported last, and its messages; nil without one.
func (x *writer) imported(records []adapter.Record) (doc adapter.Object, list []json.RawMessage) {
	set := adapter.NewSourceSet(records, formatName)
	last := set.Last[""]
	if last == nil {
		return nil, nil
	}
	raw, ok := set.Source("", last.ID)
	set.Report(&x.lost)
	if !ok {
		x.lost.Add("the document", "cannot be put together again: its records have changed")
		return nil, nil
	}
	o, _ := adapter.ParseObject(raw)
	if info := o.Object("info"); adapter.TextAt(info, "id") {
		x.sessionID, x.info = info.Text("id"), info
	}
	list = o.Array("messages")
	if len(list) > 0 {
		m, _ := adapter.ParseObject(list[len(list)-1])
		x.last = m.Object("info").Text("id")
		json.Unmarshal(m.Object("info").Object("time").Get("created"), &x.now)
	}
	return append(adapter.Object{}, o...), list // not nil, also where it is empty
}
