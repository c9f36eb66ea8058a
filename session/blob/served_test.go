package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// servedModel is what the packs that were read ought to be.
type servedModel struct {
	rows []servedRowModel
	text map[string]string // of a pack, by its id
}

type servedRowModel struct {
	at   time.Time
	id   string
	line string
}

func (m *servedModel) expire(now time.Time, ttl time.Duration) {
	if len(m.rows) == 0 || !m.rows[0].at.Before(now.Add(-ttl-ttl/8)) {
		return
	}
	for len(m.rows) > 0 && m.rows[0].at.Before(now.Add(-ttl)) {
		m.rows = m.rows[1:]
	}
}

func (m *servedModel) lines() string {
	var b strings.Builder
	for _, r := range m.rows {
		b.WriteString(r.line)
	}
	return b.String()
}

// lineOf is a row as packs.jsonl has it.
func lineOf(r blob.Row) string {
	head := fmt.Sprintf(`{"at":"%s","compactions":%d,"epoch":"%s","epoch_reason":"%s","events":%d,"events_bytes":%d,"file":"%s","kept_bytes":%d,"kept_tokens":%d,"messages":%d,"pack_id":"%s","pid":%d,"prefix_bytes":%d,"tokens":%d,"uid":%d`,
		r.At.Format(time.RFC3339Nano), r.Compactions, r.Epoch, r.EpochReason, r.Events, r.EventsBytes, r.File, r.KeptBytes, r.KeptTokens, r.Messages, r.PackID, r.PID, r.PrefixBytes, r.Tokens, r.UID)
	return fmt.Sprintf(`%s,"crc":"%08x"}`+"\n", head, crc32.Checksum([]byte(head), crc32.MakeTable(crc32.Castagnoli)))
}

// check compares all that s shows with the model.
func (m *servedModel) check(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *blob.Served) {
	t.Helper()
	rows, begin, err := s.Rows()
	if err != nil || string(rows) != m.lines() {
		t.Fatalf("rows: %v\n%s-- want\n%s", err, rows, m.lines())
	}
	if size, _ := s.Size(); size != int64(len(rows)) {
		t.Fatalf("size %d of %d", size, len(rows))
	}
	if n := len(m.rows); n > 0 {
		tail := len(m.rows[n-1].line)
		if got, err := s.RowsFrom(begin + int64(len(rows)-tail)); err != nil || string(got) != m.rows[n-1].line {
			t.Fatalf("the last row: %q, %v", got, err)
		}
		if id, data := s.Last(); id != m.rows[n-1].id || string(data) != m.text[id] {
			t.Fatalf("last %s %q", id, data)
		}
	}
	listed := map[string]bool{}
	for _, p := range s.Packs() {
		listed[p.ID] = true
		again, ok := s.Find(p.ID)
		if !ok || again != p || p.Size != len(m.text[p.ID]) || "sha256-"+p.SHA256 != ctxabi.ContentID([]byte(m.text[p.ID])) {
			t.Fatalf("%+v is not %+v of %q", p, again, m.text[p.ID])
		}
	}
	for _, r := range m.rows {
		if got, err := s.Pack(r.id); err != nil || string(got) != m.text[r.id] || !listed[r.id] {
			t.Fatalf("%s: %q, %v, listed %v; want %q", r.id, got, err, listed[r.id], m.text[r.id])
		}
	}
	for id := range m.text {
		if _, err := s.Pack(id); !errors.Is(err, ctxabi.ErrNotFound) && !slices.ContainsFunc(m.rows, func(r servedRowModel) bool { return r.id == id }) {
			t.Fatalf("%s stands in no row and is there: %v", id, err)
		}
	}
}

// edited is a pack that may follow before.
func edited(t *rapid.T, before string) string {
	words := rapid.StringMatching(`[a-c\n]{0,40}`)
	at := func(n int) int { return rapid.IntRange(0, n).Draw(t, "at") }
	switch rapid.IntRange(0, 5).Draw(t, "edit") {
	case 0:
		return before + words.Draw(t, "words")
	case 1:
		i := at(len(before))
		return before[:i] + words.Draw(t, "words") + before[i:]
	case 2:
		i := at(len(before))
		j := i + at(len(before)-i)
		return before[:i] + words.Draw(t, "words") + before[j:]
	case 3:
		return before[:at(len(before))]
	case 4:
		return before[at(len(before)):]
	}
	return words.Draw(t, "words")
}

