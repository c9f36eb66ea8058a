package journal

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/ctxfs/ctxfs/internal/coder"
)

// fill sets each field of a value to one of its own.
func fill(v reflect.Value, next *int64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			fill(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %08d", *next))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*next)
	case reflect.Uint8:
		v.SetUint(uint64(*next % 200))
	}
}

// What is kept of folds and zones has each of their fields.
func TestAllOfAFoldIsKept(t *testing.T) {
	next := int64(0)
	f, g := &Fold{}, &Fold{}
	for _, one := range []*Fold{f, g} {
		one.past = nil
		v := reflect.ValueOf(one).Elem()
		for i := range v.NumField() {
			field := v.Field(i)
			if v.Type().Field(i).Name != "past" {
				fill(reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem(), &next)
			}
		}
	}
	g.Rules, g.Cuts = f.Rules, f.Cuts[:1:1]
	g.past = []*Fold{g}
	f.past = []*Fold{g}
	k := kept{folds: []*Fold{f}, entered: []entered{{1, 2, 3, 4}}}
	z := &Zones{}
	fill(reflect.ValueOf(z).Elem(), &next)
	for _, parts := range [][]Part{z.blocks, z.folds} {
		for i := range parts {
			parts[i].Contents, parts[i].Instead = nil, nil
		}
	}
	z.used = false
	key := zonesOf{}
	fill(reflect.ValueOf(&key).Elem(), &next)
	key.before = nil
	k.zones = []namedZones{{key, -1, z}}

	c := &coder.Coder{}
	k.code(c)
	r := coder.Coder{Data: c.Data, Reads: true}
	var got kept
	got.code(&r)
	if r.Bad || len(r.Data) > 0 {
		t.Fatalf("it cannot be read: %d bytes are left", len(r.Data))
	}
	if !reflect.DeepEqual(got, k) {
		t.Errorf("read:\n%+v\nkept:\n%+v", *got.folds[0], *f)
	}
	for n := range len(c.Data) {
		if _, ok := readKept(c.Data[:n], 7); ok {
			t.Errorf("the first %d bytes of %d are taken for all", n, len(c.Data))
		}
	}
}
