package swap

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// prose is n bytes that no other seed has.
func prose(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%x line %d of it\n", r.Uint64(), r.IntN(1e6))
	}
	return b.String()[:n]
}

// addAll adds contents to a table as a session would, and keeps what it would keep.
func addAll(contents []string) (*repeatTable, []keptContent) {
	r := newRepeatTable()
	var kept []keptContent
	for i, text := range contents {
		sum := contentSum(sha256.Sum256([]byte(text)))
		ref := ctxabi.ContentRef{Source: ctxabi.MessagesFile, Start: i + 1, End: i + 1, Form: ctxabi.FormText}
		var chunks []chunkOf
		if _, known := r.wholes[sum]; !known {
			chunks = cut(text)
		}
		c := keptContent{Ref: ref, Size: len(text), Chunks: packChunks(chunks), Blobs: r.add(ref, text, sum, chunks)}
		c.Ref.Hash = "sha256:" + fmt.Sprintf("%x", sum[:])
		kept = append(kept, c)
	}
	return r, kept
}

func rowsOf(r *repeatTable) (rows []ctxabi.BlobRow) {
	counts := r.counts()
	for i := range r.blobs {
		rows = append(rows, r.row(&r.blobs[i], counts[i]))
	}
	return rows
}

// meant returns the bytes that a row means.
func meant(t *rapid.T, contents []string, row ctxabi.BlobRow) string {
	text := contents[row.Ref.Start-1]
	if row.Ref.Offset+row.Ref.Length > int64(len(text)) {
		t.Fatalf("%+v of %d bytes", row, len(text))
	}
	if text = text[row.Ref.Offset:]; row.Ref.Length > 0 {
		text = text[:row.Ref.Length]
	}
	if ctxabi.ContentID([]byte(text)) != row.Hash || int64(len(text)) != row.Bytes || row.Source != fmt.Sprintf("messages:%d", row.Ref.Start) {
		t.Fatalf("%+v means %d bytes of %s", row, len(text), ctxabi.ContentID([]byte(text)))
	}
	return text
}

func TestRepeatsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Contents are pieced together of few pieces, so that much repeats.
		piece := rapid.Custom(func(t *rapid.T) string {
			return prose(rapid.Uint64Range(1, 5).Draw(t, "seed"), rapid.SampledFrom([]int{200, 1500, 5000, 20000}).Draw(t, "bytes"))
		})
		content := rapid.Map(rapid.SliceOfN(piece, 1, 5), func(p []string) string {
			text := strings.Join(p, "")
			return text + strings.Repeat("x", max(0, minBlob-len(text)))
		})
		contents := rapid.SliceOfN(content, 1, 12).Draw(t, "contents")
		r, kept := addAll(contents)
		rows := rowsOf(r)
		byID := map[string]ctxabi.BlobRow{}
		for _, row := range rows {
			text := meant(t, contents, row)
			if _, twice := byID[row.Hash]; twice || row.Bytes < minBlob {
				t.Fatalf("%+v stands twice or is small", row)
			}
			byID[row.Hash] = row
			// How often it stands there at least, as bytes; a content that begins otherwise may be cut otherwise.
			found := 0
			for _, c := range contents {
				found += strings.Count(c, text)
			}
			if row.Count < 2 || found < 2 || row.Count > found {
				t.Fatalf("%+v stands %d times", row, found)
			}
			first := row.Ref.Start - 1
			for k, c := range contents[:first] {
				if c == contents[first] && row.Ref.Length == 0 {
					t.Fatalf("%+v stands in content %d before", row, k+1)
				}
			}
		}
		seen := map[string]int{}
		for _, c := range contents {
			seen[c]++
		}
		for c, n := range seen {
			if row, ok := byID[ctxabi.ContentID([]byte(c))]; n > 1 && (!ok || row.Count < n) {
				t.Fatalf("a content of %d bytes stands %d times: %+v", len(c), n, row)
			}
		}
		// What is kept of it gives the same.
		d := &Dedup{}
		d.begin()
		if !d.replay(&Batch{Contents: kept}) {
			t.Fatal("what was kept does not fit together")
		}
		if again := rowsOf(d.repeats); !reflect.DeepEqual(again, rows) {
			t.Fatalf("what was kept gives %+v, not %+v", again, rows)
		}
	})
}

func TestRepeatsWithinOneContent(t *testing.T) {
	block := prose(1, 30000)
	r, _ := addAll([]string{prose(2, 5000) + strings.Repeat(block, 6) + prose(3, 5000)})
	most := ctxabi.BlobRow{}
	for _, row := range rowsOf(r) {
		if row.Bytes > most.Bytes {
			most = row
		}
		if row.Bytes > int64(len(block)) {
			t.Errorf("%+v is more than what repeats", row)
		}
	}
	if most.Bytes < int64(len(block))*8/10 || most.Count < 5 {
		t.Errorf("of a block of %d bytes that stands 6 times: %+v", len(block), most)
	}
}

// One line over and over again is one blob or few, not one for each.
func TestRepeatsOfALoop(t *testing.T) {
	for _, line := range []string{"y\n", "retrying in 5 seconds\n", strings.Repeat("=", 79) + "\n"} {
		r, _ := addAll([]string{strings.Repeat(line, 1200000/len(line)), strings.Repeat(line, 700000/len(line)) + "done\n"})
		if n := len(r.blobs); n > 8 {
			t.Errorf("%q gives %d blobs", line, n)
		}
	}
}

// Of chunks that were not seen for long only the newest are known again, and memory has a bound.
func TestRepeatsForget(t *testing.T) {
	packtest.Pure(t)
	r := newRepeatTable()
	add := func(from, n int) []foundBlob {
		chunks := make([]chunkOf, n)
		for i := range chunks {
			chunks[i] = chunkOf{chunkSum(fmt.Appendf(nil, "%012d", from+i)), 1024}
		}
		return r.add(ctxabi.ContentRef{}, strings.Repeat("x", n*1024), sha256.Sum256(fmt.Append(nil, from, n, len(r.contents))), chunks)
	}
	add(0, 100)
	if len(add(0, 50)) != 1 {
		t.Error("a repeat is not found")
	}
	for from := 1000; from < 1000+rememberedNew/2; from += 4096 {
		add(from, 4096)
	}
	if len(add(10, 20)) != 1 {
		t.Error("a repeat is forgotten early")
	}
	for from := 1 << 20; from < 1<<20+3*rememberedNew; from += 4096 {
		add(from, 4096)
	}
	if len(add(60, 20)) != 0 {
		t.Error("nothing is forgotten")
	}
	if n := len(r.young) + len(r.old); n > 2*rememberedNew {
		t.Errorf("%d chunks are remembered", n)
	}
}
