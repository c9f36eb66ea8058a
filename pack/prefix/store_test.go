package prefix

import (
	"strconv"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

type memoryFile struct {
	data []byte
	head string
}

func (f *memoryFile) Load() []byte { return f.data }

func (f *memoryFile) Keep(data []byte) error { f.data = data; return nil }

func (f *memoryFile) Head(_ record.Records, at int) (string, error) {
	return f.head + strconv.Itoa(at), nil
}

func TestStoreLoadsPrefixesOnly(t *testing.T) {
	log := packtest.LogOf(`{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`, `{"role":"user","content":"c"}`)
	file := &memoryFile{}
	if err := NewStore("x", "1", file).Save(log, 2, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if state, at, ok := NewStore("x", "1", file).Load(log); !ok || at != 2 || string(state) != "state" {
		t.Errorf("%q at %d, %v", state, at, ok)
	}
	whole := file.data
	for name, load := range map[string]func() bool{
		"of another name":    func() bool { _, _, ok := NewStore("y", "1", file).Load(log); return ok },
		"of another version": func() bool { _, _, ok := NewStore("x", "11", file).Load(log); return ok },
		"longer than log":    func() bool { _, _, ok := NewStore("x", "1", file).Load(log.Prefix(1)); return ok },
		"of another history": func() bool {
			_, _, ok := NewStore("x", "1", &memoryFile{file.data, "h"}).Load(log)
			return ok
		},
		"torn": func() bool {
			_, _, ok := NewStore("x", "1", &memoryFile{data: whole[:len(whole)-1]}).Load(log)
			return ok
		},
		"missing": func() bool { _, _, ok := NewStore("x", "1", &memoryFile{}).Load(log); return ok },
	} {
		if load() {
			t.Errorf("a state %s was loaded", name)
		}
	}
	var none *Store
	if _, _, ok := none.Load(log); ok || none.Save(log, 1, nil) != nil || none.At() != 0 {
		t.Error("a nil store")
	}
}

func TestCheck(t *testing.T) {
	log := packtest.LogOf(`{"role":"user","content":"a"}`)
	file := &memoryFile{}
	NewStore("x", "1 o200k", file).Save(log, 1, []byte("state"))
	valid := func(state []byte, at int) bool { return string(state) == "state" && at == 1 }
	never := func([]byte, int) bool { return false }
	if err := Check("x", "1", file.data, valid); err != nil {
		t.Error(err)
	}
	if Check("x", "1", file.data, never) == nil || Check("y", "1", file.data, valid) == nil || Check("x", "1", file.data[:len(file.data)-1], valid) == nil {
		t.Error("damage was accepted")
	}
	if err := Check("x", "2", file.data, never); err != nil {
		t.Errorf("another version: %v", err)
	}
}
