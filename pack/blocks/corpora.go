package blocks

import (
	"container/list"
	"crypto/sha256"
	"sync"

	"github.com/ctxfs/ctxfs/compress"
)

// MaxCorpora is how much text the kept indexes were made of and take, in bytes.
const MaxCorpora = 32 << 20

// Corpora keeps what files were split into and its index, by their path and content, so that one changed
// file is all that is read again. It is safe for concurrent use; nil keeps nothing.
type Corpora struct {
	Most int // bytes

	mu    sync.Mutex
	known map[corpusKey]*list.Element // of *splitFile
	order list.List                   // the last used first
	size  int
	made  int // how many files were read, for tests
}

type corpusKey struct {
	way, path string
	sum       [sha256.Size]byte // of the content
}

// splitFile is one file, split into parts and indexed.
type splitFile struct {
	key    corpusKey
	matter frontMatter
	parts  []compress.Paragraph
	index  *compress.Index
	size   int
}

// NewCorpora returns corpora of the usual size.
func NewCorpora() *Corpora { return &Corpora{Most: MaxCorpora, known: map[corpusKey]*list.Element{}} }

// file returns a file split by way, from what is kept or anew.
func (c *Corpora) file(f *File, way string, split func(path, text string) *splitFile) *splitFile {
	if c == nil {
		return split(f.Path, string(f.Data))
	}
	key := corpusKey{way, f.Path, f.Digest()}
	c.mu.Lock()
	if e, ok := c.known[key]; ok {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*splitFile)
	}
	c.made++
	c.mu.Unlock()

	s := split(f.Path, string(f.Data))
	s.key, s.size = key, len(f.Data)+s.index.Size()+64*len(s.parts)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[key]; ok { // somebody was faster
		return e.Value.(*splitFile)
	}
	c.known[key] = c.order.PushFront(s)
	c.size += s.size
	for c.size > c.Most && c.order.Len() > 1 {
		e := c.order.Back()
		old := c.order.Remove(e).(*splitFile)
		delete(c.known, old.key)
		c.size -= old.size
	}
	return s
}
