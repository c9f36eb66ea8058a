package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// What one host printed is what the others show, and an output that is printed again does not cost its bytes.
func TestHostsShowWhatOneOfThemPrinted(t *testing.T) {
	w := newWorld(t, "a", "b")
	a, b := w.nodes[0], w.nodes[1]
	w.ok(a.x.SetControl(ctxabi.RecipeFile, []byte(mapped)))
	w.say(a.x, 3)
	w.fresh()
	_, err := a.b.Current(t.Context(), a.x)
	w.ok(err)
	w.equal()
	if a.runs.Load()+b.runs.Load() != 1 {
		t.Errorf("%d and %d runs of one command for one history", a.runs.Load(), b.runs.Load())
	}
	w.say(b.x, 1)
	w.equal()
	if md := string(w.settled()[0].Markdown); !strings.Contains(md, "Printed by ") {
		t.Errorf("the pack is\n%s\n%s", md, w.settled()[0].Report)
	}
}

// A blob is there for all hosts, and goes for all of them; one that another host has used since stays.
func TestABlobIsOfAllHosts(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	a, b := w.nodes[0], w.nodes[1]
	for _, content := range []string{"one", strings.Repeat("large ", 100_000)} {
		id := idOf(content)
		w.ok(sessiontest.StoreBlob(a.x, id, content, writer))
		w.ok(sessiontest.StoreBlob(b.x, id, content, writer)) // a second time
		w.fresh()
		for _, n := range w.nodes {
			f, err := n.x.OpenBlob(id)
			w.ok(err)
			got := make([]byte, len(content))
			_, err = f.ReadAt(got, 0)
			w.ok(err)
			f.Close()
			if string(got) != content {
				t.Errorf("%s has another content", n.name)
			}
		}
		w.equal()
	}
	id := idOf("one")
	sweeps := func(n *node) bool {
		_, done, err := n.x.SweepBlob(id, func(blob.Blob) (bool, error) { return true, nil })
		w.ok(err)
		return done
	}
	if sweeps(a) {
		t.Error("a blob goes that was used a moment ago")
	}
	// The entry of a removal that has another number than the one that comes next is void.
	c := &Committer{a.h, New(nil)}
	w.ok(c.CommitBlob(context.Background(), a.x, blob.Change{ID: id, Drop: true, If: a.h.Position(a.x) + 7}))
	w.fresh()
	for _, n := range w.nodes {
		if _, err := n.x.Blob(id); err != nil {
			t.Errorf("%s: %v", n.name, err)
		}
	}
	w.ok(b.x.RemoveBlob(id, writer.UID))
	w.fresh()
	for _, n := range w.nodes {
		if _, err := n.x.Blob(id); err == nil {
			t.Errorf("%s has it yet", n.name)
		}
	}
	w.equal()
}

func idOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// Whatever users do on which host, and whoever looks when: at the same end of the journal packs are the same.
func TestPacksOfAllHostsAreEqual(t *testing.T) {
	summaries, worlds, failed := 0, 0, false
	suite.Check(t, 4, func(rt *rapid.T) {
		if worlds >= 20 && !failed {
			return // each is three hosts with a disk; more of them say little more
		}
		failed = true
		w := newWorld(t, "a", "b", "c")
		defer w.end()
		w.t = rt
		a := w.nodes[0]
		w.ok(a.x.SetControl(ctxabi.RecipeFile, []byte(summed)))
		w.say(a.x, 20)
		w.fresh()
		pick := func(t *rapid.T) *node { return rapid.SampledFrom(w.nodes).Draw(t, "host") }
		for range rapid.IntRange(8, 16).Draw(rt, "steps") {
			n := pick(rt)
			text := []byte(fmt.Sprintln("text", w.made))
			switch rapid.IntRange(0, 11).Draw(rt, "what") {
			case 0, 1, 2:
				w.say(n.x, rapid.IntRange(1, 30).Draw(rt, "records"))
			case 3:
				_, err := n.x.Events().Append(context.Background(), log.Batch{Data: []byte(`{"type":"note","text":"x"}` + "\n"), Writer: writer})
				w.ok(err)
			case 4:
				recipe := rapid.SampledFrom([]string{mapped, summed, summed, wrong, noRecipe}).Draw(rt, "recipe")
				if recipe == noRecipe {
					n.x.RemoveControl(ctxabi.RecipeFile)
				} else {
					w.ok(n.x.SetControl(ctxabi.RecipeFile, []byte(recipe)))
				}
			case 5:
				w.ok(n.x.AppendNote(ctxabi.TodoFile, text))
			case 6:
				child := fmt.Sprint("child-", rapid.IntRange(0, 3).Draw(rt, "child"))
				n.x.MakeChild(child)
				for file, data := range map[string]string{ctxabi.ChildStatus: "done\n", ctxabi.ChildResult: string(text)} {
					if err := n.x.SetControl(ctxabi.ChildPath(child, file), []byte(data)); err != nil && !session.Gone(err) {
						w.t.Fatal(err)
					}
				}
			case 7:
				n.x.MakeChild("linked")
				w.ok(n.x.SetControl(ctxabi.ChildPath("linked", ctxabi.ChildAgent), []byte(worker.Agent+"\n")))
				w.ok(n.x.SetControl(ctxabi.ChildPath("linked", ctxabi.ChildSession), []byte(worker.Session+"\n")))
				w.say(n.w, 2)
				w.ok(n.w.SetControl(ctxabi.StateFile, []byte(rapid.SampledFrom([]string{"done\n", "idle\n"}).Draw(rt, "state"))))
			case 8:
				w.ok(sessiontest.StoreBlob(n.x, idOf(string(text)), string(text), writer))
			case 9:
				w.ok(n.x.SetControl(ctxabi.PinnedDir+"/rules.md", text))
			default:
				_, err := n.b.Current(context.Background(), n.x)
				w.ok(err)
			}
			if rapid.IntRange(0, 5).Draw(rt, "compare") == 0 {
				w.equal()
			}
		}
		w.equal()
		worlds, failed = worlds+1, false
		versions, err := a.x.Summaries()
		w.ok(err)
		summaries += len(versions.List)
	})
	if summaries == 0 {
		t.Error("no summarizer was ever heard: the test says nothing of summaries")
	}
	t.Logf("%d summaries", summaries)
}

// Rows are read as they were written, and nothing else is.
func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := session.Kept{Name: rapid.SampledFrom([]string{session.SummariesFile, session.ProjectFile, "outputs/ab", "epoch.json"}).Draw(t, "name"),
			Line: rapid.Bool().Draw(t, "line"), Drop: rapid.Bool().Draw(t, "drop"), Rest: rapid.IntRange(0, 1<<20).Draw(t, "rest"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
		copy(k.Was[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "was"))
		row, object := keptRow(&k)
		got, sum, err := parseKept(&row)
		if err != nil || object || sum != nil || !bytes.Equal(got.Data, k.Data) || fmt.Sprint(got) != fmt.Sprint(k) {
			t.Fatalf("%v %v %v, want %v", got, sum, err, k)
		}
		c := blob.Change{ID: idOf(string(k.Data)), Size: rapid.Int64Range(0, ctxabi.MaxBlob).Draw(t, "size"), UID: rapid.Uint32().Draw(t, "uid"),
			Time: time.Unix(0, rapid.Int64Min(0).Draw(t, "time")), If: rapid.Uint64().Draw(t, "if")}
		c.Drop = rapid.Bool().Draw(t, "dropped")
		c.Used = !c.Drop && rapid.Bool().Draw(t, "used")
		blob, err := blobRow(&c)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := parseBlob(&blob); err != nil || fmt.Sprint(got) != fmt.Sprint(c) {
			t.Fatalf("%v %v, want %v", got, err, c)
		}
		for _, whole := range [][]byte{row.Content, blob.Content} {
			cut := slices.Clone(whole[:rapid.IntRange(0, len(whole)-1).Draw(t, "cut")])
			row.Content, blob.Content = cut, cut
			_, _, kept := parseKept(&row)
			_, _, blobs := parseBlob(&blob)
			if kept == nil && blobs == nil {
				t.Fatalf("%x is taken for a row", cut)
			}
		}
	})
}
