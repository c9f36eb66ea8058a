package coder

import (
	"encoding/binary"
	"slices"
)

// Coder is one such pass. The zero Coder writes.
type Coder struct {
	Data  []byte // what is written so far, or what is still to be read
	Reads bool
	Bad   bool // what was to be read is not what was written; all values are zero from there on
}

// fail notes that what was to be read is not what was written.
func (c *Coder) fail() { c.Bad, c.Data = true, nil }

// Number codes integers as varints.
func Number[T ~int | ~int32 | ~int64 | ~uint8 | ~uint16](c *Coder, all ...*T) {
	for _, p := range all {
		if !c.Reads {
			c.Data = binary.AppendVarint(c.Data, int64(*p))
			continue
		}
		v, n := binary.Varint(c.Data)
		if n <= 0 || int64(T(v)) != v {
			c.fail()
			v, n = 0, 0
		}
		*p, c.Data = T(v), c.Data[n:]
	}
}

// Flag codes booleans.
func (c *Coder) Flag(all ...*bool) {
	for _, p := range all {
		v := uint8(0)
		if *p {
			v = 1
		}
		Number(c, &v)
		*p = v == 1
	}
}

// Text codes strings: their lengths, and their bytes.
func Text[T ~string](c *Coder, all ...*T) {
	for _, p := range all {
		n := len(*p)
		if Number(c, &n); !c.Reads {
			c.Data = append(c.Data, *p...)
			continue
		}
		if n < 0 || n > len(c.Data) {
			c.fail()
			n = 0
		}
		*p, c.Data = T(c.Data[:n]), c.Data[n:]
	}
}

// List codes a list whose elements take a byte at least; one codes an element. An empty list is read as nil.
func List[T any](c *Coder, l *[]T, one func(*T)) {
	n := len(*l)
	if Number(c, &n); c.Reads {
		if n < 0 || n > len(c.Data) {
			c.fail()
			n = 0
		}
		*l = slices.Clip(make([]T, n))
		if n == 0 {
			*l = nil
		}
	}
	for i := range *l {
		one(&(*l)[i])
	}
}

// Pointers codes a list of pointers, none of which is nil; one codes what an element points to.
func Pointers[T any](c *Coder, l *[]*T, one func(*T)) {
	List(c, l, func(p **T) {
		if c.Reads {
			*p = new(T)
		}
		one(*p)
	})
}
