package host

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
	"github.com/ctxfs/ctxfs/session/sessiontest"
)

// A host that is behind by many entries writes them together. Whatever befalls its disk meanwhile, it shows the
// beginning of the journal and nothing else, forgets nothing that it has shown while it lives, and catches up in the end.
func TestManyEntriesComeAtOnceOnADiskThatFails(t *testing.T) {
	faults := 0
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, "a", "b")
		a, b := r.nodes[0], r.nodes[1]
		defer func() { a.stop(); b.stop() }()
		ctx, number, records := context.Background(), 0, 0
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"message", "message", "message", "event", "event", "setting", "child"}), 1, 30).Draw(t, "entries")
			for _, kind := range kinds {
				var err error
				number++
				key := arrival.Key{Conn: 7, Unique: uint64(number)}
				switch text := fmt.Sprint(number); kind {
				case "message":
					records++
					_, err = a.x.Messages().Append(ctx, log.Batch{Data: message(text), Writer: writer, Key: key})
				case "event":
					records++
					_, err = a.x.Events().Append(ctx, log.Batch{Data: event(text), Writer: writer, Key: key})
				case "setting":
					err = a.x.SetControl(ctxabi.BudgetFile, []byte(fmt.Sprintln(4000+number)))
				default:
					err = a.x.MakeChild("child-" + text)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for range rapid.IntRange(0, 4).Draw(t, "faults") {
				logs := map[string]*log.Log{ctxabi.MessagesFile: b.x.Messages(), ctxabi.EventsFile: b.x.Events()}
				shown := map[string]int64{}
				for name, l := range logs {
					shown[name] = l.Len()
				}
				b.disk.Fail(sessiontest.Fault{Kind: rapid.SampledFrom([]sessiontest.Kind{sessiontest.EIO, sessiontest.ENOSPC, sessiontest.Short, sessiontest.Stopped}).Draw(t, "kind"),
					At: rapid.IntRange(1, 25).Draw(t, "at"), Changes: rapid.Bool().Draw(t, "changes")})
				err := b.h.Fresh(ctx, b.x, 0)
				b.disk.Heal()
				if err != nil {
					faults++
				}
				for name, l := range logs {
					if got := b.content(name)[:l.Len()]; !strings.HasPrefix(a.content(name), got) || l.Len() < shown[name] {
						t.Fatalf("%s of the host that is behind, which showed %d bytes of it:\n%q", name, shown[name], got)
					}
				}
				switch rapid.IntRange(0, 3).Draw(t, "end") {
				case 0:
					b.kill()
					b.start()
				case 1:
					b.kill()
					b.disk.Crash(rapid.Int64().Draw(t, "seed"))
					b.start()
				}
			}
		}
		b.kill() // a log whose disk failed takes nothing until it is opened anew
		b.start()
		if got := strings.Count(r.agree(), "\n"); got != records {
			t.Errorf("%d records of %d", got, records)
		}
	})
	if faults == 0 {
		t.Error("no fault hit anything")
	}
}
