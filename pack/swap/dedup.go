package swap

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/finds"
	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
)

// What repeats in a history is looked for when somebody looks: neither appends nor packs do it. Records are gone
// through once, in the order of the timeline, and what was learned of them is kept in lines of a batch each, so
// that the next daemon goes on where this one was.

// DedupName is the derived content that remembers what was gone through.
const DedupName = "dedup/batches"

// Dedup is what repeats in a session's history.
type Dedup struct {
	Size atomic.Int64 // about, in bytes

	mu       sync.Mutex   // held while records are read
	repeats  *repeatTable // nil: nothing was loaded yet
	payloads []ctxabi.BlobRow
	payload  map[string]int   // by id
	places   int              // of the timeline that were gone through
	tools    int              // tool events among them
	partial  bool             // a record could not be read: from there on nothing is kept
	rows     []ctxabi.BlobRow // as of places
	users    []blob.Blob      // that shown tells of
	Shown    atomic.Pointer[Nodes]
}

// Batch is what was learned of some records, as it is kept.
type Batch struct {
	prefix.Batch
	Contents []keptContent `json:"contents,omitempty"`
	Payloads []keptPayload `json:"payloads,omitempty"`
}

type keptContent struct {
	Ref    ctxabi.ContentRef `json:"ref"`
	Size   int               `json:"size"`
	Chunks []byte            `json:"chunks,omitempty"` // sum and length of each; none where an earlier content says the same
	Blobs  []foundBlob       `json:"blobs,omitempty"`  // that it was the first to repeat
}

type keptPayload struct {
	Ref  ctxabi.ContentRef `json:"ref"`
	Size int64             `json:"size"`
	Kind string            `json:"kind"`
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
	if d.repeats == nil {
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
		d.rows = nil
	}
	n, users := d.Shown.Load(), x.Blobs()
	if n == nil || d.rows == nil || !slices.Equal(users, d.users) {
		if d.rows == nil {
			d.rows = d.found()
		}
		n, d.users = d.index(users), users
		d.Shown.Store(n)
	}
	d.Size.Store(int64(d.repeats.bytes() + 400*len(d.payloads) + n.bytes()))
	return n, nil
}

func (d *Dedup) begin() {
	d.repeats, d.payloads, d.payload, d.places, d.tools, d.partial, d.rows = newRepeatTable(), nil, map[string]int{}, 0, 0, false, nil
}

// read goes through the next records.
func (d *Dedup) read(m record.Records) (Batch, error) {
	kept := Batch{Batch: prefix.Batch{From: d.places + 1}}
	for bytes := 0; d.places < m.Len() && bytes < finds.BatchBytes; {
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
	text := func(form ctxabi.ContentForm, part int, text string) {
		if len(text) < minBlob {
			return
		}
		c := keptContent{Ref: ctxabi.ContentRef{Source: a.Log(), Start: a.Line, End: a.Line, Form: form, Part: part}, Size: len(text)}
		sum := contentSum(sha256.Sum256([]byte(text)))
		var chunks []chunkOf
		if _, known := d.repeats.wholes[sum]; !known {
			chunks = cut(text)
		}
		c.Blobs = d.repeats.add(c.Ref, text, sum, chunks)
		c.Chunks = packChunks(chunks)
		c.Ref.Hash = "sha256:" + hex.EncodeToString(sum[:])
		kept.Contents = append(kept.Contents, c)
	}
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
		k := keptPayload{Size: int64(len(p.Bytes)), Kind: ctxabi.BlobFile,
			Ref: withHash(ctxabi.ContentRef{Source: a.Log(), Start: a.Line, End: a.Line, Form: ctxabi.FormData, Part: i}, ctxabi.ContentID(p.Bytes))}
		if strings.HasPrefix(p.Mime, "image/") {
			k.Kind = ctxabi.BlobImage
		}
		d.addPayload(k)
		kept.Payloads = append(kept.Payloads, k)
	}
	return nil
}

func (d *Dedup) addPayload(k keptPayload) {
	if i, known := d.payload[k.Ref.Hash]; known {
		d.payloads[i].Count++
		d.payloads[i].Refs.Add(SourceOf(k.Ref))
		return
	}
	d.payload[k.Ref.Hash] = len(d.payloads)
	d.payloads = append(d.payloads, ctxabi.BlobRow{Bytes: k.Size, Hash: k.Ref.ID(), Kind: k.Kind, Refs: ctxabi.Places{SourceOf(k.Ref)}, Count: 1, Source: SourceOf(k.Ref), Ref: k.Ref})
}

