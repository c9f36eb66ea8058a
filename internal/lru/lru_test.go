package lru

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a cache as a list that is searched from the front.
type model []item[string, int]

func (m *model) find(key string) int {
	return slices.IndexFunc(*m, func(i item[string, int]) bool { return i.key == key })
}

func (m *model) front(at int) {
	i := (*m)[at]
	*m = slices.Insert(slices.Delete(*m, at, at+1), 0, i)
}

func (m model) size() (n int64) {
	for _, i := range m {
		n += i.size
	}
	return n
}

func TestCacheIsAListInTheOrderOfUse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var c Cache[string, int]
		var m model
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		size := rapid.Int64Range(0, 9)
		same := func(what string, got int, ok bool, k string) int {
			at := m.find(k)
			if ok != (at >= 0) || ok && got != m[at].value {
				r.Fatalf("%s(%s): %d %v of %v", what, k, got, ok, m)
			}
			return at
		}
		r.Repeat(map[string]func(*rapid.T){
			"get": func(r *rapid.T) {
				k := key.Draw(r, "key")
				got, ok := c.Get(k)
				if at := same("get", got, ok, k); at >= 0 {
					m.front(at)
				}
			},
			"peek": func(r *rapid.T) {
				k := key.Draw(r, "key")
				got, ok := c.Peek(k)
				same("peek", got, ok, k)
			},
			"put": func(r *rapid.T) {
				k, v, n := key.Draw(r, "key"), rapid.Int().Draw(r, "value"), size.Draw(r, "size")
				c.Put(k, v, n)
				if at := m.find(k); at >= 0 {
					m = slices.Delete(m, at, at+1)
				}
				m = slices.Insert(m, 0, item[string, int]{k, v, n})
			},
			"resize": func(r *rapid.T) {
				k, n, by := key.Draw(r, "key"), size.Draw(r, "size"), size.Draw(r, "by")
				c.Resize(k, n)
				c.Grow(k, by)
				if at := m.find(k); at >= 0 {
					m[at].size = n + by
				}
			},
			"remove": func(r *rapid.T) {
				k := key.Draw(r, "key")
				got, ok := c.Remove(k)
				if at := same("remove", got, ok, k); at >= 0 {
					m = slices.Delete(m, at, at+1)
				}
			},
			"trim": func(r *rapid.T) {
				limit := rapid.Int64Range(0, 20).Draw(r, "limit")
				var gone []string
				c.Trim(limit, func(k string, _ int) { gone = append(gone, k) })
				for m.size() > limit && len(m) > 1 {
					last := m[len(m)-1]
					if m = m[:len(m)-1]; len(gone) == 0 || gone[0] != last.key {
						r.Fatalf("%s goes first, got %v", last.key, gone)
					}
					gone = gone[1:]
				}
				if len(gone) > 0 {
					r.Fatalf("gone as well: %v", gone)
				}
			},
			"keep": func(r *rapid.T) {
				n := rapid.IntRange(0, 5).Draw(r, "n")
				c.Keep(n)
				m = m[:min(n, len(m))]
			},
			"drop some": func(r *rapid.T) {
				for k, v := range c.Oldest() {
					if v%2 == 0 {
						c.Remove(k)
					}
				}
				m = slices.DeleteFunc(m, func(i item[string, int]) bool { return i.value%2 == 0 })
			},
			"": func(r *rapid.T) {
				var got, want []string
				for k, v := range c.Oldest() {
					got = append(got, fmt.Sprint(k, v, c.SizeOf(k)))
				}
				for _, i := range slices.Backward(m) {
					want = append(want, fmt.Sprint(i.key, i.value, i.size))
				}
				if !slices.Equal(got, want) || c.Len() != len(m) || c.Size() != m.size() {
					r.Fatalf("got %v (%d, %d bytes), want %v (%d bytes)", got, c.Len(), c.Size(), want, m.size())
				}
			},
		})
	})
}

func TestAClearedCacheIsEmpty(t *testing.T) {
	var c Cache[int, int]
	c.Clear()
	c.Put(1, 1, 5)
	c.Clear()
	if _, ok := c.Get(1); ok || c.Len() != 0 || c.Size() != 0 || c.SizeOf(1) != 0 {
		t.Errorf("%d values, %d bytes", c.Len(), c.Size())
	}
}
