package builder

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ctxfs/ctxfs/pack/source"
)

// Who must not wait for generators starts none, and gets what is there when there is nothing to wait for.
func TestAtOnceNeitherRunsNorWaits(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	atOnce := func(want bool, when string) {
		t.Helper()
		runs := f.count()
		b, err := d.b.Current(AtOnce(context.Background()), d.x)
		if want && err != nil || !want && !Waits(err) || (b != nil) != want || f.count() != runs {
			t.Errorf("%s: %v, %v, %d runs more", when, b, err, f.count()-runs)
		}
	}
	d.write("../../context.yaml", "sources: [{type: journal}]\n")
	atOnce(true, "without generators")
	f.files = map[string]inputs{"/host/work": {fingerprint: "1"}}
	d.write("../../context.yaml", hashedRecipe)
	atOnce(false, "before a first run")
	d.pack()
	atOnce(true, "after it")
	f.set(func() { f.files["/host/work"] = inputs{fingerprint: "2"} })
	atOnce(false, "with a changed input")
	if len(d.x.Errors()) > 0 {
		t.Errorf("%s", d.x.Errors())
	}
	d.write("../../context.yaml", strings.Replace(hashedRecipe, "file_hash, invalidate_on: [\"*\"]", "never", 1))
	d.pack()
	atOnce(false, "of one that each look runs")
	c := d.b.config
	c.Inside = true
	d.builder(c)
	atOnce(true, "inside of a generator")
	if b := d.pack(); !b.Stale || strings.Contains(string(b.Markdown), "A map.") {
		t.Errorf("inside of a generator: %s", b.Markdown)
	}
}

// Who must not wait for generators, and came while whoever will wait for them had not begun to, waits no longer than that.
func TestAtOnceEndsWhenTheBuildBeforeItWaits(t *testing.T) {
	d, f := computing(t, nil)
	d.write("../../context.yaml", hashedRecipe+"  - {type: file, path: f.md, on_missing: skip}\n")
	synctest.Test(t, func(t *testing.T) {
		outside := d.b
		g := &gate{asked: make(chan struct{}, 10), open: make(chan struct{}, 10)}
		c := d.b.config
		c.Workspace = g
		d.builder(c)
		defer func() { d.b.Close(); d.b = outside }()
		entered, release := make(chan struct{}), make(chan struct{})
		f.auto = func(source.Command) (source.Output, error) {
			close(entered)
			<-release
			return source.Output{Data: []byte("A map.\n")}, nil
		}
		var done sync.WaitGroup
		done.Go(func() { d.pack() })
		<-g.asked // it is busy, and no generator runs yet
		answer := make(chan error, 1)
		done.Go(func() {
			_, err := d.b.Current(AtOnce(context.Background()), d.x)
			answer <- err
		})
		synctest.Wait() // it waits for the one that is busy
		select {
		case err := <-answer:
			t.Errorf("got %v while no generator ran", err)
			answer <- err
		default:
		}
		g.open <- struct{}{}
		<-entered
		if err := <-answer; !Waits(err) {
			t.Errorf("got %v", err)
		}
		close(release)
		done.Wait()
	})
}

func TestNotesWaitForNoGenerator(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	f.files = map[string]inputs{"/host/work": {fingerprint: "1"}}
	d.write("../../context.yaml", "summarizer: {command: [sum-up]}"+hashedRecipe)
	d.pack()
	entered, release := make(chan struct{}), make(chan struct{})
	f.set(func() {
		f.auto = func(source.Command) (source.Output, error) {
			close(entered)
			<-release
			return source.Output{}, nil
		}
		f.files = map[string]inputs{"/host/work": {fingerprint: "2"}}
	})
	var done sync.WaitGroup
	done.Go(func() { d.pack() })
	<-entered
	if _, err := d.b.Notes(context.Background(), d.x); err != nil {
		t.Error(err)
	}
	close(release)
	done.Wait()
}
