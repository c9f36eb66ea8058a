package pack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// poisoned holds the renderings of a history to the rules of all providers, at several budgets.
func poisoned(t failer, h *memHistory, n int, budgets ...int) {
	t.Helper()
	for _, limit := range budgets {
		in := h.input(n, limit)
		b, err := compile(in)
		if err != nil {
			t.Fatalf("at %d of %d records, %d tokens: %v", n, h.len(), limit, err)
		}
		natives(t, b, logsOf(&in), limit, "")
	}
}

// Each poison by itself, at each moment.
func TestPoisonsAreRendered(t *testing.T) {
	pure(t)
	for _, p := range packtest.Poisons() {
		t.Run(p.Name, func(t *testing.T) {
			h := newHistory()
			h.message(message("user", "Begin."))
			for _, r := range p.Records(1) {
				h.message([]byte(r))
				poisoned(t, h, h.len(), 0, 8000)
			}
			h.message(message("assistant", "Done."))
			h.message(message("user", "And then?"))
			poisoned(t, h, h.len(), 0, 1200)
		})
	}
}

// poisons are those of a size that can be drawn often.
var poisons = sync.OnceValue(func() []packtest.Poison {
	return slices.DeleteFunc(packtest.Poisons(), func(p packtest.Poison) bool { return len(strings.Join(p.Records(1), "")) > 1<<15 })
})

// Random poisons in a random history, at random moments.
func TestPoisonedHistoryProperties(t *testing.T) {
	pure(t)
	suite.Check(t, 40, func(t *rapid.T) {
		h, id := newHistory(), 0
		for i := range rapid.IntRange(1, 12).Draw(t, "groups") {
			if rapid.IntRange(0, 2).Draw(t, "healthy") == 0 {
				for _, r := range packtest.Turn(&id).Draw(t, "turn") {
					h.message(r)
				}
				continue
			}
			n := i
			if rapid.IntRange(0, 5).Draw(t, "again") == 0 {
				n = 0 // ids that others have
			}
			for _, r := range rapid.SampledFrom(poisons()).Draw(t, "poison").Records(n) {
				h.message([]byte(r))
			}
		}
		poisoned(t, h, rapid.IntRange(0, h.len()).Draw(t, "moment"), 0, rapid.IntRange(1200, 12000).Draw(t, "budget"))
		poisoned(t, h, h.len(), 0, 4000, 32000)
	})
}

// imagesIn is how many images a rendering carries.
func imagesIn(f native.Format, data []byte) int {
	return bytes.Count(data, []byte(map[native.Format]string{native.OpenAI: `"type":"image_url"`, native.Responses: `"type":"input_image"`,
		native.Anthropic: `"type":"image"`, native.Gemini: `"inlineData"`, native.GenAI: `"inlineData"`}[f]))
}

// A picture that a provider refuses made each further request of the session fail.
func TestBadPictureIsALine(t *testing.T) {
	shots := func(n int, more int, edges ...int) (list []string) {
		for i := range n {
			edge := 100
			if i < len(edges) {
				edge = edges[i]
			}
			list = append(list, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Shot %d"},%s]}`, i, packtest.ImagePart("image/png", packtest.HeaderPNG(edge, 100, more))))
		}
		return list
	}
	one := func(part string) []string {
		return []string{`{"role":"user","content":[{"type":"text","text":"What is this?"},` + part + `]}`}
	}
	const openAI, anthropic, gemini = native.OpenAI, native.Anthropic, native.Gemini
	for _, c := range []struct {
		name    string
		records []string
		images  map[native.Format]int
		repair  string
	}{
		{"html", one(packtest.ImagePart("image/png", "PCFET0NUWVBFIGh0bWw+")), map[native.Format]int{openAI: 0, anthropic: 0, gemini: 0}, "a line replaces data: its bytes are no PNG"},
		{"jpeg as png", one(packtest.ImagePart("image/png", packtest.SmallJPEG)), map[native.Format]int{openAI: 1, anthropic: 1, gemini: 1}, `the media type "image/png", and its bytes are image/jpeg`},
		{"pdf", one(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjcK"}}`), map[native.Format]int{openAI: 0, anthropic: 0, gemini: 0}, "only images are sent"},
		{"big", shots(1, 5_000_000), map[native.Format]int{openAI: 1, anthropic: 0, gemini: 1}, "for Anthropic, a line replaces an image: it has 66"},
		{"tall", shots(1, 0, 9000), map[native.Format]int{openAI: 1, anthropic: 0, gemini: 1}, "9000×100 pixels, more than 8000"},
		{"many", shots(25, 0, 100, 100, 100, 2400), map[native.Format]int{openAI: 25, anthropic: 24, gemini: 25}, "in a request of more than 20 images"},
		{"150", shots(150, 0), map[native.Format]int{openAI: 150, anthropic: 99, gemini: 150}, "a request may have 100 images"},
		{"sum", shots(9, 3_400_000), map[native.Format]int{openAI: 4, anthropic: 5, gemini: 3}, "the images of a request may have 24000000 bytes"},
		{"gif", one(packtest.ImagePart("image/gif", "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=")), map[native.Format]int{openAI: 1, anthropic: 1, gemini: 0}, "for Gemini, a line replaces an image: image/gif"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := logOf(c.records...)
			in := inputOf(l, 0)
			b := mustCompile(t, in)
			got := natives(t, b, logsOf(&in), 0, "")
			for f, want := range c.images {
				if n := imagesIn(f, got[f].data); n != want {
					t.Errorf("%s carries %d images, want %d", f, n, want)
				}
			}
			if !strings.Contains(string(b.JSON()), strings.ReplaceAll(c.repair, `"`, `\"`)) {
				t.Errorf("repairs: %v", parseJSON(t, b).Repairs)
			}
			if c.name == "pdf" && !strings.Contains(string(b.Markdown), "[Document at Turn 1: ") {
				t.Errorf("%s", b.Markdown)
			}
		})
	}
}

// Where a limit of a request applies, older images leave many at a time, and never come back.
func TestImagesLeaveOnce(t *testing.T) {
	pure(t)
	l := newLog()
	part := packtest.ImagePart("image/png", packtest.HeaderPNG(100, 100, 0))
	var before nativeOf
	broken := 0
	for i := range 230 {
		l.Append(fmt.Appendf(nil, `{"role":"user","content":[{"type":"text","text":"Shot %d"},%s]}`, i, part))
		in := inputOf(l.Prefix(l.Len()), 0)
		after := natives(t, mustCompile(t, in), logsOf(&in), 0, "")[native.Anthropic]
		if _, ok := before.begins(after.units); !ok {
			broken++
		}
		before = after
	}
	if broken != 3 {
		t.Errorf("the prefix broke %d times in 230 images", broken)
	}
}
