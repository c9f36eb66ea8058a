package log

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestPackedRowsAreThoseThatWereSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunk, off := &rowChunk{}, rapid.Int64Range(0, 1<<40).Draw(t, "offset")
		var want []row
		for i := range rapid.IntRange(1, chunkRows).Draw(t, "rows") {
			r := row{off: off, len: rapid.Int32Range(0, 1<<24).Draw(t, "len"), weight: rapid.Int32().Draw(t, "weight"), callOf: rapid.Int32().Draw(t, "call"),
				crc: rapid.Uint32().Draw(t, "crc"), role: ctxabi.Role(rapid.IntRange(0, int(ctxabi.Event)).Draw(t, "role")), flags: ctxabi.EntryFlags(rapid.Byte().Draw(t, "flags")),
				events: rapid.SampledFrom([]int64{0, 7, -1, 1 << 50}).Draw(t, "events")}
			off = r.end()
			chunk.set(i, &r)
			want = append(want, r)
			for k := range want {
				if got := chunk.get(k); got != want[k] {
					t.Fatalf("row %d of %d is %+v, want %+v", k, i+1, got, want[k])
				}
			}
		}
	})
}