// Whatever packs come in whatever order, through restarts, kills and failures of the disk: the rows are those that
// were added and did not expire, and each pack that a row names holds what was read.
func TestPacksThatWereReadAreKeptAsTheyWere(t *testing.T) {
	const ttl = time.Hour
	rapid.Check(t, func(t *rapid.T) {
		mem := sessiontest.New()
		now := time.Unix(1_700_000_000, 0).UTC()
		open := func() (*session.Store, *blob.Served) {
			s, err := session.Open("/store", session.Options{VFS: mem})
			if err != nil {
				t.Fatal(err)
			}
			owner := disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700}
			ref := ctxabi.Ref{UID: owner.UID, Agent: "a", Session: "s"}
			x, err := s.Session(ref)
			if errors.Is(err, ctxabi.ErrNotFound) {
				if err = s.EnsureAgent(ref, owner); err == nil {
					x, err = s.Create(ref, owner)
				}
				if err == nil {
					err = x.SetControl(ctxabi.PolicyFile, []byte("pack_ttl=1h\n"))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			served, err := x.Served()
			if err != nil {
				t.Fatal(err)
			}
			return s, served
		}
		store, served := open()
		m := &servedModel{text: map[string]string{}}
		last, number := "", 0
		add := func(id, text string, mayFail bool) {
			row := blob.Row{At: now, Epoch: "0-ab", EpochReason: "a < b", EventsBytes: int64(number) * 3, File: "pack.md", Messages: number, PackID: id, PID: 7, Tokens: len(text)}
			line := lineOf(row)
			err := served.Add(row, []byte(text))
			mem.Heal()
			if err != nil && !mayFail {
				t.Fatal(err)
			}
			rows, _, _ := served.Rows()
			// On a disk that fails what is old enough may stay for the next time: its going failed, or the policy could not be read.
			if kept := m.lines(); !mayFail || string(rows) != kept && string(rows) != kept+line {
				m.expire(now, ttl)
			}
			if err == nil {
				m.rows = append(m.rows, servedRowModel{row.At, row.PackID, line})
				last = text
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.check(t, served) },
			"another": func(t *rapid.T) {
				number++
				text := edited(t, last)
				id := ctxabi.ContentID(fmt.Append(nil, number))
				m.text[id] = text
				fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
				if fails {
					kind := rapid.SampledFrom([]sessiontest.Kind{sessiontest.EIO, sessiontest.ENOSPC, sessiontest.Short}).Draw(t, "kind")
					mem.Fail(sessiontest.Fault{Kind: kind, At: rapid.IntRange(1, 12).Draw(t, "operation"), Count: rapid.IntRange(1, 3).Draw(t, "times")})
				}
				add(id, text, fails)
			},
			"again": func(t *rapid.T) {
				if len(m.rows) == 0 {
					t.Skip("nothing was read")
				}
				id := m.rows[rapid.IntRange(0, len(m.rows)-1).Draw(t, "row")].id
				add(id, m.text[id], false)
			},
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(ttl)).Draw(t, "passes")))
			},
			"drop": func(t *rapid.T) {
				before := now.Add(-time.Duration(rapid.Int64Range(0, int64(2*ttl)).Draw(t, "age")))
				if _, _, err := served.Drop(before); err != nil {
					t.Fatal(err)
				}
				for len(m.rows) > 0 && m.rows[0].at.Before(before) {
					m.rows = m.rows[1:]
				}
			},
			"restart": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "kill") {
					mem.Kill()
				}
				store.Close()
				store, served = open()
			},
		})
		store.Close()
	})
}

// What a power cut leaves are rows that were there, and packs that hold what was read, or say that they do not.
func TestAPowerCutShowsNoTornPack(t *testing.T) {
	lost, damaged := 0, 0
	for seed := range int64(300) {
		d := sessiontest.New()
		s, x := sessiontest.Session(t, "/store", session.Options{VFS: d})
		if err := x.SetControl(ctxabi.PolicyFile, []byte("pack_ttl=10m\n")); err != nil {
			t.Fatal(err)
		}
		served, err := x.Served()
		if err != nil {
			t.Fatal(err)
		}
		ever, text := map[string]bool{}, map[string]string{}
		now, body := time.Unix(1_700_000_000, 0).UTC(), ""
		for i := range 30 {
			body += fmt.Sprintf("## %d user\nsome text of the message %d\n", i, i*i)
			if i%7 == 6 {
				body = body[len(body)/2:]
			}
			now = now.Add(time.Minute)
			row := blob.Row{At: now, PackID: ctxabi.ContentID(fmt.Append(nil, i)), File: "pack.md"}
			text[row.PackID] = body + "footer\n"
			if err := served.Add(row, []byte(text[row.PackID])); err != nil {
				t.Fatal(err)
			}
			ever[lineOf(row)] = true
			if i == 10 {
				s.Sync()
				d.SyncDir(x.Dir() + "/.ctxfs")
				d.SyncDir(x.Dir() + "/.ctxfs/served")
			}
		}
		d.Crash(seed)
		s.Close()
		_, x = sessiontest.Session(t, "/store", session.Options{VFS: d})
		if served, err = x.Served(); err != nil {
			t.Fatal(err)
		}
		check := func() (n int) {
			rows, _, err := served.Rows()
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(rows) {
				n++
				if !ever[string(line)] {
					t.Fatalf("seed %d: a row that was never written: %q", seed, line)
				}
			}
			for _, p := range served.Packs() {
				data, err := served.Pack(p.ID)
				if err != nil {
					if !errors.Is(err, ctxabi.ErrIO) {
						t.Fatal(err)
					}
					damaged++
				} else if string(data) != text[p.ID] {
					t.Fatalf("seed %d: %q, want %q", seed, data, text[p.ID])
				}
			}
			return n
		}
		if check() < 10 {
			lost++
		}
		row := blob.Row{At: now, PackID: ctxabi.ContentID([]byte("after")), File: "pack.md"}
		text[row.PackID] = "after\n" + body
		ever[lineOf(row)] = true
		if err := served.Add(row, []byte(text[row.PackID])); err != nil {
			t.Fatal(err)
		}
		check()
		if got, err := served.Pack(row.PackID); err != nil || string(got) != text[row.PackID] {
			t.Fatalf("seed %d: what is read afterwards is not kept: %v", seed, err)
		}
	}
	if lost == 0 || damaged == 0 {
		t.Errorf("the power cuts lost %d and damaged %d: they test nothing", lost, damaged)
	}
}

