package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

func TestWhatIsNotAStoreIsRefused(t *testing.T) {
	write := func(name, content string) func(dir string) {
		return func(dir string) { os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
	}
	for _, c := range []struct {
		name string
		make func(dir string)
		want error
	}{
		{"an empty directory becomes one", func(string) {}, nil},
		{"a fresh disk", func(dir string) { os.Mkdir(filepath.Join(dir, "lost+found"), 0o700) }, nil},
		{"an Init that crashed", write("ctxfs.store.tmp", ""), nil},
		{"somebody's files", write("thesis.tex", "x"), ctxabi.ErrExists},
		{"a newer store", write("ctxfs.store", `{"version":99,"id":"00112233445566778899aabbccddeeff"}`), ctxabi.ErrVersion},
		{"a broken header", write("ctxfs.store", `{`), ctxabi.ErrMalformed},
		{"an empty header", write("ctxfs.store", ``), ctxabi.ErrMalformed},
	} {
		dir := t.TempDir()
		c.make(dir)
		s, err := session.Open(dir, session.Options{})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil {
			id := s.ID()
			s.Close()
			if s, err = session.Open(dir, session.Options{}); err != nil || s.ID() != id || len(id) != 32 {
				t.Errorf("%s: opened again: %v", c.name, err)
			}
			s.Close()
		}
	}
	if _, err := session.Open(filepath.Join(t.TempDir(), "none"), session.Options{ReadOnly: true}); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("a look at nothing: %v", err)
	}
}

func TestSpacesAndHomes(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	gid := uint32(os.Getegid())
	if _, err := s.CreateSpace("team", gid); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateSpace("team", gid); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := s.CreateSpace("../x", gid); !errors.Is(err, ctxabi.ErrMalformed) {
		t.Errorf("a bad name: %v", err)
	}
	if got := s.Spaces(); !slices.Equal(got, []session.Space{{Name: "team", GID: gid}}) {
		t.Errorf("spaces %v", got)
	}
	uid := uint32(os.Geteuid())
	if err := s.EnsureHome(uid, gid); err != nil {
		t.Fatal(err)
	}
	if got := s.Homes(); !slices.Equal(got, []uint32{uid}) {
		t.Errorf("homes %v", got)
	}
	mode := func(rel string) string {
		fi, err := os.Stat(filepath.Join(dir, rel))
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode().String()
	}
	shared := ctxabi.Ref{Space: "team", Agent: "coder", Session: "s1"}
	if _, err := s.Create(shared, disk.Owner{UID: uid, GID: gid, Mode: 0o2770}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctxabi.Ref{Space: "none", Agent: "a", Session: "b"}, home); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("a session in no space: %v", err)
	}
	x, err := s.Session(shared)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.SetControl("state", []byte("done")); err != nil {
		t.Fatal(err)
	}
	own := ctxabi.Ref{UID: uid, Agent: "a", Session: "b"}
	if _, err := s.Create(own, disk.Owner{UID: uid, GID: gid, Mode: 0o700}); err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]string{
		".":                             "drwx------",
		"shared/team":                   "dgrwxrwx---",
		"shared/team/agent/coder":       "dgrwxrwx---",
		shared.Path():                   "dgrwxrwx---",
		shared.Path() + "/context":      "dgrwxrwx---",
		shared.Path() + "/state":        "-rw-rw----",
		shared.Path() + "/.ctxfs/id":    "-rw-rw----",
		fmt.Sprint("home/", uid):        "drwx------",
		own.Path():                      "drwx------",
		own.Path() + "/messages.jsonl":  "-rw-------",
		own.Path() + "/context/pinned":  "drwx------",
		own.Path() + "/.ctxfs/arrivals": "-rw-------",
		"ctxfs.store":                   "-rw-------",
	} {
		if rel == "." {
			continue // t.TempDir made it
		}
		if got := mode(rel); got != want {
			t.Errorf("%s is %s, want %s", rel, got, want)
		}
	}
	if got := slices.Collect(s.Sessions()); !slices.Equal(got, []ctxabi.Ref{own, shared}) {
		t.Errorf("sessions %v", got)
	}
	for range s.Sessions() {
		break // an iteration that ends early
	}
}

func TestARenamedSessionKeepsItsIdAndItsHandles(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	x := create(t, s, refA)
	stage := x.Messages().NewStage(root)
	stage.Write(ctx, []byte(a1+"\n"+a2[:4]), 0, true, arrival.Key{})
	moved := refA
	moved.Session = "s2"
	if err := s.Rename(refA.Path(), moved.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Write(ctx, []byte(a2[4:]+"\n"), 0, true, arrival.Key{}); err != nil {
		t.Fatal(err)
	}
	y, err := s.Session(moved)
	if err != nil || y != x || y.Ref() != moved {
		t.Fatalf("%v %v", y, err)
	}
	agent := moved
	agent.Agent = "writer"
	if err := s.Rename(moved.AgentHome(), agent.AgentHome()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(refA); !errors.Is(err, ctxabi.ErrNotFound) {
		t.Errorf("the old place: %v", err)
	}
	if y, err = s.Session(agent); err != nil || y != x {
		t.Error(err)
	}
	x.SetControl("state", []byte("done"))
	for range session.IdleTicks {
		session.Tick(s)
	}
	if content(t, x.Messages()) != a1+"\n"+a2+"\n" || x.State() != "done" {
		t.Error("the session lost something on its way")
	}
	create(t, s, refA)
	if err := s.Rename(agent.Path(), refA.Path()); !errors.Is(err, ctxabi.ErrExists) {
		t.Errorf("over another session: %v", err)
	}
	verified(t, s, agent)
}

func TestAClosedStoreIsNotTouchedAgain(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, session.Options{})
	x := create(t, s, refA)
	x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n")})
	stage := x.Messages().NewStage(root)
	s.Close()
	other := openStore(t, dir, session.Options{}) // another daemon has it now
	if _, err := stage.Write(ctx, []byte(a2+"\n"), 0, true, arrival.Key{}); !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("write: %v", err)
	}
	if err := x.Messages().Sync(ctx); !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("sync: %v", err)
	}
	y, _ := other.Session(refA)
	if got := content(t, y.Messages()); got != a1+"\n" {
		t.Errorf("the log is %q", got)
	}
}

