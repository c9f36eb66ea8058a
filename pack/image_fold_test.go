package pack

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

// distinctLines is the output of a tool, as JSON writes it: no two of its lines are equal, nor those of two salts.
func distinctLines(n, salt int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%d %x %s\n`, i, uint32(salt*4096+i)*2654435761, []string{"mount", "epoch", "cache line", "inode", "flush"}[(salt+i)%5])
	}
	return b.String()
}

// appended compiles after each record that is added, and fails where a pack takes something back that the one before it
// stood by: a compaction, or without a compaction the epoch or the prefix.
type appended struct {
	t      failer
	log    *memLog
	limit  int
	c      Compiler
	before *Build
}

func (a *appended) add(record string) *Build {
	a.t.Helper()
	a.log.Append([]byte(record))
	b, err := a.c.Compile(inputOf(a.log.Prefix(a.log.Len()), a.limit))
	if err != nil {
		a.t.Fatalf("%v", err)
	}
	if b.native.Bound > a.limit {
		a.t.Fatalf("at %d, %d records: native renderings may take %d tokens", a.limit, a.log.Len(), b.native.Bound)
	}
	if p := a.before; p != nil {
		switch {
		case b.Compactions < p.Compactions:
			a.t.Fatalf("at %d, %d records: %d compactions after %d; %s", a.limit, a.log.Len(), b.Compactions, p.Compactions, b.EpochReason)
		case b.Compactions > p.Compactions:
		case b.Epoch != p.Epoch:
			a.t.Fatalf("at %d, %d records: the epoch changed without a compaction; %s", a.limit, a.log.Len(), b.EpochReason)
		case !bytes.HasPrefix(b.Markdown, p.Markdown[:p.Prefix]):
			a.t.Fatalf("at %d, %d records: the prefix changed within an epoch", a.limit, a.log.Len())
		}
	}
	a.before = b
	return b
}

// The image of the request that goes on stands behind the boundary, too, and takes room there.
func TestImagesOfKeptRequestsFoldedThePackBackAndForth(t *testing.T) {
	shot := screenshot(600, 400)
	sizes := []int{3, 30, 400}
	for _, limit := range suite.Pick(t, []int{6500}, []int{6500, 8000, 20000}) {
		a := appended{t: t, log: newLog(), limit: limit}
		shown := 0
		for turn := range 14 {
			a.add(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Look at page %d and repair it."},%s]}`, turn, shot))
			for k := range 9 {
				a.add(fmt.Sprintf(`{"role":"assistant","content":"Step %d.","tool_calls":[{"id":"c%d_%d","name":"run","arguments":"{\"at\":%d}"}]}`, k, turn, k, k))
				b := a.add(fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d_%d","content":"%s"}`, turn, k, distinctLines(sizes[(turn*turn+2*k)%3], 4*turn+k)))
				if strings.Contains(b.EpochReason, "tighter") {
					t.Errorf("at %d, %d records: %s", limit, a.log.Len(), b.EpochReason)
				}
				for i := range b.native.Script.Lines {
					if l := &b.native.Script.Lines[i]; l.Past && l.Carried {
						shown++
					}
				}
			}
		}
		if a.before.Compactions < 2 || shown == 0 {
			t.Errorf("at %d: %d compactions, %d images behind the boundary", limit, a.before.Compactions, shown)
		}
	}
}

