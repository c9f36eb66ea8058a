package inspect

import (
	"context"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/tokens"
)

// Call is one call of a model, and what a provider with a prefix cache would have of its request.
type Call struct {
	Record   int `json:"record"`   // of messages.jsonl: the answer
	Messages int `json:"messages"` // that the request is of
	Tokens   int `json:"tokens"`   // of the request: cached, written and fresh together
	Cached   int `json:"cached"`   // what the request before began with, too
	Written  int `json:"written"`  // the rest in front of the footer
	Fresh    int `json:"fresh"`    // the footer
}

// answers are the records of the history that are calls of a model and have something in front of them.
func (h *History) answers() (out []int) {
	m := h.Messages()
	for n := 2; n <= m.Len(); n++ {
		if m.At(n).Role == ctxabi.Assistant {
			out = append(out, n)
		}
	}
	return out
}

// call compares p, the request that record n answers, with the one before it; nil: there is none.
func call(n int, p, before *Pack) Call {
	c := Call{Record: n, Messages: p.Messages, Tokens: p.Tokens}
	for _, it := range p.Items {
		if it.Phase == "dynamic" {
			c.Fresh += it.Tokens
		}
	}
	c.Fresh = max(c.Fresh, p.Fresh)
	if before != nil {
		front := p.Markdown[:min(p.PrefixBytes, len(p.Markdown))]
		c.Cached = p.counter.CountParts(front[:p.shared(front, before.Markdown[:min(before.PrefixBytes, len(before.Markdown))])])
	}
	c.Written = c.Tokens - c.Fresh - c.Cached
	return c
}

// shared is how many bytes of front, the part of p in front of its footer, another text begins with, too: whole blocks and records.
func (p *Pack) shared(front, other string) int {
	n := commonPrefix(front, other)
	if n == len(front) {
		return n
	}
	i, found := slices.BinarySearch(p.parts.starts, n)
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return p.parts.starts[i]
}

// evenly chooses k of n places, from 0, evenly and with the last one; all of them where k is 0 or not less.
func evenly(n, k int) []int {
	if k == 0 || k > n {
		k = n
	}
	out := make([]int, k)
	for i := range out {
		out[i] = (i+1)*n/k - 1
	}
	return out
}

// counter counts in the encoding of the session's packs.
func (h *History) counter() (*tokens.Counter, error) {
	p, err := h.At(context.Background(), h.Len())
	if err != nil {
		return nil, err
	}
	return p.counter, nil
}
