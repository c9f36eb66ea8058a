package compress

import (
	"crypto/sha256"
	"strings"
	"sync"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers the algorithm below
)

// Sizes of chunks in bytes. Only the last chunk of a content is shorter than MinChunk, and no
// chunk is longer than MaxChunk.
const (
	MinChunk  = 256
	MeanChunk = 1024 // about, where content is not all the same
	MaxChunk  = 4096
)

// chunking is the algorithm: FastCDC (Xia et al., USENIX ATC 2016) with masks for these sizes.
// It must not change: another one would not find again what was stored with this one.
const chunking = "fastcdc-v1.0.0"

// Chunk is a piece of a content: Length bytes from byte Offset on, and their SHA-256.
type Chunk struct {
	Offset, Length int // in bytes
	Hash           [sha256.Size]byte
}

// Chunks returns the chunks of a content in its order; none is empty, and together they are the
// content. The content's own bytes decide where it is cut: the same bytes in another content, or
// behind an edit in this one, become the same chunks except at the edges. A chunk may begin or
// end inside of a line or a rune.
func Chunks(content string) []Chunk {
	if content == "" {
		return nil
	}
	c := idleChunkers.Get().(*chunkers.Chunker)
	defer idleChunkers.Put(c)
	c.Reset(strings.NewReader(content))
	list := make([]Chunk, 0, len(content)/MeanChunk+1)
	for at := 0; at < len(content); {
		piece, _ := c.Next() // a string cannot fail to be read, and ends where at does
		list = append(list, Chunk{at, len(piece), sha256.Sum256(piece)})
		at += len(piece)
	}
	c.Reset(strings.NewReader("")) // content is not kept
	return list
}

var idleChunkers = sync.Pool{New: func() any {
	c, err := chunkers.NewChunker(chunking, strings.NewReader(""), &chunkers.ChunkerOpts{
		MinSize: MinChunk, NormalSize: MeanChunk, MaxSize: MaxChunk})
	if err != nil {
		panic(err) // the arguments are constants
	}
	return c
}}
