package session_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

var update = flag.Bool("update", false, "write the fixture of the present format anew")

// Each format that ever was is kept as a store under testdata, and opened by every build.
func TestEveryFormatIsRead(t *testing.T) {
	if *update {
		writeFixture(t)
	}
	for version := 1; version <= ctxabi.FormatVersion; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) { readFixture(t, version) })
	}
}

// writeFixture writes the store of the present format.
func writeFixture(t *testing.T) {
	fixture := fixtureOf(ctxabi.FormatVersion)
	os.RemoveAll(fixture)
	os.MkdirAll("testdata", 0o755)
	now := time.Unix(1_760_000_000, 0)
	s, err := session.Open(fixture, session.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	if err != nil {
		t.Fatal(err)
	}
	x := create(t, s, refA)
	stage := x.Messages().NewStage(root)
	stage.Write(ctx, []byte(a1+"\n"), 0, true, arrival.Key{Conn: 1, Unique: 2})
	x.Events().Append(ctx, log.Batch{Data: []byte(`{"type":"note"}` + "\n"), Writer: root})
	stage.Write(ctx, []byte(a2+"\n"+a3+"\n"), 0, true, arrival.Key{Conn: 1, Unique: 4})
	x.Messages().SetTokens("o200k_base", 2, 9)
	x.SetControl(ctxabi.BudgetFile, []byte("8000\n"))
	s.Close()
}

func fixtureOf(version int) string { return filepath.Join("testdata", fmt.Sprint("store-v", version)) }

// readFixture opens the store of a format and goes on in it.
func readFixture(t *testing.T, version int) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(fixtureOf(version))); err != nil {
		t.Fatal(err)
	}
	header := filepath.Join(dir, session.StoreFile)
	if was, err := os.ReadFile(header); err != nil || !strings.Contains(string(was), fmt.Sprintf(`"version":%d,`, version)) {
		t.Fatalf("the store is %s (%v)", was, err)
	}
	s := openStore(t, dir, session.Options{})
	if is, err := os.ReadFile(header); err != nil || !strings.Contains(string(is), fmt.Sprintf(`"version":%d,`, ctxabi.FormatVersion)) {
		t.Errorf("an older program would open what is %s now (%v)", is, err)
	}
	x, err := s.Session(refA)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, x.Messages()); got != a1+"\n"+a2+"\n"+a3+"\n" {
		t.Errorf("messages are %q", got)
	}
	verified(t, s, refA)
	ix, err := x.Messages().Index()
	if err != nil || ix.Len() != 3 || ix.At(2).Tokens != 9 || ix.At(2).Events != 1 || ix.At(1).Events != 0 {
		t.Errorf("index: %v %+v", err, ix.At(2))
	}
	if n, _ := x.Budget(); n != 8000 {
		t.Errorf("budget %d", n)
	}
	if errs := strings.TrimSpace(string(x.Errors())); errs != "" {
		t.Errorf("opening it reported %s", errs)
	}
	stage := x.Messages().NewStage(root)
	if _, err := stage.Write(ctx, []byte(a1+"\n"), 0, true, arrival.Key{Conn: 1, Unique: 2}); err != nil || x.Messages().Len() != ix.Size() {
		t.Errorf("a request that it remembers was committed again (%v)", err)
	}
	if _, err := x.Messages().Append(ctx, log.Batch{Data: []byte(`{"type":"reasoning","id":"rs_1","summary":[]}` + "\n"), Writer: root}); err != nil {
		t.Errorf("an item: %v", err)
	}
}
