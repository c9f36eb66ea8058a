package world

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var hexRuns = regexp.MustCompile(`[0-9a-f]+`)

// Wherever hashes stand, and however the bytes come, each run of 64 digits is found, and no other.
func TestHashesAreFoundWhereverTheyStand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0: // runs of digits of lengths around that of a hash, and around twice that
				b.WriteString(strings.Repeat("a0f", 60)[:rapid.SampledFrom([]int{1, 63, 64, 65, 127, 128, 129}).Draw(t, "digits")])
			case 1:
				b.WriteString(strings.Repeat("-", rapid.IntRange(0, 130).Draw(t, "gap")))
			case 2: // across the ends of the blocks in which it is read
				b.WriteString(strings.Repeat(".", 256<<10-rapid.IntRange(0, 200).Draw(t, "before the end")))
			}
		}
		data := []byte(b.String())
		want := []int64{}
		for _, at := range hexRuns.FindAllIndex(data, -1) {
			if at[1]-at[0] == hashDigits {
				want = append(want, int64(at[0]))
			}
		}
		whole, blocks := []int64{}, []int64{}
		scanBlock(data, func(at int) { whole = append(whole, int64(at)) })
		err := scanHashes(context.Background(), iotest.HalfReader(bytes.NewReader(data)), func(off int64, hash []byte) {
			if string(hash) != string(data[off:off+hashDigits]) {
				t.Fatalf("at %d stands %s, not %s", off, data[off:off+hashDigits], hash)
			}
			blocks = append(blocks, off)
		})
		if err != nil || !slices.Equal(whole, want) || !slices.Equal(blocks, want) {
			t.Fatalf("found %v at once and %v in blocks, there are %v (%v)", whole, blocks, want, err)
		}
	})
}

func BenchmarkScanHashes(b *testing.B) {
	line := []byte(fmt.Sprintf(`{"role":"tool","content":"%s see context/pinned/rules.md"}`, strings.Repeat("func read(in []byte) error { return nil }\n", 50)) + "\n")
	data := bytes.Repeat(line, 500)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := scanHashes(context.Background(), bytes.NewReader(data), func(int64, []byte) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAScanEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	reads := 0
	endless := readerFunc(func(p []byte) (int, error) {
		if reads++; reads == 3 {
			cancel()
		}
		return len(p), nil
	})
	if err := scanHashes(ctx, endless, func(int64, []byte) {}); err != context.Canceled || reads != 3 {
		t.Errorf("%v behind %d reads", err, reads)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
