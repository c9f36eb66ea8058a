package search

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// A removed session is found no more from then on, alone or by a word that it shared, and its words
// leave the files before the daemon is told to do anything else.
func TestARemovedSessionLeavesTheIndex(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	for i := range 5 {
		ref := s1
		ref.Session = fmt.Sprint("s", i)
		x := w.session(ref)
		fillSession(w, x, 50)
		w.append(x.Messages(), message("user", fmt.Sprintf("shared unique%dx", i)))
		if i == 3 {
			w.build(x)
		}
	}
	all := ctxabi.Ref{UID: s1.UID}
	count := func(query string) *Result {
		t.Helper()
		r, err := w.e.Owner(context.Background(), all, Query{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := count("shared"); r.Count != 5 {
		t.Fatalf("%+v", r)
	}
	for _, i := range []int{1, 4} { // one in a file, one in memory alone
		ref := s1
		ref.Session = fmt.Sprint("s", i)
		if err := w.store.Remove(ref); err != nil {
			t.Fatal(err)
		}
		r := count(fmt.Sprintf("unique%dx", i))
		if r.Count != 0 || r.AtLeast || r.Why != "no record has one of these words" {
			t.Errorf("after the removal: %+v", r)
		}
		checkFiles(t, w, []string{fmt.Sprintf("unique%dx", i)})
	}
	if r := count("shared"); r.Count != 3 || len(r.Sessions) != 3 {
		t.Errorf("%+v", r)
	}
	w.stop()
	w.start(Config{Wait: -1})
	if r := count("shared"); r.Count != 3 || len(r.Sessions) != 3 {
		t.Errorf("after a start: %+v", r)
	}
}

// A program that removes sessions while no daemon serves the store takes their words out of the files before it ends, and makes no
// index where there is none.
func TestSessionsRemovedWithoutADaemonLeaveTheIndex(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer func() { w.stop() }()
	stranger := ctxabi.Ref{UID: s1.UID + 1, Agent: s1.Agent, Session: "s0"}
	for i := range 3 {
		ref := s1
		ref.Session = fmt.Sprint("s", i)
		x := w.session(ref)
		fillSession(w, x, 50)
		w.append(x.Messages(), message("user", fmt.Sprintf("shared unique%dx", i)))
		w.build(x)
	}
	w.session(stranger)
	w.e.Close()
	end := Follow(w.store)
	gone := s1
	gone.Session = "s1"
	for _, ref := range []ctxabi.Ref{gone, stranger} {
		if err := w.store.Remove(ref); err != nil {
			t.Fatal(err)
		}
	}
	end()
	checkFiles(t, w, []string{"unique1x"})
	if names := w.store.Owned(stranger).DerivedNames(Dir); len(names) > 0 {
		t.Errorf("an index was made of nothing: %q", names)
	}
	w.stop()
	w.start(Config{Wait: -1})
	if r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "shared"}); err != nil || r.Count != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What becomes of sessions while no daemon serves the store is found at the next start: copies,
// renames, removals, edits, appends, and a whole store that was copied.
func TestChangesWithoutADaemonAreFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var store *session.Store
	var e *Engine
	open := func() {
		t.Helper()
		var err error
		if store, err = session.Open(dir, session.Options{}); err != nil {
			t.Fatal(err)
		}
		e = New(store, Config{Wait: -1})
	}
	shut := func() {
		t.Helper()
		e.Close()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, "home/1000/agent/coder/session", name) }
	run := func(argv ...string) {
		t.Helper()
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %s", argv, out)
		}
	}
	found := func(what, query string, want ...string) {
		t.Helper()
		r, err := e.Owner(context.Background(), ctxabi.Ref{UID: 1000}, Query{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, h := range r.Hits {
			got = append(got, fmt.Sprint(h.Ref.Session, ":", h.Line))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q finds %q, want %q", what, query, got, want)
		}
	}
	open()
	for _, name := range []string{"kept", "edited", "copied", "moved", "removed", "grown"} {
		x, err := store.Create(ctxabi.Ref{UID: 1000, Agent: "coder", Session: name}, disk.Owner{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Mode: 0o700})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"shared " + name + "word", "second oldword"} {
			if _, err := x.Messages().Append(context.Background(), log.Batch{Data: []byte(message("user", text))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	found("before", "shared", "copied:1", "edited:1", "grown:1", "kept:1", "moved:1", "removed:1")
	shut()
	run("cp", "-a", at("copied"), at("twin"))
	run("mv", at("moved"), at("elsewhere"))
	run("rm", "-r", at("removed"))
	run("sed", "-i", "s/oldword/newword/", at("edited")+"/messages.jsonl") // of the same length
	run("sh", "-c", "echo '{\"role\":\"user\",\"content\":\"lateword\"}' >> "+at("grown")+"/messages.jsonl")
	open()
	found("afterwards", "shared", "copied:1", "edited:1", "elsewhere:1", "grown:1", "kept:1", "twin:1")
	found("a removed one", "removedword")
	found("a copy", "copiedword", "copied:1", "twin:1")
	found("a moved one", "movedword", "elsewhere:1")
	found("an edit", "newword", "edited:2")
	found("what was edited", "oldword", "copied:2", "elsewhere:2", "grown:2", "kept:2", "twin:2")
	found("an append", "lateword", "grown:3")
	shut()
	run("cp", "-a", dir, dir+"2")
	dir += "2"
	open()
	n := e.index(ctxabi.Ref{UID: 1000})
	defer e.release(n)
	found("in a copy of the store", "lateword", "grown:3")
	found("in a copy of the store", "shared", "copied:1", "edited:1", "elsewhere:1", "grown:1", "kept:1", "twin:1")
	shut()
}

// The index of a session alone that older programs made goes when the session is searched.
func TestAnOldIndexOfASessionIsRemoved(t *testing.T) {
	w := newWorld(t, Config{Wait: -1})
	defer w.stop()
	x := w.session(s1)
	w.append(x.Messages(), message("user", "needle"))
	for name, data := range map[string]string{oldManifest: `{"version":1}`, Dir + "/1.seg": "old"} {
		if err := x.SetDerived(name, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if r := w.search(x, "needle"); r.Count != 1 {
		t.Errorf("%+v", r)
	}
	if left := x.DerivedNames(Dir); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// Whatever the last thing is that reaches the disk when the daemon is killed while a removed session
// leaves the segments: the next one finds the others, and nothing of that session is left.
func TestAKilledPurgeIsMadeUpFor(t *testing.T) {
	for at := 1; ; at++ {
		w := newWorld(t, Config{Wait: -1})
		refs := make([]ctxabi.Ref, 3)
		for i := range refs {
			refs[i] = s1
			refs[i].Session = fmt.Sprint("s", i)
			x := w.session(refs[i])
			fillSession(w, x, 100)
			w.append(x.Messages(), message("user", fmt.Sprintf("needle unique%dx", i)))
		}
		if r, err := w.e.Owner(context.Background(), s1, Query{Text: "needle"}); err != nil || r.Count != 3 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := w.store.Remove(refs[1]); err != nil {
			t.Fatal(err)
		}
		w.disk.Fail(sessiontest.Fault{Kind: sessiontest.Stopped, At: at, Changes: true})
		w.e.running.Wait()
		hit := w.killed(at)
		want := 0
		for _, i := range []int{0, 2} {
			if x := w.session(refs[i]); x.Messages().Len() > 0 { // a loss of power may take it
				want += strings.Count(messagesOf(w, x), "needle")
			}
		}
		if r, err := w.e.Owner(context.Background(), ctxabi.Ref{UID: s1.UID}, Query{Text: "needle"}); err != nil || r.Count != want {
			t.Errorf("killed at change %d: %d records, want %d, %v", at, r.Count, want, err)
		}
		checkFiles(t, w, []string{"unique1x"})
		w.stop()
		if hit == 0 {
			return
		}
	}
}
