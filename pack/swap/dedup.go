package swap

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
)

// Repeats are searched only when somebody looks: neither appends nor packs do it. Each record is read
// once, in the order of the timeline. What was found is stored in one line for each batch of records,
// so that the next daemon continues there.

// DedupName is the derived content that stores the batches.
const DedupName = "dedup/batches"

// minBlob is the least number of bytes of a text that may be a blob.
const minBlob = 1 << 10

// batchVersion is the version of the stored batches. Batches of other versions are made again.
const batchVersion = 2

// Dedup lists the contents that the history of a session repeats, and all its images and files.
type Dedup struct {
	Size atomic.Int64 // estimated memory in bytes

	mu      sync.Mutex       // held while records are read
	byID    map[string]int   // index in blobs; nil: nothing was loaded yet
	blobs   []ctxabi.BlobRow // distinct contents in the order of the history
	places  int              // records that were read
	tools   int              // tool events among them
	partial bool             // a record could not be read, so that nothing is stored from there on
	users   []blob.Blob      // as of Shown
	changed bool             // since Shown
	Shown   atomic.Pointer[Nodes]
}

// Batch is what some records contain, as it is stored.
type Batch struct {
	prefix.Batch
	Version  int       `json:"version"`
	Contents []Content `json:"contents,omitempty"`
}

// Content is a text of a record, or an image or file in it.
type Content struct {
	Ref    ctxabi.ContentRef `json:"ref"`
	Size   int64             `json:"size"`
	Kind   string            `json:"kind"`
	Tokens int               `json:"tokens,omitempty"` // of a text, where it first occurs
}

// Update reads the records that were not read yet and returns what repeats. It returns an error when
// one cannot be read, and that of ctx when ctx ends.
func (d *Dedup) Update(ctx context.Context, x *session.Session, e *source.Logs) (*Nodes, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t, err := x.Timeline()
	if err != nil {
		return nil, err
	}
	in := pack.Input{Messages: e.Stored(t.Messages, false), Tools: t.Tools}
	if len(t.Tools) > 0 {
		in.Events = e.Stored(t.Events, true)
	}
	m := in.History()
	if d.byID == nil {
		if err := d.load(x); err != nil {
			return nil, err
		}
	}
	if d.places > m.Len() || record.ToolsUpTo(m, d.places) != d.tools { // the end of a log was lost with the power
		d.begin()
		x.RemoveDerived(DedupName)
	}
	for d.places < m.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := record.UnreadSoFar(m)
		kept, err := d.read(m)
		if err == nil {
			kept.Head, err = source.Derived{Session: x, Name: DedupName}.Head(m, d.places)
		}
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		d.partial = d.partial || record.UnreadSoFar(m) > before
		if !d.partial {
			x.AppendDerived(DedupName, line) // what is lost is read again
		}
		d.changed = true
	}
	n, users := d.Shown.Load(), x.Blobs()
	if n == nil || d.changed || !slices.Equal(users, d.users) {
		n, d.users, d.changed = d.index(users), users, false
		d.Shown.Store(n)
	}
	d.Size.Store(int64(400*len(d.blobs) + n.bytes()))
	return n, nil
}

func (d *Dedup) begin() {
	d.byID, d.blobs, d.places, d.tools, d.partial, d.changed = map[string]int{}, nil, 0, 0, false, true
}

// read goes through the next records.
func (d *Dedup) read(m record.Records) (Batch, error) {
	kept := Batch{Batch: prefix.Batch{From: d.places + 1}, Version: batchVersion}
	for bytes := 0; d.places < m.Len() && bytes < batchBytes; {
		at := d.places + 1
		e := m.At(at)
		bytes += int(e.Len) + 1
		if int(e.Len) >= minBlob || e.Flags&ctxabi.HasImages != 0 {
			if err := d.readRecord(m, at, &kept); err != nil {
				return kept, err
			}
		}
		d.places = at
	}
	d.tools = record.ToolsUpTo(m, d.places)
	kept.To, kept.Tools = d.places, d.tools
	return kept, nil
}

