package session

import (
	"fmt"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Content gives the bytes that r means, read from the history and checked against r.Hash: ctxabi.ErrIO, and a row in
// the session's report, when they are not what they were. With an empty hash it gives them unchecked, for whoever makes the ref.
func (x *Session) Content(r ctxabi.ContentRef) ([]byte, error) {
	b, err := x.content(r)
	if err == nil && r.Hash != "" && ctxabi.ContentID(b) != r.ID() {
		err = ctxabi.E("read", r.Source, ctxabi.ErrIO, "records %s do not give the bytes of %s any more", ctxabi.Span{From: r.Start, To: r.End}, r.ID())
		x.Report(RowOf("read", r.Source, 0, err))
	}
	return b, err
}

func (x *Session) content(r ctxabi.ContentRef) ([]byte, error) {
	log := &x.messages
	if r.Source == ctxabi.EventsFile {
		log = &x.events
	}
	ix, err := log.Index()
	if err != nil {
		return nil, err
	}
	if r.Start < 1 || r.End < r.Start || r.End > ix.Len() || r.Form != ctxabi.FormLines && r.Start != r.End {
		return nil, ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "there are no records %d-%d of %d", r.Start, r.End, ix.Len())
	}
	var b []byte
	if r.Form == ctxabi.FormLines {
		from, to := ix.row(r.Start).off, ix.row(r.End).end()
		b = make([]byte, to-from)
		if _, err := log.ReadAt(b, from); err != nil {
			return nil, err
		}
	} else {
		raw, err := ix.Record(r.Start)
		if err != nil {
			return nil, err
		}
		if b, err = formOf(raw, r); err != nil {
			return nil, err
		}
	}
	if r.Offset < 0 || r.Length < 0 || r.Offset > int64(len(b)) || r.Offset+r.Length > int64(len(b)) {
		return nil, ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "record %d has %d bytes, not %d from %d on", r.Start, len(b), r.Length, r.Offset)
	}
	if b = b[r.Offset:]; r.Length > 0 {
		b = b[:r.Length]
	}
	return b, nil
}

// formOf decodes one record as r asks.
func formOf(raw []byte, r ctxabi.ContentRef) ([]byte, error) {
	none := func(what string, n int) error {
		return ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "record %d has %d %s, not number %d", r.Start, n, what, r.Part)
	}
	if r.Source == ctxabi.EventsFile {
		e, ok := ctxabi.DecodeToolEvent(raw)
		if r.Form != ctxabi.FormText || !ok {
			return nil, none("such parts", 0)
		}
		return []byte(e.Text), nil
	}
	switch r.Form {
	case ctxabi.FormText:
		return []byte(ctxabi.DecodeMessage(raw).Text), nil
	case ctxabi.FormResult:
		m := ctxabi.DecodeMessage(raw)
		if r.Part < 0 || r.Part >= len(m.Results) {
			return nil, none("results", len(m.Results))
		}
		return []byte(m.Results[r.Part].Text), nil
	case ctxabi.FormData:
		data := ctxabi.Payloads(raw)
		if r.Part < 0 || r.Part >= len(data) {
			return nil, none("payloads", len(data))
		}
		return data[r.Part].Bytes, nil
	}
	return nil, fmt.Errorf("%w: form %q", ctxabi.ErrMalformed, r.Form)
}
