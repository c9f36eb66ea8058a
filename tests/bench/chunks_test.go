package bench

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/compress"
)

// benchChunks measures cutting a content into chunks, each of which is hashed, against hashing the same bytes at once.
func benchChunks(t *testing.T, z sizes, tab *table) {
	var b strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d.%06d worker %d took job %x\n", i%60, i*7919%1000000, i%13, i*2654435761)
	}
	text := b.String()
	raw := []byte(text)
	var hashing, cutting []float64
	chunks := 0
	for range max(z.rounds, 3) {
		start := time.Now()
		sha256.Sum256(raw)
		hashing = append(hashing, float64(time.Since(start)))
		start = time.Now()
		chunks = len(compress.Chunks(text))
		cutting = append(cutting, float64(time.Since(start)))
	}
	if chunks == 0 {
		t.Fatal("no chunks")
	}
	tab.ratio(fmt.Sprintf("cut %d KB into %d chunks, against hashing them at once", len(text)/1000, chunks),
		map[string]float64{native: median(hashing), ctxfs: median(cutting)}, native, 12)
}
