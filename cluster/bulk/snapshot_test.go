package bulk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// changes are what a random test does to a session.
func changes(x *session.Session, n *int) map[string]func(*rapid.T) {
	text := rapid.StringMatching(`[a-z ]{0,30}`)
	do := func(t *rapid.T, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string]func(*rapid.T){
		"messages": func(t *rapid.T) {
			count := rapid.IntRange(1, 4).Draw(t, "records")
			appendTo(t, x.Messages(), talk(*n, count, rapid.SampledFrom([]int{0, 100, 5000, 30000}).Draw(t, "size")))
			*n += count
		},
		"events": func(t *rapid.T) {
			*n++
			appendTo(t, x.Events(), fmt.Appendf(nil, `{"type":"tool_result","call_id":"c%d","name":"sh","output":"%s"}`+"\n", *n, text.Draw(t, "output")))
		},
		"seal": func(t *rapid.T) {
			_, _, err := x.Archive(ctx)
			do(t, err)
		},
		"setting": func(t *rapid.T) {
			name := rapid.SampledFrom([]string{ctxabi.CwdFile, ctxabi.BudgetFile, ctxabi.StateFile, ctxabi.HandoffFile, ctxabi.PlanFile}).Draw(t, "name")
			content := map[string]string{ctxabi.CwdFile: "/work\n", ctxabi.BudgetFile: "9000\n", ctxabi.StateFile: "done\n",
				ctxabi.HandoffFile: text.Draw(t, "text"), ctxabi.PlanFile: `{"steps":[{"step":"do it","status":"pending"}]}`}[name]
			x.SetControl(name, []byte(content)) // one that is refused changes nothing
		},
		"workspace of a container": func(t *rapid.T) {
			do(t, x.SetWorkspace(ctxabi.CwdFile, []byte("/inside\n"), rapid.Bool().Draw(t, "foreign")))
		},
		"note": func(t *rapid.T) {
			name := rapid.SampledFrom([]string{ctxabi.TodoFile, ctxabi.SummaryFile}).Draw(t, "note")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				do(t, x.AppendNote(name, []byte(text.Draw(t, "text")+"\n")))
			case 1:
				do(t, x.SetNote(name, []byte(text.Draw(t, "text")), ctxabi.OriginAgent))
			default:
				do(t, x.DropNote(name))
			}
		},
		"pin": func(t *rapid.T) {
			do(t, x.SetControl(path.Join(ctxabi.PinnedDir, text.Draw(t, "name")+".md"), []byte(text.Draw(t, "text"))))
		},
		"artifact": func(t *rapid.T) {
			x.MakeChild("c1")
			dir := x.Disk().Path(ctxabi.ChildPath("c1", ctxabi.ChildArtifact), rapid.SampledFrom([]string{"", "deep/er"}).Draw(t, "dir"))
			do(t, os.MkdirAll(dir, 0o700))
			size := rapid.SampledFrom([]int{0, 300, inlineMost, inlineMost + 1}).Draw(t, "size")
			do(t, os.WriteFile(path.Join(dir, text.Draw(t, "name")+".bin"), make([]byte, size), 0o600))
			x.Touch()
		},
		"child": func(t *rapid.T) {
			name := rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "child")
			if x.MakeChild(name) == nil {
				return
			}
			file := rapid.SampledFrom([]string{ctxabi.ChildStatus, ctxabi.ChildResult, ctxabi.ChildHandoff, ctxabi.ChildAgent}).Draw(t, "file")
			do(t, x.SetControl(ctxabi.ChildPath(name, file), []byte(map[string]string{ctxabi.ChildStatus: "done\n", ctxabi.ChildResult: text.Draw(t, "text"),
				ctxabi.ChildHandoff: text.Draw(t, "text"), ctxabi.ChildAgent: "coder\n"}[file])))
		},
		"blob": func(t *rapid.T) {
			content := strings.Repeat(text.Draw(t, "text"), rapid.IntRange(1, 100).Draw(t, "times")) + "."
			sum := sha256.Sum256([]byte(content))
			do(t, sessiontest.StoreBlob(x, "sha256-"+hex.EncodeToString(sum[:]), content, disk.Writer{UID: 1000}))
		},
		"summary": func(t *rapid.T) {
			do(t, x.AppendDerived(rapid.SampledFrom([]string{session.SummariesFile, session.ProjectFile}).Draw(t, "name"), fmt.Appendf(nil, `{"from":%d}`, *n)))
		},
		"output": func(t *rapid.T) {
			do(t, x.SetDerived("outputs/"+rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), []byte(text.Draw(t, "text"))))
		},
	}
}

