package builder

import (
	"bytes"
	"path"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
)

// Opening is somebody opening a file of a build to read it.
type Opening struct {
	File     string // "context/pack.md"
	UID, PID uint32
	At       time.Time
}

// opened is the pack of a session that was read last.
type opened struct {
	mu      sync.Mutex   // held while a row is written
	build   string       // id of the pack; "" if it is not known
	served  *blob.Served // nil until the first pack is read
	failing bool         // errors.jsonl reports that rows cannot be written
}

// Opened records that a file of build, which is one of x, was opened: a row of packs.jsonl for each
// build that is opened after another one, and its pack.md. It never fails. If the disk does,
// errors.jsonl reports it once.
func (b *Builder) Opened(x *session.Session, build *pack.Build, by Opening) {
	if build.Asks && by.File != ctxabi.PackJSONFile && by.File != ctxabi.ReportFile {
		noteAsked(x, build, false)
	}
	o := &b.entry(x.ID()).opened
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.build == build.ID {
		return
	}

	err := o.write(x, build, by)
	if err == nil {
		o.build, o.failing = build.ID, false
		return
	}
	if o.build = ""; !o.failing {
		o.failing = true
		row := disk.RowOf("serve", ctxabi.PacksFile, 0, err)
		row.Op = "serve"
		x.Report(row)
	}
}

// write adds the row of a pack, unless the last row is of this pack. o.mu is held.
func (o *opened) write(x *session.Session, b *pack.Build, by Opening) (err error) {
	if o.served == nil {
		if o.served, err = x.Served(); err != nil {
			return err
		}
	}
	id, before := o.served.Last()
	if id == b.ID {
		return nil
	}
	c, err := b.Counter()
	if err != nil {
		return err
	}
	kept := keptLines(before, b.Markdown)
	return o.served.Add(blob.Row{
		At: by.At, Compactions: b.Compactions, Epoch: b.Epoch, EpochReason: b.EpochReason, Events: b.Events,
		EventsBytes: x.Events().Len(), File: path.Base(by.File), KeptBytes: kept, KeptTokens: b.TokensOf(kept, c),
		Messages: b.Messages, PackID: b.ID, PID: by.PID, PrefixBytes: b.Prefix, Redact: b.Redaction, Tokens: b.Tokens,
		UID: by.UID,
	}, b.Markdown)
}

// Dropped must be called after rows of packs.jsonl were removed: the next opening of a pack adds a
// row again.
func (b *Builder) Dropped(x *session.Session) {
	b.mu.Lock()
	e, ok := b.sessions.Peek(x.ID())
	b.mu.Unlock()
	if !ok {
		return
	}
	e.opened.mu.Lock()
	defer e.opened.mu.Unlock()
	e.opened.build = ""
}

// keptLines is how many bytes two packs have in common in front, up to a line end.
func keptLines(before, now []byte) int {
	n := 0
	for n < len(before) && n < len(now) && before[n] == now[n] {
		n++
	}
	return bytes.LastIndexByte(now[:n], '\n') + 1
}
