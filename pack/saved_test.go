package pack

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/record"
)

// foldsInMemory keeps folds for a test.
type foldsInMemory struct {
	data []byte
	kept int
}

func (s *foldsInMemory) Load() []byte { return s.data }

func (s *foldsInMemory) Keep(data []byte) error {
	s.data = data
	s.kept++
	return nil
}

// Head stands for the newest of those records, and for the first.
func (s *foldsInMemory) Head(m record.Records, at int) (string, error) { return headOf(m, at), nil }

func headOf(m record.Records, at int) string {
	h := fnv.New64a()
	for k := 1; k <= at; k++ {
		if k == 100 {
			k = max(k, at-100)
		}
		fmt.Fprintf(h, "%+v", m.At(k))
	}
	return fmt.Sprint(h.Sum64())
}

// findsInMemory keeps what was found for a test.
type findsInMemory struct{ packtest.Findings }

func (*findsInMemory) Head(m record.Records, at int) (string, error) { return headOf(m, at), nil }

// A pack that goes on from what an earlier process kept is the one that folds all records, and reads few.
func TestFoldsOutliveTheProcess(t *testing.T) {
	pure(t)
	records := codingLog(1500).Records()
	store := &foldsInMemory{}
	log := logOf()
	for _, r := range records[:2000] {
		log.Append(r)
	}
	started := func() *Memo {
		mm := NewMemo()
		mm.Store(store, RendererVersion)
		return mm
	}
	mm := started()
	step := func(k int) *Build {
		log.Append(records[k])
		in := inputOf(log, 8000)
		b, err := CompileWith(&in, mm)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.SaveFolds(mm); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for k := 2000; k < 2300; k++ {
		b := step(k)
		if k%60 == 0 || k == 2299 {
			anew := mustCompile(t, inputOf(log, 8000))
			sameBuild(t, anew, b)
			fresh := log.Prefix(log.Len())
			mm = started()
			in := inputOf(fresh, 8000)
			b, err := CompileWith(&in, mm)
			if err != nil {
				t.Fatal(err)
			}
			sameBuild(t, anew, b)
		}
	}
	if store.kept == 0 {
		t.Fatal("nothing was kept")
	}
	if again := store.kept; again > 60 {
		t.Errorf("kept %d times in 300 packs", again)
	}

	whole := store.data
	for name, data := range map[string][]byte{"nothing": nil, "torn": whole[:len(whole)/2], "longer": append(whole[:len(whole):len(whole)], 0),
		"of another renderer": append([]byte("ctxfs folds 1 renderer 1 o200k_base\n"), whole[40:]...)} {
		store.data = data
		in := inputOf(log, 8000)
		b, err := CompileWith(&in, started())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameBuild(t, mustCompile(t, in), b)
	}

	// Another history of the same length.
	store.data = whole
	other := codingLog(1501).Records()
	changed := logOf(`{"role":"user","content":"Another beginning."}`)
	for _, r := range other[1:log.Len()] {
		changed.Append(r)
	}
	in := inputOf(changed, 8000)
	b, err := CompileWith(&in, started())
	if err != nil {
		t.Fatal(err)
	}
	sameBuild(t, mustCompile(t, in), b)
}

// Folds that are made before they are needed are those that are made when they are.
func TestFoldsAhead(t *testing.T) {
	pure(t)
	log := &cycle{codingLog(100), 40_000}
	mm := NewMemo()
	build := func() *Build {
		in := Input{Session: "s1", Agent: "coder", Budget: 8000, Messages: log, Head: fmt.Sprint(log.n)}
		b, err := CompileWith(&in, mm)
		if err != nil {
			t.Fatal(err)
		}
		if a := in.Ahead(mm); a != nil {
			if err := a.Make(context.Background()); err != nil {
				t.Fatal(err)
			}
			mm.Adopt(a)
			if in.Ahead(mm) != nil {
				t.Error("they are still to be made")
			}
		} else if log.n == 40_000 {
			t.Error("none is made ahead")
		}
		return b
	}
	for range 120 {
		b := build()
		if log.n%10 == 0 {
			in := Input{Session: "s1", Agent: "coder", Budget: 8000, Messages: log, Head: fmt.Sprint(log.n)}
			sameBuild(t, mustCompile(t, in), b)
		}
		log.n++
	}
	ended, end := context.WithCancel(context.Background())
	end()
	in := Input{Session: "s1", Agent: "coder", Budget: 8000, Messages: log, Head: "h"}
	mm = NewMemo()
	if _, err := CompileWith(&in, mm); err != nil {
		t.Fatal(err)
	}
	if err := in.Ahead(mm).Make(ended); err == nil {
		t.Error("they are made for nobody")
	}
}