// Many short records take more in native renderings than in pack.md.
func TestFramesOfShortRecordsBesideImagesFoldedThePackBackAndForth(t *testing.T) {
	shot := screenshot(300, 200)
	a := appended{t: t, log: newLog(), limit: 8000}
	for turn := range 250 {
		image := ""
		if turn%20 == 0 {
			image = "," + shot
		}
		a.add(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Request %d: %s"}%s]}`, turn, weighing(2), image))
		a.add(fmt.Sprintf(`{"role":"assistant","content":"Answer %d: %s"}`, turn, weighing(2)))
	}
	if a.before.Compactions < 2 {
		t.Errorf("%d compactions", a.before.Compactions)
	}
}

// Native renderings have the images of system messages as texts.
func TestImagesOfSystemMessagesCostWhatTheyDoNotTake(t *testing.T) {
	shot := screenshot(1280, 720)
	record := func(role string) Input {
		return inputOf(logOf(fmt.Sprintf(`{"role":"%s","content":[{"type":"text","text":"So it looks."},%s]}`, role, shot), string(message("user", "Repair it."))), 8000)
	}
	user := mustCompile(t, record("user")).native.Bound
	for _, role := range []string{"system", "developer", "assistant"} {
		in := record(role)
		b := mustCompile(t, in)
		if b.native.Bound > user-1548+2*6 {
			t.Errorf("%s: %d tokens at most, of a user %d", role, b.native.Bound, user)
		}
		for f, r := range natives(t, b, logsOf(&in), 8000, "") {
			if bytes.Contains(r.data, []byte("iVBOR")) {
				t.Errorf("%s: %s shows the image", role, f)
			}
		}
	}
}

// turnWithImages draws a request and the calls that it takes; either may have images.
func turnWithImages(n int, shots []string) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		images := func(most int) (s string) {
			for range rapid.IntRange(0, most).Draw(t, "images") {
				s += "," + rapid.SampledFrom(shots).Draw(t, "image")
			}
			return s
		}
		out := []string{fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Request %d: %s"}%s]}`, n, weighing(rapid.IntRange(1, 300).Draw(t, "words")), images(2))}
		for k := range rapid.IntRange(0, 5).Draw(t, "calls") {
			text := distinctLines(rapid.SampledFrom([]int{1, 3, 30, 400}).Draw(t, "lines"), 8*n+k)
			out = append(out, fmt.Sprintf(`{"role":"assistant","content":"Step %d.","tool_calls":[{"id":"c%d_%d","name":"run","arguments":"{}"}]}`, k, n, k))
			if rapid.Bool().Draw(t, "plain") {
				out = append(out, fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d_%d","content":"%s"}`, n, k, text))
			} else {
				out = append(out, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d_%d","content":[{"type":"text","text":"%s"}%s]}]}`, n, k, text, images(1)))
			}
		}
		return out
	})
}

// For random images and results no record takes back what the pack before it stood by.
func TestImagesNeverTakeACompactionBack(t *testing.T) {
	pure(t)
	shots := []string{screenshot(64, 64), screenshot(300, 200), screenshot(600, 400), screenshot(1280, 720)}
	suite.Check(t, 25, func(t *rapid.T) {
		a := appended{t: t, log: newLog(), limit: rapid.SampledFrom([]int{8000, 12000, 20000}).Draw(t, "budget")}
		for n := range rapid.IntRange(2, 9).Draw(t, "turns") {
			for _, record := range turnWithImages(n, shots).Draw(t, "turn") {
				a.add(record)
			}
		}
		// Nor does it matter who looked when.
		in := inputOf(a.log, a.limit)
		if b, fresh := a.before, mustCompile(t, in); b.Epoch != fresh.Epoch || !bytes.Equal(b.Markdown, fresh.Markdown) || b.native.Bound != fresh.native.Bound {
			t.Fatalf("after %s: the pack compiled at once is another", record.Address{Line: a.log.Len()})
		}
	})
}

// Below some 6,000 tokens the newest screenshot never reached the model, and no report said so.
func TestNewestImageIsSent(t *testing.T) {
	shot := screenshot(1024, 768)
	history := longLog(60).Records()
	for _, budget := range []int{600, 2000, 2500, 3000, 4000, 5000, 6000, 8000} {
		l := newLog()
		for _, r := range history {
			l.Append(r)
		}

		l.Append([]byte(`{"role":"user","content":[{"type":"text","text":"What is wrong here?"},` + shot + `]}`))
		for _, later := range []string{"",
			`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","name":"zoom","arguments":"{}"}]}`,
			`{"role":"tool","tool_call_id":"c1","content":"done"}`,
		} {
			if later != "" {
				l.Append([]byte(later))
			}
			in := inputOf(l.Prefix(l.Len()), budget)
			b := mustCompile(t, in)
			said := strings.Contains(string(b.Report), "- image: the newest images of the user, in message 61,")
			for f, r := range natives(t, b, logsOf(&in), budget, "") {
				if sent := bytes.Contains(r.data, []byte("iVBOR")); sent == said || budget >= 2000 && !sent {
					t.Errorf("%s at %d, %d records: sent %v, reported %v", f, budget, l.Len(), sent, said)
				}
			}
		}
	}
}

// An image stays until the first compaction after two more requests, and is a line from then on.
func TestOldImageBecomesALine(t *testing.T) {
	l := logOf(`{"role":"user","content":[{"type":"text","text":"What is wrong here?"},` + screenshot(300, 300) + `]}`)
	compacted := 0 // the number of requests at the last compaction
	for n := 2; n < 120; n++ {
		l.Append(message("user", fmt.Sprintf("Request %d: %s", n, weighing(60))))
		in := inputOf(l.Prefix(l.Len()), 4000)
		b := mustCompile(t, in)
		if strings.Contains(string(b.Report), "brought a") {
			compacted = n
		}
		sent := bytes.Contains(natives(t, b, logsOf(&in), in.Budget, "")[native.OpenAI].data, []byte("iVBOR"))
		if want := compacted == 0; sent != want {
			t.Fatalf("%d requests, the last compaction at %d: sent %v", n, compacted, sent)
		}
	}
	if compacted == 0 {
		t.Error("no compaction")
	}
}
