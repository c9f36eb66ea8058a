package tokens

import (
	"crypto/sha256"
	"sync"
)

const (
	minCached  = 64      // bytes; below, counting is as cheap as hashing
	generation = 1 << 15 // entries; a cache holds at most two generations, about 5 MB
)

// key is SHA-256 and not a faster hash because counts are exact: two texts
// that an agent chose must not share one.
type key [sha256.Size]byte

func keyOf(text string) key { return sha256.Sum256([]byte(text)) }

// cache remembers the counts of recent texts. It has two generations: what is
// used moves to the young one; when that is full it becomes the old one, and
// what was in the old one and not used since is forgotten.
type cache struct {
	mu         sync.Mutex
	young, old map[key]int // guarded by mu
}

func (c *cache) get(k key) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[k]; ok {
		return n, true
	}
	n, ok := c.old[k]
	if ok {
		c.add(k, n)
	}
	return n, ok
}

func (c *cache) put(k key, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, n)
}

// add is called with mu held.
func (c *cache) add(k key, n int) {
	if len(c.young) >= generation {
		c.old, c.young = c.young, nil
	}
	if c.young == nil {
		c.young = make(map[key]int)
	}
	c.young[k] = n
}