// A pack whose bytes in the store were changed is refused, and those that do not build on them are not.
func TestAPackThatIsNotWhatWasReadAnyMoreIsRefused(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	served, err := x.Served()
	if err != nil {
		t.Fatal(err)
	}
	first, second := strings.Repeat("a line of the first\n", 10), strings.Repeat("another line\n", 20)
	for i, text := range []string{first, first + "more\n", second} {
		if err := served.Add(blob.Row{At: time.Now(), PackID: ctxabi.ContentID(fmt.Append(nil, i))}, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(x.Dir(), ".ctxfs/served/1")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte("first"), []byte("fifth"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{ctxabi.ErrIO, ctxabi.ErrIO, nil} {
		if got, err := served.Pack(ctxabi.ContentID(fmt.Append(nil, i))); !errors.Is(err, want) || err == nil && string(got) != second {
			t.Errorf("pack %d: %q, %v", i, got, err)
		}
	}
}

// The packs of a long session take little more than what is new in each.
func TestPacksThatGrowTakeLittleRoom(t *testing.T) {
	_, x := sessiontest.Session(t, t.TempDir(), session.Options{})
	served, err := x.Served()
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	var shown, fresh int
	texts := map[string][]byte{}
	for i := range 600 {
		turn := fmt.Appendf(nil, "## %d user\n%s\n", i, strings.Repeat(fmt.Sprint("word", i, " "), 20))
		body = append(body, turn...)
		if i%50 == 49 { // a compaction
			body = body[len(body)/3:]
		}
		pack := fmt.Appendf(slices.Clip(body), "# Context Block: goal\nturn %d\n", i)
		id := ctxabi.ContentID(fmt.Append(nil, i))
		texts[id] = pack
		shown, fresh = shown+len(pack), fresh+len(turn)
		if err := served.Add(blob.Row{At: time.Now(), PackID: id}, pack); err != nil {
			t.Fatal(err)
		}
	}
	stored := 0
	for _, p := range served.Packs() {
		stored += p.Stored
		if got, err := served.Pack(p.ID); err != nil || !bytes.Equal(got, texts[p.ID]) {
			t.Fatalf("%s: %v", p.ID, err)
		}
	}
	if len(served.Packs()) != 600 || stored > 6*fresh || stored > shown/10 {
		t.Errorf("%d packs of %d bytes, with %d bytes of new records, take %d bytes", len(served.Packs()), shown, fresh, stored)
	}
	if rows, gone, err := served.Drop(time.Now()); rows != 600 || int(gone) != stored || err != nil {
		t.Errorf("dropped %d rows, %d of %d bytes: %v", rows, gone, stored, err)
	}
	if left, _ := filepath.Glob(filepath.Join(x.Dir(), ".ctxfs/served/[0-9]*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAStoreOpenForReadingKeepsNothingOfWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	s, x := sessiontest.Session(t, dir, session.Options{})
	served, err := x.Served()
	if err != nil {
		t.Fatal(err)
	}
	row := blob.Row{At: time.Now(), PackID: ctxabi.ContentID(nil)}
	if err := served.Add(row, []byte("a\n")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, x = sessiontest.Session(t, dir, session.Options{ReadOnly: true})
	if served, err = x.Served(); err != nil {
		t.Fatal(err)
	}
	if got, err := served.Pack(row.PackID); err != nil || string(got) != "a\n" {
		t.Errorf("%q, %v", got, err)
	}
	_, _, dropped := served.Drop(time.Now())
	for _, err := range []error{served.Add(row, nil), dropped} {
		if !errors.Is(err, ctxabi.ErrReadOnly) {
			t.Error(err)
		}
	}
}