// load continues after the records that the stored batches cover. It returns an error if the history
// cannot be read.
func (d *Dedup) load(x *session.Session) error {
	d.begin()
	records, tools, fits, err := prefix.LoadLines(source.Derived{Session: x, Name: DedupName}, func(line []byte) bool {
		var b Batch
		return json.Unmarshal(line, &b) == nil && d.replay(&b)
	})
	if !fits {
		d.begin()
	}
	d.places, d.tools = records, tools
	return err
}

// replay adds what a batch tells of.
func (d *Dedup) replay(b *Batch) bool {
	for _, c := range b.Contents {
		sum, ok := sumIn(c.Ref)
		chunks, whole := unpackChunks(c.Chunks)
		size := 0
		for _, chunk := range chunks {
			size += chunk.length
		}
		if _, known := d.repeats.wholes[sum]; !ok || !whole || !known && size != c.Size {
			return false
		}
		d.repeats.hold(unhashed(c.Ref), sum, c.Size, chunks)
		for _, f := range c.Blobs {
			if f.Content < 0 || f.Content >= len(d.repeats.contents) || f.From < 0 || f.N < 1 || f.From+f.N > len(d.repeats.contents[f.Content].chunks) {
				return false
			}
			d.repeats.note(f)
		}
	}
	for _, p := range b.Payloads {
		d.addPayload(p)
	}
	return true
}

func sumIn(r ctxabi.ContentRef) (sum contentSum, ok bool) {
	b, err := hex.DecodeString(strings.TrimPrefix(r.Hash, "sha256:"))
	return sum, err == nil && copy(sum[:], b) == len(sum)
}

// packChunks returns each chunk 14 bytes.
func packChunks(chunks []chunkOf) (b []byte) {
	for _, c := range chunks {
		b = append(b, c.sum[:]...)
		b = binary.LittleEndian.AppendUint16(b, uint16(c.length))
	}
	return b
}

func unpackChunks(b []byte) (chunks []chunkOf, whole bool) {
	const each = len(chunkSum{}) + 2
	for ; len(b) >= each; b = b[each:] {
		chunks = append(chunks, chunkOf{chunkSum(b), int(binary.LittleEndian.Uint16(b[len(chunkSum{}):]))})
	}
	return chunks, len(b) == 0
}

// found lists all that was found, in the order of the history.
func (d *Dedup) found() []ctxabi.BlobRow {
	var rows []ctxabi.BlobRow
	counts := d.repeats.counts()
	for i := range d.repeats.blobs {
		rows = append(rows, d.repeats.row(&d.repeats.blobs[i], counts[i]))
	}
	return append(rows, d.payloads...)
}

// index is rows and what users stored behind them. What both have is the user's, and says how often the history has it.
func (d *Dedup) index(users []blob.Blob) *Nodes {
	stored := map[string]*standing{}
	for _, u := range users {
		stored[u.ID] = &standing{refs: ctxabi.Places{}}
	}
	if len(users) > 0 {
		for i := range d.repeats.contents {
			id := "sha256-" + hex.EncodeToString(d.repeats.contents[i].sum[:])
			if s := stored[id]; s != nil {
				s.at(d.repeats.contents[i].ref)
			}
		}
	}
	n := &Nodes{}
	for _, row := range d.rows {
		if s := stored[row.Hash]; s != nil {
			if row.Count > s.count {
				*s = standing{row.Count, row.Refs}
			}
			continue
		}
		n.add(row.Hash, Node{Size: row.Bytes, Tokens: row.Tokens, Ref: row.Ref}, row)
	}
	for _, u := range users {
		row := ctxabi.BlobRow{Bytes: u.Size, Hash: u.ID, Kind: ctxabi.BlobFile, Refs: stored[u.ID].refs, Count: stored[u.ID].count, Source: ctxabi.BlobOfUser}
		n.add(u.ID, Node{Size: u.Size}, row)
	}
	return n.sorted()
}

// SourceOf names the record that a ref is of: "messages:12".
func SourceOf(r ctxabi.ContentRef) string {
	return fmt.Sprintf("%s:%d", strings.TrimSuffix(r.Source, ".jsonl"), r.Start)
}

func blobRow(kind string, ref ctxabi.ContentRef, id contentSum, size int64, in standing, tokens int) ctxabi.BlobRow {
	row := ctxabi.BlobRow{Bytes: size, Hash: "sha256-" + hex.EncodeToString(id[:]), Kind: kind, Refs: in.refs, Count: in.count, Source: SourceOf(ref), Tokens: tokens}
	row.Ref = withHash(ref, row.Hash)
	return row
}