// packOf returns the pack of a session as a text.
func packOf(t *rapid.T, x *session.Session) string {
	b, err := builder.NewBuilder(builder.Config{Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := b.Current(ctx, x)
	if err != nil {
		t.Fatalf("pack: %v", err)
	}
	return p.ID + "\n" + string(p.Markdown) + string(p.JSON())
}

// Whatever was done to a session, another store makes the same one of its snapshot, with all parts or
// with none of them, and both go on alike.
func TestAnotherStoreMakesTheSameSession(t *testing.T) {
	smallParts(t)
	dirs := t.TempDir()
	suite.Check(t, 25, func(t *rapid.T) {
		dir, err := os.MkdirTemp(dirs, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		objects, maintenance := newObjects()
		s := NewStore(objects, Owner(refA))
		one := openStore(t, quick{vfs.OS}, dir+"/one", session.Options{})
		defer one.Close()
		x := create(t, one)
		n := 0
		var shared [2][]Part
		actions := changes(x, &n)
		actions["share"] = func(t *rapid.T) {
			i := rapid.IntRange(0, 1).Draw(t, "log")
			p, err := s.Share(ctx, x, []*log.Log{x.Messages(), x.Events()}[i], shared[i])
			if err != nil {
				t.Fatal(err)
			}
			if p != nil {
				shared[i] = append(shared[i], *p)
			}
		}
		t.Repeat(actions)
		snap, err := s.Take(ctx, x, at, shared)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := s.Save(ctx, snap)
		if err != nil {
			t.Fatal(err)
		}
		if snap, err = s.Load(ctx, idA, saved); err != nil {
			t.Fatal(err)
		}
		deleteUnnamed(t, objects, NewStore(maintenance, Owner(refA)), saved, snap)
		whole := rapid.Bool().Draw(t, "whole")
		two := openStore(t, quick{vfs.OS}, dir+"/two", session.Options{Parts: NewParts(objects, time.Minute)})
		defer two.Close()
		y, err := s.Restore(ctx, two, refA, ownerA, snap, whole)
		if err != nil {
			t.Fatal(err)
		}
		sameSession(t, x, y)
		for i, l := range []*log.Log{x.Messages(), x.Events()} {
			if at := []*log.Log{y.Messages(), y.Events()}[i].ModTime(); !at.Equal(l.ModTime()) {
				t.Errorf("%s grew at %v, and at %v", l.Name(), l.ModTime(), at)
			}
		}
		if a, b := packOf(t, x), packOf(t, y); a != b {
			t.Errorf("the packs differ:\n%s\n---\n%s", a, b)
		}
		goOn(t, x, y, n)
		sameSession(t, x, y)
	})
}

// deleteUnnamed deletes all objects that a snapshot does not name.
func deleteUnnamed(t *rapid.T, objects engine.Objects, m *Store, saved Saved, snap *Snapshot) {
	listed, err := objects.List(ctx, Owner(refA), "")
	if err != nil {
		t.Fatal(err)
	}
	var named Named
	named.AddSnapshot(saved, snap)
	_, found := Unnamed{}.Plan(KeepFor, listed, &named, time.Unix(0, 0))
	due, _ := found.Plan(KeepFor, listed, &named, time.Unix(0, 0).Add(KeepFor))
	if gone, err := m.Sweep(ctx, due, func(Name) (bool, error) { return true, nil }); err != nil || len(gone) != len(found) {
		t.Fatalf("%d of %d are gone: %v", len(gone), len(found), err)
	}
}

// goOn appends to x and applies the same to y.
func goOn(t *rapid.T, x, y *session.Session, n int) {
	from := len(rowsOf(t, x, x.Messages()))
	data := talk(n, 1, 50)
	appendTo(t, x.Messages(), data)
	if err := y.Messages().Apply(rowsOf(t, x, x.Messages())[from:], data); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// A session of a shared space has the owners of the space, and blobs those of their writers.
func TestASessionOfASpace(t *testing.T) {
	objects, _ := newObjects()
	ref := ctxabi.Ref{Space: "team-1", Agent: "coder", Session: "s1"}
	gid := uint32(os.Getgid())
	owner := disk.Owner{UID: 1000, GID: gid, Mode: 0o2770}
	if got := Owner(ref); got != "sehim2r9d64" || (engine.Subject{Owner: got, Session: idA}).Check() != nil {
		t.Errorf("its owner is %q", got)
	}
	s := NewStore(objects, Owner(ref))
	one := openStore(t, vfs.OS, t.TempDir(), session.Options{})
	defer one.Close()
	space(t, one, ref.Space, gid)
	if err := one.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: ref, Owner: owner, ID: idA}); err != nil {
		t.Fatal(err)
	}
	x, err := one.Session(ref)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, x.Messages(), talk(0, 3, 100))
	sum := sha256.Sum256([]byte("blob"))
	if err := sessiontest.StoreBlob(x, "sha256-"+hex.EncodeToString(sum[:]), "blob", disk.Writer{UID: 1007}); err != nil {
		t.Fatal(err)
	}
	snap, err := s.Take(ctx, x, at, shareAll(t, s, x))
	if err != nil {
		t.Fatal(err)
	}
	two := openStore(t, vfs.OS, t.TempDir(), session.Options{Parts: NewParts(objects, time.Minute)})
	defer two.Close()
	space(t, two, ref.Space, gid)
	y, err := s.Restore(ctx, two, ref, owner, snap, false)
	if err != nil {
		t.Fatal(err)
	}
	sameSession(t, x, y)
	a, err := x.Disk().Owner()
	b, failed := y.Disk().Owner()
	if err != nil || failed != nil || a != b {
		t.Errorf("%+v and %+v, %v, %v", a, b, err, failed)
	}
}

// space makes a shared space.
func space(t *testing.T, s *session.Store, name string, gid uint32) {
	t.Helper()
	if _, err := s.CreateSpace(name, gid); err != nil {
		t.Fatal(err)
	}
}
