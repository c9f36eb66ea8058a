package coder

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

type kind string

type leaf struct {
	Name  string
	Kind  kind
	Count int32
}

type tree struct {
	At     int64
	Small  uint8
	On     bool
	Words  []string
	Leaves []*leaf
}

func (l *leaf) code(c *Coder) {
	Text(c, &l.Name)
	Text(c, &l.Kind)
	Number(c, &l.Count)
}

func (v *tree) code(c *Coder) {
	Number(c, &v.At)
	Number(c, &v.Small)
	c.Flag(&v.On)
	List(c, &v.Words, func(w *string) { Text(c, w) })
	Pointers(c, &v.Leaves, func(l *leaf) { l.code(c) })
}

// What is read is what was written; of a part of it nothing is taken for all, and bytes of any kind are read without a panic.
func TestReadIsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Make[tree]().Draw(t, "value")
		if len(v.Words) == 0 {
			v.Words = nil
		}
		for i, l := range v.Leaves {
			if l == nil {
				v.Leaves[i] = &leaf{}
			}
		}
		if len(v.Leaves) == 0 {
			v.Leaves = nil
		}
		w := &Coder{}
		v.code(w)
		r, got := &Coder{Data: w.Data, Reads: true}, tree{}
		if got.code(r); r.Bad || len(r.Data) > 0 || !reflect.DeepEqual(got, v) {
			t.Fatalf("bad %v, %d bytes are left: %+v of %+v", r.Bad, len(r.Data), got, v)
		}
		cut := rapid.IntRange(0, len(w.Data)-1).Draw(t, "cut")
		r = &Coder{Data: w.Data[:cut], Reads: true}
		if new(tree).code(r); !r.Bad {
			t.Fatalf("%d bytes of %d are taken for all", cut, len(w.Data))
		}
		any := &Coder{Data: rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"), Reads: true}
		new(tree).code(any)
	})
}

// A number that its type does not hold is no number.
func TestNumbersOfOtherTypes(t *testing.T) {
	w, big := &Coder{}, int64(math.MaxInt64)
	Number(w, &big)
	small := uint8(1)
	r := &Coder{Data: w.Data, Reads: true}
	if Number(r, &small); !r.Bad || small != 0 {
		t.Errorf("%d is read, bad %v", small, r.Bad)
	}
}
