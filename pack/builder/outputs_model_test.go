package builder

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/source"
)

// Whatever happens in which order: a source never runs twice at once, a run is
// never wasted on what is there, and once all is quiet a gather gives what the
// present history and files make of it.
func TestOutputsFollowTheirInputsInAnyOrder(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		turn := 0
		rapid.Check(t, func(t *rapid.T) {
			turn++
			x := b.session(fmt.Sprint("s", turn))
			history, files, answered := 1, 1, b.fake.count()
			dir := fmt.Sprint("/work", turn)
			touch := func() { b.fake.set(func() { b.fake.files[dir] = inputs{fingerprint: fmt.Sprint(files)} }) }
			wants := func() []want {
				p, h := plain("plain"), hashed("hashed")
				p.history, h.dir = fmt.Sprint(history), dir
				p.stages = []source.Command{{Session: x.ID(), Args: []string{"plain", p.history}}}
				h.stages = []source.Command{{Session: x.ID(), Args: []string{"hashed", fmt.Sprint(files)}}}
				return []want{p, h}
			}
			answer := func() {
				synctest.Wait()
				for n := b.fake.count(); answered < n; answered++ {
					r := b.fake.at(answered)
					r.answer <- source.Output{Data: []byte(r.command.Args[0] + " " + r.command.Args[1])}
				}
				synctest.Wait()
			}
			touch()
			t.Repeat(map[string]func(*rapid.T){
				"history": func(*rapid.T) { history++ },
				"files":   func(*rapid.T) { files++; touch() },
				"gather":  func(*rapid.T) { b.gather(x, 0, wants()...); synctest.Wait() },
				"wait":    func(*rapid.T) { b.gather(x, time.Second, wants()...) },
				"answer":  func(*rapid.T) { answer() },
				"evict":   func(*rapid.T) { b.o.evict(x.ID()) },
				"": func(t *rapid.T) {
					if n := b.fake.count() - answered; n > 2 {
						t.Fatalf("%d runs of two sources are under way", n)
					}
				},
			})
			b.gather(x, 0, wants()...)
			for range 3 { // the run under way, and the one behind it
				answer()
			}
			runs := b.fake.count()
			got := b.gather(x, -1, wants()...)
			for i, want := range []string{fmt.Sprint("plain ", history), fmt.Sprint("hashed ", files)} {
				if s := inWords(got[i]); s != want {
					t.Fatalf("made %q, want %q", s, want)
				}
			}
			if n := b.fake.count(); n != runs || !b.unchanged(x, got, wants()...) {
				t.Fatalf("%d runs for nothing", n-runs)
			}
		})
	})
}
