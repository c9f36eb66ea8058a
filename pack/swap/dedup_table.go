package swap

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Numbers of the search for repeats.
const (
	minBlob       = compress.MeanChunk // bytes of a content that is looked at, and of a run that makes a blob
	rememberedNew = 1 << 17            // chunks: of the last so many that differ, and at least as many before them, a repeat is found
	blobsAtChunk  = 16                 // that begin with one chunk
)

// chunkSum stands for a chunk: the beginning of its hash.
type chunkSum [12]byte

// contentSum is the SHA-256 of a content.
type contentSum [sha256.Size]byte

// MarshalText returns hex digits.
// It returns no error.
func (s contentSum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads them.
// It returns an error for what is not as many hex digits.
func (s *contentSum) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(s) {
		return hex.ErrLength
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// chunkOf is a chunk of a content that was cut.
type chunkOf struct {
	sum    chunkSum
	length int
}

// repeatTable finds content that stands in a history more than once. Contents are added one after another, in the order of the history;
// what is found follows from that order alone. A content is kept as the numbers of its chunks, each numbered when it is first seen:
// 4 bytes for about a KiB, beside some 40 bytes for each of the newest 2^18 chunks or fewer, by which they are found again.
type repeatTable struct {
	contents []heldContent
	wholes   map[contentSum]int32 // content → the first one that says the same
	chunks   []seenChunk          // by number
	young    map[chunkSum]int32   // numbers; once these are enough, they become the old ones and those are forgotten
	old      map[chunkSum]int32

	blobs  []foundBlob
	byID   map[contentSum]int
	starts map[int32][]int // number of a chunk → blobs that begin with it
}

// heldContent is one content of the history.
type heldContent struct {
	ref    ctxabi.ContentRef // of the whole, without its hash
	sum    contentSum
	size   int
	chunks []int32
}

// seenChunk is where a chunk stands first.
type seenChunk struct{ content, at, length int32 }

// foundBlob is a run of chunks of a content that stands elsewhere, too.
type foundBlob struct {
	ID      contentSum `json:"id"`
	Content int        `json:"content"` // by its number
	From    int        `json:"from"`    // its first chunk there
	N       int        `json:"n"`       // how many it has
	Tokens  int        `json:"tokens"`
}

func newRepeatTable() *repeatTable {
	return &repeatTable{wholes: map[contentSum]int32{}, young: map[chunkSum]int32{}, old: map[chunkSum]int32{},
		byID: map[contentSum]int{}, starts: map[int32][]int{}}
}

// cut cuts a text for add.
func cut(text string) (list []chunkOf) {
	for _, c := range compress.Chunks(text) {
		list = append(list, chunkOf{chunkSum(c.Hash[:]), c.Length})
	}
	return list
}

// add adds a content, cut by chunks, and gives what it repeats: runs of an earlier content, or of itself. It is repeated whole
// when an earlier one says exactly the same; chunks are not needed then.
func (r *repeatTable) add(ref ctxabi.ContentRef, text string, sum contentSum, chunks []chunkOf) (found []foundBlob) {
	me := r.hold(ref, sum, len(text), chunks)
	c := &r.contents[me]
	if first := int(r.wholes[sum]); first != me {
		return r.found(nil, foundBlob{ID: sum, Content: first, N: len(c.chunks)}, text)
	}
	offset := 0
	for i := 0; i < len(c.chunks); {
		n, bytes, from := r.run(me, i)
		if bytes >= minBlob {
			run := text[offset : offset+bytes]
			found = r.found(found, foundBlob{ID: sha256.Sum256([]byte(run)), Content: int(from.content), From: int(from.at), N: n}, run)
		}
		if n == 0 {
			n, bytes = 1, int(r.chunks[c.chunks[i]].length)
		}
		i, offset = i+n, offset+bytes
	}
	return found
}

// hold numbers the chunks of a content.
func (r *repeatTable) hold(ref ctxabi.ContentRef, sum contentSum, size int, chunks []chunkOf) int {
	me := len(r.contents)
	c := heldContent{ref: ref, sum: sum, size: size}
	if first, known := r.wholes[sum]; known {
		c.chunks = r.contents[first].chunks
	} else {
		r.wholes[sum] = int32(me)
		c.chunks = make([]int32, len(chunks))
		for i, chunk := range chunks {
			n, known := r.young[chunk.sum]
			if !known {
				if n, known = r.old[chunk.sum]; !known {
					n = int32(len(r.chunks))
					r.chunks = append(r.chunks, seenChunk{int32(me), int32(i), int32(chunk.length)})
				}
				if len(r.young) >= rememberedNew {
					r.old, r.young = r.young, map[chunkSum]int32{}
				}
				r.young[chunk.sum] = n
			}
			c.chunks[i] = n
		}
	}
	r.contents = append(r.contents, c)
	return me
}

// run is the longest run from chunk i of a content on that stands where its first chunk stood first. In the same content it
// ends before itself and where it begins anew: what is said over and over is one blob.
func (r *repeatTable) run(me, i int) (n, bytes int, from seenChunk) {
	c := r.contents[me].chunks
	from = r.chunks[c[i]]
	if int(from.content) == me && int(from.at) >= i {
		return 0, 0, from
	}
	first := r.contents[from.content].chunks[from.at:]
	most := min(len(first), len(c)-i)
	if int(from.content) == me {
		most = min(most, i-int(from.at))
	}
	for n < most && first[n] == c[i+n] && !(n > 0 && int(from.content) == me && c[i+n] == c[i]) {
		bytes += int(r.chunks[c[i+n]].length)
		n++
	}
	return n, bytes, from
}

// found appends b, which says text, to list if it is new.
func (r *repeatTable) found(list []foundBlob, b foundBlob, text string) []foundBlob {
	if _, known := r.byID[b.ID]; known || len(r.starts[r.contents[b.Content].chunks[b.From]]) >= blobsAtChunk {
		return list
	}
	b.Tokens = ctxabi.Weight(text)
	r.note(b)
	return append(list, b)
}

// note notes a blob that add found, here or when it was told to another table of the same contents.
func (r *repeatTable) note(b foundBlob) {
	first := r.contents[b.Content].chunks[b.From]
	r.byID[b.ID] = len(r.blobs)
	r.starts[first] = append(r.starts[first], len(r.blobs))
	r.blobs = append(r.blobs, b)
}

// counts returns how often each blob stands in all contents; where it would overlap itself it counts once.
func (r *repeatTable) counts() []standing {
	counts := make([]standing, len(r.blobs))
	type place struct{ content, end int }
	last := make([]place, len(r.blobs))
	for k := range r.contents {
		c := r.contents[k].chunks
		for i, number := range c {
			for _, at := range r.starts[number] {
				if last[at].content == k+1 && i < last[at].end {
					continue
				}
				b := &r.blobs[at]
				if n := b.N; i+n <= len(c) && equalRuns(c[i:i+n], r.contents[b.Content].chunks[b.From:b.From+n]) {
					counts[at].at(r.contents[k].ref)
					last[at] = place{k + 1, i + n}
				}
			}
		}
	}
	return counts
}

// standing is where a content stands in a history, and how often.
type standing struct {
	count int
	refs  ctxabi.Places
}

func (s *standing) at(ref ctxabi.ContentRef) {
	s.count++
	s.refs.Add(SourceOf(ref))
}

func equalRuns(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// row returns the row of a blob.
func (r *repeatTable) row(b *foundBlob, in standing) ctxabi.BlobRow {
	c := &r.contents[b.Content]
	ref, size, offset := c.ref, 0, 0
	for i, number := range c.chunks[:b.From+b.N] {
		if length := int(r.chunks[number].length); i < b.From {
			offset += length
		} else {
			size += length
		}
	}
	if b.From > 0 || b.N < len(c.chunks) {
		ref.Offset, ref.Length = int64(offset), int64(size)
	}
	return blobRow(ctxabi.BlobText, ref, b.ID, int64(size), in, b.Tokens)
}

// bytes is about how much memory r takes.
func (r *repeatTable) bytes() int {
	return 160*len(r.contents) + 16*len(r.chunks) + 40*(len(r.young)+len(r.old)) + 200*len(r.blobs)
}
