package fs

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/builder"
	packsource "github.com/ctxfs/ctxfs/pack/source"
)

// countingGenerators run nothing and count how often their inputs are looked at.
type countingGenerators struct{ looks atomic.Int64 }

func (g *countingGenerators) Run(context.Context, uint32, uint32, packsource.Command) (packsource.Output, error) {
	return packsource.Output{Data: []byte("made\n")}, nil
}

func (g *countingGenerators) Inputs(context.Context, uint32, uint32, string, []string, time.Duration) (string, bool, string) {
	g.looks.Add(1)
	return "unchanged", false, ""
}

func (g *countingGenerators) Inside(uint32) (string, bool) { return "", false }

// Whoever opened a pack that had been awaited had its inputs looked at twice, by the look-up and by
// the open, however long ago it was made.
func TestOpeningAnUnchangedAwaitedPackLooksAtItsInputsOnce(t *testing.T) {
	g := &countingGenerators{}
	m := mountWith(t, builder.Config{Budget: 32000, Generators: g})
	file := strings.TrimSpace(m.sh(os.Geteuid(), newSessionScript+`echo / > cwd
echo 'wait_ms: 60000
sources: [{type: computed_file, id: gen, generator: {command: [make]}, cache: {strategy: file_hash, invalidate_on: [input]}}, {type: journal}]' > context/context.yaml
grep -c made context/pack.md
echo $PWD/context/pack.md`))
	_, file, _ = strings.Cut(file, "\n")
	looks := func(script string) int64 {
		t.Helper()
		before := g.looks.Load()
		m.expect(m.sh(os.Geteuid(), "P="+file+"\n"+script), "made")
		return g.looks.Load() - before
	}
	looks(`grep -x made "$P"`) // from now on the file stands for its build
	stat := looks(`[ -f "$P" ] && echo made`)
	if open := looks(`exec 3< "$P"; grep -x made <&3`); stat == 0 || open != stat {
		t.Errorf("%d looks at the inputs of a pack that is opened, %d at those of one that is looked up; want as many", open, stat)
	}
}
