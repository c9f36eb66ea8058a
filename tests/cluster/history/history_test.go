package history

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

var hosts = []string{"a", "b", "c"}

// made is a write with the moment at which it took effect.
type made struct {
	Write
	at    time.Duration
	there bool
}

// honest draws what clients of a store without faults do: every write takes effect while it is under way,
// if it does at all.
func honest(t *rapid.T, batches bool) (list []made) {
	n := rapid.IntRange(4, 40).Draw(t, "writes")
	now := time.Duration(0)
	for i := range n {
		now += time.Duration(rapid.IntRange(1, 30).Draw(t, "pause"))
		w := made{Write: Write{ID: fmt.Sprint("w", i), Host: rapid.SampledFrom(hosts).Draw(t, "host"), Began: now}}
		w.at = now + time.Duration(rapid.IntRange(1, 40).Draw(t, "until it counts"))
		w.Ended = w.at + time.Duration(rapid.IntRange(1, 40).Draw(t, "until it returns"))
		w.Result = rapid.SampledFrom([]Result{Stored, Stored, Stored, Refused, Unknown}).Draw(t, "result")
		w.there = w.Result == Stored || w.Result == Unknown && rapid.Bool().Draw(t, "there")
		if batches {
			w.Parts = rapid.IntRange(0, 4).Draw(t, "parts")
		}
		list = append(list, w)
	}
	return list
}

// effects returns those that took effect, in their order.
func effects(list []made) (order []made) {
	for _, w := range list {
		if w.there {
			order = append(order, w)
		}
	}
	slices.SortStableFunc(order, func(a, b made) int { return int(a.at - b.at) })
	return order
}

// keysOf returns the keys of writes, and after which of them each is.
func keysOf(order []made) (keys []string, at []time.Duration) {
	for _, w := range order {
		for part := range w.parts() {
			keys, at = append(keys, Key(w.ID, part)), append(at, w.at)
		}
	}
	return keys, at
}

func prefix(keys []string) (p Prefix) {
	for _, k := range keys {
		p.Add(k)
	}
	return p
}

// A history that nobody closes, as after a kill, is read again up to the line that is half there.
func TestAHistoryComesBackFromTheDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "history")
	h, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	l, r := h.List("log"), h.Register("setting")
	l.Wrote(Write{ID: "x", Parts: 2, Host: "a", Began: 1, Ended: 2})
	l.Wrote(Write{ID: "y", Host: "b", Began: 3, Ended: 4})
	l.Read(Look{Host: "a", Began: 5, Ended: 6, Prefix: prefix([]string{"x.0", "x.1"})})
	r.Wrote(Write{ID: "1", Host: "a", Began: 1, Ended: 2})
	r.Read(Sight{Host: "b", Began: 3, Ended: 4, ID: "1"})
	l.Final("a", []string{"x.0", "x.1"})
	r.Final("a", "")
	want := h.Check()
	if len(want) != 2 || want[0].Kind != "lost" || want[1].Kind != "cycle" {
		t.Fatalf("found %v", want)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"list":"lo`); err != nil {
		t.Fatal(err)
	}
	again, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Check(); !slices.Equal(got, want) {
		t.Errorf("found %v in what was kept", got)
	}
	a, b := h.Counts()
	if a != (Counts{Writes: 2, Records: 3, Stored: 3, Looks: 1}) || b != (Counts{Writes: 1, Records: 1, Stored: 1, Looks: 1}) {
		t.Errorf("counted %+v and %+v", a, b)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
