package lru

import (
	"container/list"
	"iter"
)

// Cache holds values by key. The zero value is empty and ready to use.
type Cache[K comparable, V any] struct {
	at    map[K]*list.Element
	order list.List // of *item[K, V], the one used last in front
	size  int64
}

type item[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// Get returns the value of key and marks it as used last. ok is false when there is none.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	e, ok := c.at[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true
}

// Peek returns the value of key and leaves the order as it is. ok is false when there is none.
func (c *Cache[K, V]) Peek(key K) (value V, ok bool) {
	e, ok := c.at[key]
	if !ok {
		return value, false
	}
	return e.Value.(*item[K, V]).value, true
}

// Put sets the value of key and its size, in the unit of the user's choice, and marks it as used last.
func (c *Cache[K, V]) Put(key K, value V, size int64) {
	if e, ok := c.at[key]; ok {
		i := e.Value.(*item[K, V])
		c.size += size - i.size
		i.value, i.size = value, size
		c.order.MoveToFront(e)
		return
	}
	if c.at == nil {
		c.at = map[K]*list.Element{}
	}
	c.at[key] = c.order.PushFront(&item[K, V]{key, value, size})
	c.size += size
}

// Resize sets the size of key's value and leaves the order as it is. Without a value it does nothing.
func (c *Cache[K, V]) Resize(key K, size int64) {
	if e, ok := c.at[key]; ok {
		i := e.Value.(*item[K, V])
		c.size += size - i.size
		i.size = size
	}
}

// Grow adds to the size of key's value as Resize does.
func (c *Cache[K, V]) Grow(key K, by int64) {
	if e, ok := c.at[key]; ok {
		e.Value.(*item[K, V]).size += by
		c.size += by
	}
}

// SizeOf returns the size of key's value, 0 without one.
func (c *Cache[K, V]) SizeOf(key K) int64 {
	if e, ok := c.at[key]; ok {
		return e.Value.(*item[K, V]).size
	}
	return 0
}

// Remove removes the value of key and returns it. ok is false when there was none.
func (c *Cache[K, V]) Remove(key K) (value V, ok bool) {
	e, ok := c.at[key]
	if !ok {
		return value, false
	}
	i := c.order.Remove(e).(*item[K, V])
	delete(c.at, key)
	c.size -= i.size
	return i.value, true
}

// Trim removes the values that were not used for longest until their sizes add up to limit or less, but never the one used last.
// It calls evicted, unless that is nil, with each value after its removal.
func (c *Cache[K, V]) Trim(limit int64, evicted func(K, V)) {
	for c.size > limit && c.order.Len() > 1 {
		i := c.order.Back().Value.(*item[K, V])
		c.Remove(i.key)
		if evicted != nil {
			evicted(i.key, i.value)
		}
	}
}

// Keep removes the values that were not used for longest until n or fewer are left.
func (c *Cache[K, V]) Keep(n int) {
	for c.order.Len() > n {
		c.Remove(c.order.Back().Value.(*item[K, V]).key)
	}
}

// Oldest returns all values, the one that was not used for longest first. The loop may remove the value that it is given.
func (c *Cache[K, V]) Oldest() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for e := c.order.Back(); e != nil; {
			before := e.Prev()
			if i := e.Value.(*item[K, V]); !yield(i.key, i.value) {
				return
			}
			e = before
		}
	}
}

// Clear removes all values.
func (c *Cache[K, V]) Clear() {
	clear(c.at)
	c.order.Init()
	c.size = 0
}

// Len returns how many values there are.
func (c *Cache[K, V]) Len() int { return c.order.Len() }

// Size returns the sum of the sizes of all values.
func (c *Cache[K, V]) Size() int64 { return c.size }
