package pack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/pack/record"
)

// keptInMemory keeps a part of a memo for a test.
type keptInMemory struct {
	data []byte
	kept int
}

func (s *keptInMemory) Load() []byte { return s.data }

func (s *keptInMemory) Keep(data []byte) error {
	s.data = data
	s.kept++
	return nil
}

// Head stands for the newest of those records, and for the first.
func (s *keptInMemory) Head(m record.Records, at int) (string, error) { return headOf(m, at), nil }

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

// A pack that goes on from what an earlier process kept is the one that folds all records, and reads few.
func TestFoldsOutliveTheProcess(t *testing.T) {
	pure(t)
	records := codingLog(1500).Records()
	store, states := &keptInMemory{}, &keptInMemory{}
	log := logOf()
	for _, r := range records[:2000] {
		log.Append(r)
	}
	started := func() *Memo {
		mm := NewMemo()
		mm.Store(store, states, RendererVersion)
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
	last := 2000 + suite.Pick(t, 120, 300) - 1
	for k := 2000; k <= last; k++ {
		b := step(k)
		if k%60 == 0 || k == last {
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
	if packs := last - 1999; store.kept > packs/5 {
		t.Errorf("kept %d times in %d packs", store.kept, packs)
	}

	whole, anew := store.data, mustCompile(t, inputOf(log, 8000))
	for name, data := range map[string][]byte{"nothing": nil, "torn": whole[:len(whole)/2], "longer": append(whole[:len(whole):len(whole)], 0),
		"of another renderer": append([]byte("ctxfs folds 1 renderer 1 o200k_base\n"), whole[40:]...)} {
		store.data = data
		in := inputOf(log, 8000)
		b, err := CompileWith(&in, started())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameBuild(t, anew, b)
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

// The first pack of a session of a few hundred records was compiled from all of them after each start and each eviction.
func TestFirstPackReadsAllRecords(t *testing.T) {
	pure(t)
	const n = 400
	all := workingLog(n).Records()
	log := logOf()
	folds, states := &keptInMemory{}, &keptInMemory{}
	running := NewMemo()
	running.Store(folds, states, RendererVersion)
	for _, r := range all {
		log.Append(r)
		in := inputOf(log, 8000)
		if _, err := CompileWith(&in, running); err != nil {
			t.Fatal(err)
		}
		if err := in.SaveFolds(running); err != nil {
			t.Fatal(err)
		}
	}
	reads := func(folds, states *keptInMemory) (*Build, int) {
		started := NewMemo()
		started.Store(folds, states, RendererVersion)
		fresh := log.Prefix(log.Len())
		in := inputOf(fresh, 8000)
		b, err := CompileWith(&in, started)
		if err != nil {
			t.Fatal(err)
		}
		return b, fresh.Reads
	}
	kept, few := reads(folds, states)
	anew, many := reads(&keptInMemory{}, &keptInMemory{})
	sameBuild(t, anew, kept)
	if few > many/2 {
		t.Errorf("the first pack after a start reads %d records, and %d where nothing is kept", few, many)
	}
}

// workingLog is a log in which an agent writes, changes, moves and reads files, and runs programs, some of which fail.
func workingLog(n int) *memLog {
	l := logOf(`{"role":"user","content":"Make the token refresh retry."}`)
	for i := 1; l.Len() < n; i++ {
		file := fmt.Sprintf("auth/refresh_%d.go", i%23)
		tool, arguments, said := "write", map[string]any{"path": file, "content": fmt.Sprintf("package auth\n\nvar limit%d = %d\n", i%9, i)}, "written"
		switch i % 5 {
		case 1:
			tool, arguments, said = "edit", map[string]any{"path": file, "old_string": fmt.Sprintf("limit%d", (i-4)%9), "new_string": fmt.Sprintf("most%d", i)}, "replaced"
		case 2:
			tool, arguments = "bash", map[string]any{"command": fmt.Sprintf("mv auth/refresh_%d.go auth/old_%d.go", i%7, i%3)}
			said = ""
		case 3:
			tool, arguments, said = "bash", map[string]any{"command": fmt.Sprintf("go test ./p%d", i%11)}, "ok  \tp\t0.1s"
			if i%3 == 0 {
				said = fmt.Sprintf("--- FAIL: TestRefresh%d (0.00s)\nFAIL\tp%d\t0.1s", i, i%11)
			}
		case 4:
			tool, arguments, said = "close_ticket", map[string]any{"ticket_id": fmt.Sprint("t", i%13)}, fmt.Sprintf(`{"ticket_id":"t%d","state":"closed","by":%d}`, i%13, i)
		}
		raw, _ := json.Marshal(arguments)
		l.Append(fmt.Appendf(nil, `{"role":"assistant","content":"","tool_calls":[{"id":"c%d","function":{"name":%q,"arguments":%q}}]}`, i, tool, raw))
		l.Append(fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%q}`, i, said))
	}
	return l
}

// What records say of files and runs is taken from what an earlier process kept of it, where that is of these records; no byte of a pack
// depends on it.
func TestFilesAndRunsOutliveTheProcess(t *testing.T) {
	pure(t)
	const n = 3200
	all := workingLog(n + 400).Records()
	log := logOf()
	for _, r := range all[:n] {
		log.Append(r)
	}
	folds, states := &keptInMemory{}, &keptInMemory{}
	first := func(states *keptInMemory) (b *Build, reads int) {
		mm := NewMemo()
		mm.Store(folds, states, RendererVersion)
		fresh := log.Prefix(log.Len())
		in := inputOf(fresh, 16_000)
		b, err := CompileWith(&in, mm)
		if err != nil {
			t.Fatal(err)
		}
		return b, fresh.Reads
	}
	mm := NewMemo()
	mm.Store(folds, states, RendererVersion)
	for _, r := range all[n:] {
		log.Append(r)
		in := inputOf(log, 16_000)
		if _, err := CompileWith(&in, mm); err != nil {
			t.Fatal(err)
		}
		if err := in.SaveFolds(mm); err != nil {
			t.Fatal(err)
		}
	}
	if states.kept == 0 || states.kept > 400/32+1 {
		t.Fatalf("kept %d times in 400 packs", states.kept)
	}
	anew := mustCompile(t, inputOf(log.Prefix(log.Len()), 16_000))
	if !bytes.Contains(anew.Markdown, []byte("files and runs")) {
		t.Fatal("the pack tells of no files and runs")
	}
	with, few := first(states)
	sameBuild(t, anew, with)
	without, many := first(&keptInMemory{})
	sameBuild(t, anew, without)
	if few > many-800 {
		t.Errorf("%d records are read with what is kept, %d without", few, many)
	}
	whole := states.data
	for name, data := range map[string][]byte{"torn": whole[:len(whole)/2], "longer": append(whole[:len(whole):len(whole)], 0),
		"of another renderer": append([]byte("ctxfs states 1 renderer 1\n"), whole[27:]...)} {
		b, reads := first(&keptInMemory{data: data})
		if sameBuild(t, anew, b); reads != many {
			t.Errorf("%s: %d records are read", name, reads)
		}
	}
	changed := logOf(`{"role":"user","content":"Another beginning."}`)
	for _, r := range log.Records()[1:] {
		changed.Append(r)
	}
	log = changed
	b, reads := first(states)
	if sameBuild(t, mustCompile(t, inputOf(log.Prefix(log.Len()), 16_000)), b); reads < many {
		t.Errorf("of another history %d records are read", reads)
	}
}
