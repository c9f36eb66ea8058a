package tokens

import (
	"strings"
	"testing"
)

func TestCountCached(t *testing.T) {
	c := &Counter{name: "o200k_base", split: splitO200k, ranks: counter(t, "").ranks}
	text := strings.Repeat("the cache remembers ", 10)
	want := c.Count(text)
	for range 3 {
		if n := c.CountCached(text); n != want {
			t.Fatalf("cached %d, want %d", n, want)
		}
	}
	if len(c.cache.young) != 1 {
		t.Errorf("%d entries after one text", len(c.cache.young))
	}
}

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	var c cache
	keep := keyOf("keep")
	c.put(keep, 7)
	for i := range 5 * generation {
		c.put(key{byte(i), byte(i >> 8), byte(i >> 16), 1}, i)
		if i%1000 == 0 {
			if n, ok := c.get(keep); !ok || n != 7 {
				t.Fatalf("after %d: %d, %v", i, n, ok)
			}
		}
		if n := len(c.young) + len(c.old); n > 2*generation {
			t.Fatalf("%d entries", n)
		}
	}
	if _, ok := c.get(key{0, 0, 0, 1}); ok {
		t.Error("the first entry, never used again, is still there")
	}
}
