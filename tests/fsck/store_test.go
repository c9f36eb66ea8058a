// Package fscktest damages stores in every way that is known, and holds what ctxfs fsck says and repairs, and what a mount
// serves then, against the store as it was.
package fscktest

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The sessions of the rich store.
const (
	rich   = "rich"   // one of everything
	sealed = "sealed" // most of its log is in sealed parts
	other  = "other"  // a small one, which nobody damages
)

var made struct {
	once  sync.Once
	files map[string][]byte // by path in the store
	modes map[string]os.FileMode
	owner map[string][2]int
	dirs  []string
	wrong string
}

// newStore returns a copy of the rich store, which is made once.
func newStore(t testing.TB) string {
	t.Helper()
	made.once.Do(func() { makeStore(t) })
	if made.wrong != "" {
		t.Fatal(made.wrong)
	}
	dir := filepath.Join(t.TempDir(), "store")
	copyStore(t, dir)
	return dir
}

func copyStore(t interface {
	Helper()
	Fatal(...any)
}, dir string) {
	t.Helper()
	for _, rel := range made.dirs {
		if err := os.MkdirAll(filepath.Join(dir, rel), made.modes[rel]); err != nil {
			t.Fatal(err)
		}
	}
	for rel, data := range made.files {
		if err := os.WriteFile(filepath.Join(dir, rel), data, made.modes[rel]); err != nil {
			t.Fatal(err)
		}
	}
	for rel, mode := range made.modes {
		if os.Getuid() == 0 {
			if err := os.Chown(filepath.Join(dir, rel), made.owner[rel][0], made.owner[rel][1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, rel), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func ref(name string) ctxabi.Ref {
	return ctxabi.Ref{UID: owner(), Agent: "coder", Session: name}
}

// owner is whose the sessions are: generators run for nobody who is root.
func owner() uint32 {
	if os.Getuid() == 0 {
		return harness.Alice
	}
	return harness.Self()
}

// in names a file of a session in the store.
func in(name, file string) string { return filepath.Join(ref(name).Path(), file) }

// makeStore uses a mount as agents do: all kinds of files come to be.
func makeStore(t testing.TB) {
	made.wrong = "the rich store was not made"
	m := harness.Start(t, harness.Options{})
	r := m.Session(t, owner(), "coder", rich)
	r.Bash(`set -e
		mkdir -p ../../knowledge && echo 'an ordinary file' > ../../knowledge/notes.md && echo 'You are careful.' > ../../system_prompt.md
		printf 'wait_ms: 30000\nsources:\n  - {type: computed_file, id: gen, generator: {command: ["sh", "-c", "echo made by gen"]}, cache: {strategy: file_hash, invalidate_on: ["hostname"]}}\n  - {type: pinned}\n  - {type: journal}\n' > context/context.yaml
		echo 3000 > context/budget; echo active > state; echo '{"title":"rich"}' > meta.json; echo /etc > cwd; echo 'A=b' > context/env
		echo 'Never push to main.' > context/pinned/rules.md; echo scratch > context/scratch.tmp
		echo 'It began.' > context/summary.md; echo '- [ ] test' > context/todo.md
		echo '{"id":"f1","text":"the port is 8080","source":"messages:1"}' > context/facts.jsonl
		echo '{"id":"d1","decision":"use sqlite"}' > context/decisions.jsonl
		echo '{"id":"r1","path":"/etc/hosts","kind":"file"}' >> context/refs.jsonl
		echo '{"plan":[]}' > context/plan.json 2>/dev/null || true
		mkdir context/child/helper && echo helper > context/child/helper/agent && echo done > context/child/helper/result.md && mkdir -p context/child/helper/artifact/a && echo art > context/child/helper/artifact/a/b
		echo blob > /tmp/ctxfs-fsck-blob-$$ && id=sha256-$(sha256sum < /tmp/ctxfs-fsck-blob-$$ | cut -d' ' -f1) && cat /tmp/ctxfs-fsck-blob-$$ > context/dedup/blob/$id; rm /tmp/ctxfs-fsck-blob-$$
		! echo 'no budget' > context/budget
		`).OK()
	image := base64.StdEncoding.EncodeToString(noise(3000, 7))
	r.Append("messages.jsonl", fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}`+"\n", image))
	long := base64.StdEncoding.EncodeToString(noise(6000, 9))
	for i := range 24 {
		r.Append("messages.jsonl", fmt.Sprintf(`{"role":"assistant","content":"Turn %d.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"n\":%d}"}}]}`+"\n", i, i, i))
		r.Append("messages.jsonl", fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%q}`+"\n", i, long[:4000]+fmt.Sprint(i)))
		r.Append("events.jsonl", fmt.Sprintf(`{"type":"note","n":%d}`+"\n"+`{"type":"note","n":-%d}`+"\n", i, i))
		r.Read("context/pack.md")
	}
	r.Bash("cat context/swap/index.jsonl context/dedup/index.jsonl context/pack.report.md > /dev/null; cat context/refs.jsonl 'context/search/turn read' context/search/note > /dev/null").OK()
	o := m.Session(t, owner(), "coder", other)
	for i := range 5 {
		o.Append("messages.jsonl", harness.Message("user", fmt.Sprint("another session, ", i)))
	}
	o.Read("context/pack.md")
	z := m.Session(t, owner(), "coder", sealed)
	for i := range 60 {
		z.Append("messages.jsonl", harness.Message([]string{"user", "assistant"}[i%2], fmt.Sprint(i, " ", base64.StdEncoding.EncodeToString(noise(2500, byte(i))))))
	}
	m.Stop()
	s, err := session.Open(m.Store, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Session(ref(sealed))
	if err == nil {
		_, _, err = x.Messages().Seal(context.Background())
	}
	if err == nil {
		_, err = x.Messages().Append(context.Background(), log.Batch{Data: []byte(harness.Message("user", "behind what is sealed"))})
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	made.files, made.modes, made.owner = map[string][]byte{}, map[string]os.FileMode{}, map[string][2]int{}
	err = filepath.WalkDir(m.Store, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(m.Store, name)
		fi, err := e.Info()
		if err != nil {
			return err
		}
		made.modes[rel] = fi.Mode()
		st := fi.Sys().(*syscall.Stat_t)
		made.owner[rel] = [2]int{int(st.Uid), int(st.Gid)}
		if e.IsDir() {
			made.dirs = append(made.dirs, rel)
			return nil
		}
		made.files[rel], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"messages.jsonl", "events.jsonl", ".ctxfs/arrivals", ".ctxfs/arrivals.events", ".ctxfs/id", ".ctxfs/index", ".ctxfs/index.events", ".ctxfs/tokens",
		".ctxfs/swap/rows", ".ctxfs/swap/notes", ".ctxfs/dedup/batches", ".ctxfs/served/rows", ".ctxfs/served/1", ".ctxfs/errors.jsonl", ".ctxfs/recipe.json", ".ctxfs/epoch.json",
		".ctxfs/search.recent", "context/.ctxfs-own.refs.jsonl",
		"context/facts.jsonl", "context/pinned/rules.md", "context/child/helper/result.md", "context/child/helper/artifact/a/b"} {
		if len(made.files[in(rich, want)]) == 0 {
			t.Fatalf("the rich store has no %s, or an empty one", want)
		}
	}
	for _, want := range []string{in(sealed, "messages.jsonl.1.zst"), in(sealed, ".ctxfs/segments"), ownIndex() + "manifest", ownIndex() + "1.seg"} {
		if len(made.files[want]) == 0 {
			t.Fatalf("the rich store has no %s", want)
		}
	}
	for _, prefix := range []string{in(rich, ".ctxfs/blobs/sha256-"), in(rich, ".ctxfs/outputs/")} {
		if !hasPrefix(prefix) {
			t.Fatalf("the rich store has nothing in %s", prefix)
		}
	}
	made.wrong = ""
}

// ownIndex is where the search index of the owner is, which is a cache.
func ownIndex() string {
	return path.Join(ctxabi.HomeDir, fmt.Sprint(owner()), ctxabi.InternalDir, search.Dir) + "/"
}

func hasPrefix(prefix string) bool {
	for rel := range made.files {
		if strings.HasPrefix(rel, prefix) {
			return true
		}
	}
	return false
}

// noise is n bytes that do not repeat.
func noise(n int, seed byte) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// fsck checks a store as the verb does.
func fsck(t interface {
	Helper()
	Fatalf(string, ...any)
}, dir string, repair bool) (found []check.Damage) {
	t.Helper()
	_, err := check.Fsck(context.Background(), dir, check.FsckOptions{Repair: repair,
		Kinds: slices.Concat(builder.FileKinds(), search.FileKinds(), world.FileKinds()),
		Deep:  builder.CheckChunks, OwnerKinds: search.OwnerKinds(), DeepOwner: search.Check},
		func(d check.Damage) { found = append(found, d) })
	if err != nil {
		t.Fatalf("fsck: %v", err)
	}
	return found
}

func list(found []check.Damage) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintf(&b, "  %s %s: %s (%s, %v)\n", d.Severity, d.Path, d.What, d.Repair, d.Repaired)
	}
	return b.String()
}
