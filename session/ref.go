package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Content returns the bytes that r means, read from the history and checked against r.Hash:
// ctxabi.ErrIO, and a row in the session's report, when they are not what they were. With an empty
// hash it gives them unchecked, for whoever makes the ref.
func (x *Session) Content(r ctxabi.ContentRef) ([]byte, error) {
	b, err := x.content(r)
	if err == nil && r.Hash != "" && ctxabi.ContentID(b) != r.ID() {
		err = x.changed(r)
	}
	return b, err
}

// changed reports that the history does not give the bytes of r.
func (x *Session) changed(r ctxabi.ContentRef) error {
	err := ctxabi.E("read", r.Source, ctxabi.ErrIO, "the bytes of %[2]s can no longer be made from records %[1]s", ctxabi.Span{From: r.Start, To: r.End}, r.ID())
	x.Report(disk.RowOf("read", r.Source, 0, err))
	return err
}

func (x *Session) content(r ctxabi.ContentRef) ([]byte, error) {
	c, err := x.locate(r)
	if err != nil || c.log == nil {
		return c.data, err
	}
	b := make([]byte, c.size)
	if _, err := c.log.ReadAt(b, c.from); err != nil && !(err == io.EOF && c.size == 0) {
		return nil, err
	}
	return b, nil
}

// maxRecordID is how long the id of a record may be that names it elsewhere.
const maxRecordID = 256

// RecordID returns the id that record n of a log has by its own words; it is "" where the record
// has none that is a string of 1 to 256 bytes.
func (x *Session) RecordID(file string, n int) (id string) {
	log := x.Messages()
	if file == ctxabi.EventsFile {
		log = x.Events()
	}
	ix, err := log.Index()
	if err != nil || n < 1 || n > ix.Len() {
		return ""
	}
	raw, err := ix.Record(n)
	if err != nil {
		return ""
	}
	ctxabi.EachField(raw, ctxabi.MaxDepth, func(key, value []byte) {
		if string(key) == `"id"` && json.Unmarshal(value, &id) != nil {
			id = ""
		}
	})
	if len(id) > maxRecordID {
		return ""
	}
	return id
}

// Content is content of the history that is open for reading at any offset. Raw lines, which may be
// many, are read from the log on demand. The text of one record is in memory, 16 MiB at most.
type Content struct {
	log        *log.Log
	from, size int64
	data       []byte
}

// OpenContent returns what r means, once all of it was read and checked as [Session.Content] does,
// in blocks. It returns ctxabi.ErrNotFound if there are no such records, and ctxabi.ErrIO if they
// do not give these bytes any more.
func (x *Session) OpenContent(r ctxabi.ContentRef) (*Content, error) {
	c, err := x.locate(r)
	if err != nil {
		return nil, err
	}
	sum, err := c.sum()
	if err == nil && "sha256-"+hex.EncodeToString(sum[:]) != r.ID() {
		err = x.changed(r)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Measure returns the hash and the length of what r means, reading it in blocks. r.Hash does not
// count. It returns ctxabi.ErrNotFound if there are no such records.
func (x *Session) Measure(r ctxabi.ContentRef) (sum [sha256.Size]byte, size int64, err error) {
	c, err := x.locate(r)
	if err != nil {
		return sum, 0, err
	}
	sum, err = c.sum()
	return sum, c.size, err
}

// Size is the length of the content in bytes.
func (c *Content) Size() int64 { return c.size }

// ReadAt implements io.ReaderAt. It returns io.EOF at Size.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	if off >= c.size {
		return 0, io.EOF
	}
	if c.log == nil {
		return bytes.NewReader(c.data).ReadAt(p, off)
	}
	short := int64(len(p)) > c.size-off
	n, err := c.log.ReadAt(p[:min(int64(len(p)), c.size-off)], c.from+off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// sum hashes the content, of which no more than a block is in memory.
func (c *Content) sum() (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if _, err = io.Copy(h, io.NewSectionReader(c, 0, c.size)); err == nil {
		h.Sum(sum[:0])
	}
	return sum, err
}

// locate finds what r means without reading raw lines.
func (x *Session) locate(r ctxabi.ContentRef) (*Content, error) {
	log := &x.messages
	if r.Source == ctxabi.EventsFile {
		log = &x.events
	}
	ix, err := log.Index()
	if err != nil {
		return &Content{}, err
	}
	if r.Start < 1 || r.End < r.Start || r.End > ix.Len() || r.Form != ctxabi.FormLines && r.Start != r.End {
		return &Content{}, ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "there are no records %d-%d of %d", r.Start, r.End, ix.Len())
	}
	c := &Content{}
	if r.Form == ctxabi.FormLines {
		first, last := ix.At(r.Start), ix.At(r.End)
		c.log, c.from = log, first.Offset
		c.size = last.End() - c.from
	} else {
		raw, err := ix.Record(r.Start)
		if err == nil {
			c.data, err = formOf(raw, r)
		}
		if err != nil {
			return &Content{}, err
		}
		c.size = int64(len(c.data))
	}
	if r.Offset < 0 || r.Length < 0 || r.Offset > c.size || r.Offset+r.Length > c.size {
		return &Content{}, ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "record %d has %d bytes, not %d from %d on", r.Start, c.size, r.Length, r.Offset)
	}
	c.from, c.size = c.from+r.Offset, c.size-r.Offset
	if r.Length > 0 {
		c.size = r.Length
	}
	if c.log == nil {
		c.data = c.data[c.from:][:c.size]
	}
	return c, nil
}

// formOf decodes one record as r asks.
func formOf(raw []byte, r ctxabi.ContentRef) ([]byte, error) {
	none := func(what string, n int) error {
		return ctxabi.E("read", r.Source, ctxabi.ErrNotFound, "record %d has %d %s, not number %d", r.Start, n, what, r.Part)
	}
	if r.Source == ctxabi.EventsFile {
		e, ok := ctxabi.DecodeToolEvent(raw)
		switch {
		case r.Form == ctxabi.FormText && ok:
			return []byte(e.Text), nil
		case r.Form == ctxabi.FormArguments && ok && r.Part == 0:
			return []byte(e.Arguments), nil
		}
		return nil, none("such parts", 0)
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
	case ctxabi.FormArguments:
		m := ctxabi.DecodeMessage(raw)
		if r.Part < 0 || r.Part >= len(m.Calls) {
			return nil, none("calls", len(m.Calls))
		}
		return []byte(m.Calls[r.Part].Arguments), nil
	case ctxabi.FormData:
		data := ctxabi.Payloads(raw)
		if r.Part < 0 || r.Part >= len(data) {
			return nil, none("payloads", len(data))
		}
		return data[r.Part].Bytes, nil
	}
	return nil, fmt.Errorf("%w: form %q", ctxabi.ErrMalformed, r.Form)
}
