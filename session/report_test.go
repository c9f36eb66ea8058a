package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func reported(t *testing.T, x *session.Session) (rows []disk.ErrorRow) {
	t.Helper()
	for line := range strings.Lines(string(x.Errors())) {
		var row disk.ErrorRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestErrorsAreABoundedRing(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(1_700_000_000, 0)
	clock := func() time.Time { return now }
	s := openStore(t, dir, session.Options{Now: clock})
	x := create(t, s, refA)
	for i := range 350 {
		now = now.Add(time.Second)
		x.Report(disk.ErrorRow{UID: 7, Op: "append", Path: "messages.jsonl", Errno: "EINVAL", Reason: fmt.Sprint("row ", i)})
	}
	check := func(x *session.Session) {
		t.Helper()
		rows := reported(t, x)
		if len(rows) != 100 || rows[0].Reason != "row 250" || rows[99].Reason != "row 349" || rows[99].Count != 0 {
			t.Errorf("%d rows, from %+v to %+v", len(rows), rows[0], rows[len(rows)-1])
		}
	}
	check(x)
	if fi, _ := os.Stat(filepath.Join(x.Dir(), ".ctxfs/errors.jsonl")); fi.Size() > 60_000 {
		t.Errorf("the file has %d bytes", fi.Size())
	}
	s.Close()
	s = openStore(t, dir, session.Options{Now: clock})
	x, _ = s.Session(refA)
	check(x)
}

func TestAFloodOfErrorsIsFolded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := openStore(t, t.TempDir(), session.Options{Now: func() time.Time { return now }})
	x := create(t, s, refA)
	for i := range 1000 {
		x.Report(disk.ErrorRow{UID: 7, Errno: "EINVAL", Reason: fmt.Sprint(i)})
	}
	x.Report(disk.ErrorRow{UID: 8, Errno: "EINVAL", Reason: "another user"})
	rows := reported(t, x)
	if len(rows) != 22 {
		t.Fatalf("%d rows", len(rows))
	}
	total := 0
	for _, r := range rows {
		if r.UID == 7 {
			total += max(r.Count, 1)
		}
	}
	if total != 1000 {
		t.Errorf("the rows stand for %d refusals, want 1000", total)
	}
	if x.Report(disk.ErrorRow{UID: 7, Reason: strings.Repeat("ä", 5000)}); len(reported(t, x)[22].Reason) > 1010 {
		t.Error("a reason is not cut")
	}
}

func TestReasonsAreNotEscapedForHTML(t *testing.T) {
	x := create(t, openStore(t, t.TempDir(), session.Options{}), refA)
	x.Report(disk.RowOf("truncate", "messages.jsonl", 7, ctxabi.E("truncate", "messages.jsonl", ctxabi.ErrAppendOnly, "append with >> & not with >")))
	if got := string(x.Errors()); !strings.Contains(got, `"errno":"EPERM","reason":"append with >> & not with >"}`) {
		t.Error(got)
	}
}

func TestReportingNeverFails(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	x := create(t, s, refA)
	d.Fail(sessiontest.Fault{Kind: sessiontest.ENOSPC, At: 1, Count: 1 << 30})
	x.Report(disk.ErrorRow{UID: 7, Errno: "ENOSPC", Reason: "full"})
	if rows := reported(t, x); len(rows) != 1 || rows[0].Reason != "full" {
		t.Errorf("%+v", rows)
	}
	d.Heal()
}

func TestAFullDiskLeavesNoTornLineInTheReports(t *testing.T) {
	mem := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: mem})
	x := create(t, s, refA)
	file := filepath.Join(x.Dir(), ".ctxfs/errors.jsonl")
	row := func(n int) disk.ErrorRow {
		return disk.ErrorRow{UID: uint32(n), Op: "append", Path: "messages.jsonl", Errno: "EINVAL", Reason: fmt.Sprint("row ", n)}
	}
	onDisk := func() string {
		t.Helper()
		return string(get(t, mem, file))
	}
	x.Report(row(1))
	for n := 2; n < 40; n++ { // each operation of a report fails once, a write in its midst
		mem.Fail(sessiontest.Fault{Kind: sessiontest.Short, At: n%8 + 1, Changes: true})
		x.Report(row(n))
		mem.Heal()
		for line := range strings.Lines(onDisk()) {
			if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
				t.Fatalf("after row %d, which %v: %q", n, failed(mem), line)
			}
		}
	}
	x.Report(row(40))
	if got := strings.Count(onDisk(), "\n"); got != 40 || onDisk() != string(x.Errors()) {
		t.Errorf("%d rows on the disk, want 40:\n%s", got, onDisk())
	}
}

func failed(mem *sessiontest.Disk) string {
	_, op := mem.Hit()
	return "failed at " + op
}

func TestALineThatIsNoReportGoesWhenTheReportsAreOpened(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	x.Report(disk.ErrorRow{UID: 7, Op: "append", Path: "messages.jsonl", Errno: "EINVAL", Reason: "one"})
	want := string(x.Errors())
	file := filepath.Join(x.Dir(), ".ctxfs/errors.jsonl")
	s.Close()
	for what, content := range map[string]string{
		"a torn line at the end": want + want[:30], "one between others": want[:30] + "\n" + want, "a blank line": want + "\n", "another object": want + "{}\n",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s := openStore(t, dir, session.Options{})
		x, err := s.Session(refA)
		if err != nil {
			t.Fatal(err)
		}
		x.Errors()
		s.Close()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: %q is left, %v; want %q", what, got, err, want)
		}
	}
}
