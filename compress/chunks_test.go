package compress

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mustCover fails unless the chunks are what Chunks promises of them.
func mustCover(t interface{ Fatalf(string, ...any) }, content string, list []Chunk) {
	at := 0
	for i, c := range list {
		if c.Offset != at || c.Length < 1 || c.Length > MaxChunk || c.Length < MinChunk && i < len(list)-1 || at+c.Length > len(content) {
			t.Fatalf("chunk %d of %d bytes: offset %d, length %d, after %d bytes", i, len(content), c.Offset, c.Length, at)
		}
		if c.Hash != sha256.Sum256([]byte(content[at:at+c.Length])) {
			t.Fatalf("chunk %d of %d bytes has another hash", i, len(content))
		}
		at += c.Length
	}
	if at != len(content) {
		t.Fatalf("chunks cover %d of %d bytes", at, len(content))
	}
}

// source looks like a program: lines that differ.
func source(seed uint64, lines int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "\tfunc%d(a%d, %q) // %d\n", r.IntN(900), r.IntN(90), strings.Repeat("x", r.IntN(40)), r.IntN(1e9))
	}
	return b.String()
}

func TestChunksCover(t *testing.T) {
	for _, content := range []string{
		"", "a", strings.Repeat("a", MinChunk-1), strings.Repeat("a", MinChunk), strings.Repeat("a", MinChunk+1), strings.Repeat("\x00", MaxChunk),
		strings.Repeat("ab", 1<<16), source(1, 3000), strings.Repeat("日本語", 5000),
	} {
		mustCover(t, content, Chunks(content))
	}
}

// Where the boundaries are is part of what is stored of a session.
func TestChunksStayWhereTheyWere(t *testing.T) {
	list := Chunks(source(7, 200))
	var lengths []int
	for _, c := range list {
		lengths = append(lengths, c.Length)
	}
	if want := []int{1601, 1102, 1074, 1036, 1482, 1093, 1149, 1127, 292}; !reflect.DeepEqual(lengths, want) {
		t.Errorf("lengths %d, want %d", lengths, want)
	}
}

func TestChunksAreAboutAKiB(t *testing.T) {
	content := source(3, 40000)
	list := Chunks(content)
	if mean := len(content) / len(list); mean < MeanChunk/2 || mean > 2*MeanChunk {
		t.Errorf("the mean of %d chunks is %d bytes", len(list), mean)
	}
}

// An edit changes the chunks near it and no others.
func TestChunksOutliveAnEdit(t *testing.T) {
	content := source(5, 4000)
	at := len(content) / 2
	known := map[[sha256.Size]byte]bool{}
	for _, c := range Chunks(content) {
		known[c.Hash] = true
	}
	for _, edited := range []string{
		content[:at] + "one more line\n" + content[at:], content[:at] + content[at+300:], "first\n" + content, content + "last\n",
	} {
		other := 0
		for _, c := range Chunks(edited) {
			if !known[c.Hash] {
				other += c.Length
			}
		}
		if other > 4*MaxChunk {
			t.Errorf("one edit in %d bytes changed chunks of %d bytes", len(content), other)
		}
	}
}

func TestChunksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 700), 0, 12).Draw(t, "pieces")
		times := rapid.IntRange(1, 12).Draw(t, "times")
		content := string(bytes.Repeat(bytes.Join(pieces, nil), times))
		list := Chunks(content)
		mustCover(t, content, list)
		if again := Chunks(content); !reflect.DeepEqual(again, list) {
			t.Fatalf("the same content gives other chunks")
		}
	})
}

func FuzzChunks(f *testing.F) {
	f.Add("", 1)
	f.Add("a line\n", 999)
	f.Add(source(9, 40), 3)
	f.Fuzz(func(t *testing.T, s string, times int) {
		content := strings.Repeat(s, max(0, min(times, 1<<20/(len(s)+1))))
		mustCover(t, content, Chunks(content))
	})
}
