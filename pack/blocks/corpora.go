package blocks

import (
	"crypto/sha256"
	"sync"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lru"
)

// MaxCorpora is how much text the kept indexes were made of and take, in bytes.
const MaxCorpora = 32 << 20

// Corpora keeps what files were split into and its index, by their path and content, so that one changed
// file is all that is read again. It is safe for concurrent use; nil keeps nothing.
type Corpora struct {
	Most int // bytes

	mu    sync.Mutex
	known lru.Cache[corpusKey, *splitFile] // with their bytes
	made  int                              // how many files were read, for tests
}

type corpusKey struct {
	way, path string
	sum       [sha256.Size]byte // of the content
}

// splitFile is one file, split into parts and indexed.
type splitFile struct {
	parts []compress.Paragraph
	index *compress.Index
}

// NewCorpora returns corpora of the usual size.
func NewCorpora() *Corpora { return &Corpora{Most: MaxCorpora} }

// file returns a file split by way, from what is kept or anew.
func (c *Corpora) file(f *File, way string, split func(path, text string) *splitFile) *splitFile {
	if c == nil {
		return split(f.Path, string(f.Data))
	}
	key := corpusKey{way, f.Path, f.Digest()}
	c.mu.Lock()
	if s, ok := c.known.Get(key); ok {
		c.mu.Unlock()
		return s
	}
	c.made++
	c.mu.Unlock()

	s := split(f.Path, string(f.Data))
	c.mu.Lock()
	defer c.mu.Unlock()
	if first, ok := c.known.Get(key); ok { // somebody was faster
		return first
	}
	c.known.Put(key, s, int64(len(f.Data)+s.index.Size()+64*len(s.parts)))
	c.known.Trim(int64(c.Most), nil)
	return s
}