func (d *Dedup) readRecord(m record.Records, at int, kept *Batch) error {
	a := record.AddressOf(m, at)
	raw, err := m.Record(at)
	if err != nil {
		return record.Unreadable(a, err)
	}
	add := func(form ctxabi.ContentForm, part int, kind string, content []byte) {
		if kind == ctxabi.BlobText && len(content) < minBlob {
			return
		}
		ref := ctxabi.ContentRef{Source: a.Log(), Start: a.Line, End: a.Line, Form: form, Part: part}
		c := Content{Ref: withHash(ref, ctxabi.ContentID(content)), Size: int64(len(content)), Kind: kind}
		if _, known := d.byID[c.Ref.ID()]; !known && kind == ctxabi.BlobText {
			c.Tokens = ctxabi.Weight(content)
		}
		d.add(c)
		kept.Contents = append(kept.Contents, c)
	}
	text := func(form ctxabi.ContentForm, part int, text string) { add(form, part, ctxabi.BlobText, []byte(text)) }
	if a.Event {
		if ev, ok := ctxabi.DecodeToolEvent(raw); ok {
			text(ctxabi.FormText, 0, ev.Text)
			text(ctxabi.FormArguments, 0, ev.Arguments)
		}
		return nil
	}
	msg := ctxabi.DecodeMessage(raw)
	text(ctxabi.FormText, 0, msg.Text)
	for i, r := range msg.Results {
		text(ctxabi.FormResult, i, r.Text)
	}
	for i, c := range msg.Calls {
		text(ctxabi.FormArguments, i, c.Arguments)
	}
	if msg.Images == 0 && m.At(at).Flags&ctxabi.HasImages == 0 {
		return nil
	}
	for i, p := range ctxabi.Payloads(raw) {
		kind := ctxabi.BlobFile
		if strings.HasPrefix(p.Mime, "image/") {
			kind = ctxabi.BlobImage
		}
		add(ctxabi.FormData, i, kind, p.Bytes)
	}
	return nil
}

// add counts a content.
func (d *Dedup) add(c Content) {
	id := c.Ref.ID()
	k, known := d.byID[id]
	if !known {
		k = len(d.blobs)
		d.byID[id] = k
		d.blobs = append(d.blobs, ctxabi.BlobRow{Bytes: c.Size, Hash: id, Kind: c.Kind, Source: SourceOf(c.Ref), Tokens: c.Tokens, Ref: c.Ref})
	}
	d.blobs[k].Count++
	d.blobs[k].Refs.Add(SourceOf(c.Ref))
}

// load continues after the records that the stored batches cover. It returns an error if the history
// cannot be read.
func (d *Dedup) load(x *session.Session) error {
	d.begin()
	records, tools, fits, err := prefix.LoadLines(source.Derived{Session: x, Name: DedupName}, func(line []byte) bool {
		var b Batch
		if json.Unmarshal(line, &b) != nil || b.Version != batchVersion {
			return false
		}
		for _, c := range b.Contents {
			d.add(c)
		}
		return true
	})
	if !fits {
		d.begin()
	}
	d.places, d.tools = records, tools
	return err
}

// index returns the blobs of the history, and after them those that users stored. A blob that both have is
// the user's, and its row counts how often the history has it.
func (d *Dedup) index(users []blob.Blob) *Nodes {
	n := &Nodes{}
	stored := map[string]bool{}
	for _, u := range users {
		stored[u.ID] = true
	}
	for _, row := range d.blobs {
		if !stored[row.Hash] && (row.Kind != ctxabi.BlobText || row.Count > 1) {
			n.add(row.Hash, Node{Size: row.Bytes, Tokens: row.Tokens, Ref: row.Ref}, row)
		}
	}
	for _, u := range users {
		row := ctxabi.BlobRow{Bytes: u.Size, Hash: u.ID, Kind: ctxabi.BlobFile, Refs: ctxabi.Places{}, Source: ctxabi.BlobOfUser}
		if k, known := d.byID[u.ID]; known {
			row.Refs, row.Count = d.blobs[k].Refs, d.blobs[k].Count
		}
		n.add(u.ID, Node{Size: u.Size}, row)
	}
	return n.sorted()
}

// SourceOf names the record that a ref is of: "messages:12".
func SourceOf(r ctxabi.ContentRef) string {
	return fmt.Sprintf("%s:%d", strings.TrimSuffix(r.Source, ".jsonl"), r.Start)
}

// batchBytes is how many bytes of records one batch covers, about.
const batchBytes = 4 << 20