// A daemon holds 10,000 idle sessions in 100 MB: 10 kB each.
func TestManySessionsAreCheap(t *testing.T) {
	d := sessiontest.New()
	s := openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	const sessions = 1_000
	ref := func(i int) ctxabi.Ref {
		return ctxabi.Ref{UID: 1000, Agent: fmt.Sprint("a", i%7), Session: fmt.Sprint("s", i)}
	}
	for i := range sessions {
		x := create(t, s, ref(i))
		x.Messages().Append(ctx, log.Batch{Data: []byte(a1 + "\n"), Key: arrival.Key{Unique: 1}})
	}
	s.Close()

	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s = openStore(t, "/store", session.Options{VFS: d, Now: d.Now})
	d.Fail(sessiontest.Fault{At: 1 << 30})
	if ops, _ := d.Ops(); ops > 10 {
		t.Errorf("opening a store takes %d operations", ops)
	}
	for i := range sessions {
		x, err := s.Session(ref(i))
		if err != nil {
			t.Fatal(err)
		}
		if x.Messages().Len() == 0 || strings.TrimSpace(x.Messages().Name()) == "" {
			t.Fatal("an empty log")
		}
		if ix, err := x.Messages().Index(); err != nil || ix.Len() != 1 {
			t.Fatal(err)
		}
		if n := session.OpenLogs(s); n > session.MaxOpenLogs+2 {
			t.Fatalf("%d logs are open", n)
		}
	}
	d.Heal()
	for range session.IdleTicks {
		session.Tick(s)
	}
	if n := session.OpenLogs(s); n > 0 {
		t.Errorf("%d logs are open after a while", n)
	}
	grown := int64(heap()) - int64(before)
	if grown > sessions*10_000 {
		t.Errorf("an idle session takes %d bytes", grown/sessions)
	}
	runtime.KeepAlive(s)
	t.Logf("an idle session takes %d bytes", grown/sessions)
}

// What is removed lies in the store, even where a directory on the way became a link that leads out of it.
func TestNothingOutsideOfTheStoreIsRemoved(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside", "index")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, filepath.Join(base, "store"), session.Options{})
	for name, link := range map[string]string{
		"home/x/index": "home/x",       // on the way
		"tmp/build":    "tmp/build/to", // in what is removed
		"tmp/itself":   "tmp/itself",
	} {
		at := filepath.Join(s.Dir(), link)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Dir(outside), at); err != nil {
			t.Fatal(err)
		}
		session.RemoveAll(s, filepath.Join(s.Dir(), name))
		if _, err := os.Stat(precious); err != nil {
			t.Fatalf("removing %s in the store: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(s.Dir(), name)); name != "home/x/index" && err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestLogsThatGiveWayLoseNothing(t *testing.T) {
	s := openStore(t, t.TempDir(), session.Options{})
	const writers, records = 4, 100
	var all []*session.Session
	for i := range writers {
		all = append(all, create(t, s, ctxabi.Ref{UID: 1000, Agent: "a", Session: fmt.Sprint("s", i)}))
	}
	done := make(chan struct{})
	var writing, shedding sync.WaitGroup
	shedding.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				session.Shed(s)
				runtime.Gosched()
			}
		}
	})
	for i, x := range all {
		writing.Go(func() {
			for n := range records {
				for _, l := range []*log.Log{x.Messages(), x.Events()} {
					record := fmt.Sprintf(`{"role":"user","type":"note","content":"%d"}`+"\n", n)
					if _, err := l.Append(t.Context(), log.Batch{Data: []byte(record)}); err != nil {
						t.Errorf("session %d, record %d: %v", i, n, err)
						return
					}
				}
				if tl, err := x.Timeline(); err != nil || tl.Messages.Len() != n+1 || tl.Events.Len() != n+1 {
					t.Errorf("session %d, after record %d: %v", i, n, err)
					return
				}
				if n%10 == 0 {
					x.Messages().SetTokens("o200k", n+1, int32(n+1))
				}
			}
		})
	}
	writing.Wait()
	close(done)
	shedding.Wait()
	for session.Shed(s) > 0 {
	}
	if n := session.OpenLogs(s); n != 0 {
		t.Errorf("%d logs are open that nobody uses", n)
	}
	for _, x := range all {
		if problems, err := check.Verify(t.Context(), s, x.Ref()); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", x.Ref(), problems, err)
		}
	}
}
