package tokens

import (
	"strings"
	"unicode/utf8"
)

// DefaultEncoding is used where nobody asked for another.
const DefaultEncoding = "o200k_base"

// Counter counts tokens in one encoding. It is safe for concurrent use.
type Counter struct {
	name  string
	split splitter
	ranks *ranks
	cache cache
	short recent
}

// For returns the counter of an encoding ("o200k_base", "cl100k_base") or of a
// model ("gpt-4o"); "" is DefaultEncoding. Counters are shared and load once.
// The error of an unknown name lists what is accepted.
func For(encodingOrModel string) (*Counter, error) {
	name, err := resolve(encodingOrModel)
	if err != nil {
		return nil, err
	}
	return counters[name]()
}

// Encoding is the encoding's name.
func (c *Counter) Encoding() string { return c.name }

// Count is the exact number of tokens of text. Special tokens in text count as
// ordinary text, and each byte that is not UTF-8 as U+FFFD.
func (c *Counter) Count(text string) int {
	if !utf8.ValidString(text) {
		text = replaceInvalid(text)
	}
	n := 0
	for len(text) > 0 {
		end := c.split(text)
		n += c.short.count(c.ranks, text[:end])
		text = text[end:]
	}
	return n
}

// CountCached is Count with a bounded cache keyed by content; right for texts
// that come again.
func (c *Counter) CountCached(text string) int {
	if len(text) < minCached {
		return c.Count(text)
	}
	key := keyOf(text)
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := c.Count(text)
	c.cache.put(key, n)
	return n
}

// CountParts is Count of a text most of whose parts were counted before, such as a pack: parts that begin with # behind a
// newline add up, and each is counted by CountCached.
func (c *Counter) CountParts(text string) (n int) {
	for text != "" {
		end := strings.Index(text, "\n#") + 1
		if end == 0 {
			end = len(text)
		}
		n += c.CountCached(text[:end])
		text = text[end:]
	}
	return n
}

// replaceInvalid is string([]rune(text)) without the runes: one U+FFFD for
// each bad byte, where strings.ToValidUTF8 would make one of a whole run.
func replaceInvalid(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
