package builder

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// open records that a file of the present pack was opened.
func (d *desk) openPack(file string) *pack.Build {
	b := d.pack()
	d.b.Opened(d.x, b, Opening{File: file, UID: 5, PID: 6, At: time.Now()})
	return b
}

// served returns the rows and what is kept.
func (d *desk) served() (rows []blob.Row, s *blob.Served) {
	d.t.Helper()
	s, err := d.x.Served()
	if err != nil {
		d.t.Fatal(err)
	}
	data, _, err := s.Rows()
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var r blob.Row
		if err := json.Unmarshal(line, &r); err != nil {
			d.t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows, s
}

func TestEachPackThatIsReadHasARow(t *testing.T) {
	d := newDesk(t, Config{Budget: 1200})
	defer d.b.Close()
	var read []*pack.Build
	var lengths []int64 // of events.jsonl when each was opened
	for i := range 40 {
		if i == 25 {
			d.b.Close()
			d.restart(Config{Budget: 1200})
			d.openPack("context/pack.md") // of the last row
		}
		d.append(fmt.Appendf(nil, `{"role":"%s","content":"message %d %s"}`, []string{"user", "assistant"}[i%2], i, strings.Repeat(fmt.Sprint("w", i*i, " "), 20)))
		if i%3 == 2 {
			d.event(fmt.Appendf(nil, `{"type":"tool_result","tool_call_id":"c%d","content":"out %d"}`, i, i))
		}
		if i%4 == 3 {
			d.pack() // nobody reads it
			continue
		}
		for _, file := range []string{"context/pack.json", "context/pack.md", "context/pack.json"} {
			if b := d.openPack(file); len(read) == 0 || read[len(read)-1] != b {
				read, lengths = append(read, b), append(lengths, d.x.Events().Len())
			}
		}
	}
	rows, s := d.served()
	if len(rows) != len(read) {
		t.Fatalf("%d rows for %d packs", len(rows), len(read))
	}
	c, _ := tokens.For("")
	compacted, before := false, ""
	for i, r := range rows {
		b := read[i]
		kept := string(b.Markdown[:r.KeptBytes])
		want := blob.Row{At: r.At, Compactions: b.Compactions, Epoch: b.Epoch, EpochReason: b.EpochReason, Events: b.Events, EventsBytes: lengths[i], File: "pack.json",
			KeptBytes: r.KeptBytes, KeptTokens: c.Count(kept), Messages: b.Messages, PackID: b.ID, PID: 6, PrefixBytes: b.Prefix, Tokens: b.Tokens, UID: 5}
		if r != want {
			t.Errorf("row %d: %+v, want %+v", i, r, want)
		}
		rest := string(b.Markdown)[r.KeptBytes:]
		line, _, _ := strings.Cut(rest, "\n")
		if !strings.HasPrefix(before, kept) || kept != "" && kept[len(kept)-1] != '\n' || before != "" && strings.HasPrefix(before[r.KeptBytes:], line+"\n") && line != rest {
			t.Errorf("row %d: %d bytes are kept of\n%s\n-- and\n%s", i, r.KeptBytes, before, b.Markdown)
		}
		if before = string(b.Markdown); i > 0 && r.KeptBytes < rows[i-1].PrefixBytes && r.Epoch == rows[i-1].Epoch {
			t.Errorf("row %d: the epoch is the same, and %d bytes are kept of the %d promised", i, r.KeptBytes, rows[i-1].PrefixBytes)
		}
		if got, err := s.Pack(b.ID); err != nil || !bytes.Equal(got, b.Markdown) {
			t.Errorf("row %d: %v\n%s\n-- was\n%s", i, err, got, b.Markdown)
		}
		compacted = compacted || b.Compactions > 0 && b.Events > 0
	}
	if !compacted {
		t.Error("nothing was compacted")
	}
}

// Readers of many sessions at once: each session has its rows in the order of the openings, and nothing is missing.
func TestManyReadersAreWrittenInOrder(t *testing.T) {
	d := newDesk(t, Config{Budget: 1200})
	defer d.b.Close()
	var wg sync.WaitGroup
	for k := range 6 {
		ref := deskRef
		ref.Session = fmt.Sprint("many", k)
		x, err := d.store.Create(ref, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			var ids []string
			for i := range 15 {
				_, err := x.Messages().Append(context.Background(), log.Batch{Data: append(packtest.Message("user", fmt.Sprint("message ", i)), '\n'), Key: arrival.Key{Conn: 9, Unique: uint64(k*100 + i)}})
				if err != nil {
					t.Error(err)
					return
				}
				b, err := d.b.Current(context.Background(), x)
				if err != nil {
					t.Error(err)
					return
				}
				d.b.Opened(x, b, Opening{File: "context/pack.md", At: time.Now()})
				ids = append(ids, b.ID)
				if i%5 != 4 {
					continue
				}
				s, err := x.Served()
				if err != nil {
					t.Error(err)
					return
				}
				rows, _, err := s.Rows()
				if err != nil || bytes.Count(rows, []byte{'\n'}) != len(ids) {
					t.Errorf("after %d readings there are these rows, %v:\n%s", len(ids), err, rows)
				}
				for i, line := range strings.Split(strings.TrimSpace(string(rows)), "\n") {
					if !strings.Contains(line, ids[i]) {
						t.Errorf("row %d is not of %s: %s", i, ids[i], line)
					}
				}
			}
		})
	}
	wg.Wait()
}

// A disk that takes nothing costs the rows; it is told once, and again when it had recovered in between.
func TestWhatCannotBeKeptIsToldOnce(t *testing.T) {
	d := newDesk(t, Config{})
	defer d.b.Close()
	dir := filepath.Join(d.x.Dir(), ".ctxfs/served")
	block := func() {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // root would write into any directory
			t.Fatal(err)
		}
	}
	told := func() int {
		return strings.Count(string(d.x.Errors()), `"op":"serve"`)
	}
	block()
	for i := range 5 {
		d.append(packtest.Message("user", fmt.Sprint("message ", i)))
		d.openPack("context/pack.md")
	}
	if n := told(); n != 1 {
		t.Errorf("%d reports of one trouble:\n%s", n, d.x.Errors())
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	last := d.openPack("context/pack.md") // which was opened before, in vain
	if rows, _ := d.served(); len(rows) != 1 || rows[0].PackID != last.ID {
		t.Errorf("rows after the trouble: %+v", rows)
	}
	block()
	d.append(packtest.Message("user", "one more"))
	d.openPack("context/pack.md")
	if n := told(); n != 2 {
		t.Errorf("%d reports of two troubles:\n%s", n, d.x.Errors())
	}
}
