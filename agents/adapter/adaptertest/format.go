package adaptertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"

	"github.com/ctxfs/ctxfs/agents/adapter"
)

// RunFormat holds a format to what it promises, over each sample in dir
// ("testdata/codex"), each a subtest: it is detected; its export is what was
// imported, without a loss; a second import adds nothing; and when it is
// imported as it grows, whole lines or torn ones, or again after an import that was
// interrupted behind any record, no source record is missing or twice and the
// export is the same. Samples whose names begin with "hostile-"
// need not be detected, may have losses and are not equal then, and their
// export may hang on how they grew.
//
// stages gives the shorter forms that a transcript had before; without it
// those of a .jsonl file are its first lines, and others have none.
func RunFormat(t *testing.T, format, dir string, stages ...func(data []byte) [][]byte) {
	t.Helper()
	f, ok := formats.Lookup(format)
	if !ok {
		t.Fatalf("there is no format %q", format)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	kind := 0
	for _, file := range files {
		if file.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		hostile := strings.HasPrefix(file.Name(), "hostile-")
		if !hostile {
			kind++
		}
		t.Run(file.Name(), func(t *testing.T) {
			runSample(t, f, file.Name(), data, hostile)
			before := [][]byte(nil)
			for _, of := range stages {
				before = append(before, of(data)...)
			}
			if len(stages) == 0 && strings.HasSuffix(file.Name(), ".jsonl") {
				before = lineStages(data)
			}
			runGrowing(t, f, file.Name(), data, before, hostile)
		})
	}
	if kind < 3 {
		t.Errorf("%s has %d samples that are not hostile; 3 are asked for", dir, kind)
	}
}

func runSample(t *testing.T, f *adapter.Format, name string, data []byte, hostile bool) {
	if got, ok := formats.Detect(name, data[:min(len(data), 64<<10)]); !hostile && got != f {
		t.Errorf("it is not detected: %v %v", got, ok)
	}
	var s Session
	_, lost := s.Import(t, f, name, data)
	if !hostile && len(lost) > 0 {
		t.Errorf("import has losses: %v", lost)
	}
	again, _ := s.Import(t, f, name, data)
	for _, r := range again {
		t.Errorf("a second import adds %.300s", r.Line)
	}
	if f.Export == nil {
		return
	}
	got, lostThen := s.Export(t, f)
	if !hostile && len(lostThen) > 0 {
		t.Errorf("export has losses: %v", lostThen)
	}
	if len(lost)+len(lostThen) == 0 || !hostile {
		if diff := CanonicalEqual(data, got); diff != "" {
			t.Errorf("the export is another transcript: %s", diff)
		}
	}
}

// runGrowing imports what the transcript was before, alone and then all of it,
// and once every stage on top of the one before.
func runGrowing(t *testing.T, f *adapter.Format, name string, data []byte, before [][]byte, hostile bool) {
	var once, each Session
	added, _ := once.Import(t, f, name, data)
	compare := func(s *Session, how string) {
		t.Helper()
		if a, b := once.ids(), s.ids(); !slices.Equal(a, b) {
			t.Errorf("%s: other source records than at once:\n%q\n%q", how, b, a)
			return
		}
		if f.Export == nil || hostile {
			return
		}
		a, _ := once.Export(t, f)
		b, _ := s.Export(t, f)
		if diff := CanonicalEqual(a, b); diff != "" {
			t.Errorf("%s: another export than at once: %s", how, diff)
		}
	}
	for n := range added {
		var s Session
		for _, r := range added[:n] {
			s.add(r)
		}
		s.Import(t, f, name, data)
		compare(&s, fmt.Sprintf("interrupted behind record %d", n))
		if t.Failed() {
			return
		}
	}
	for i, part := range before {
		var s Session
		s.Import(t, f, name, part)
		s.Import(t, f, name, data)
		compare(&s, "imported after a beginning of "+lines(part))
		each.Import(t, f, name, part)
		if t.Failed() {
			t.Fatalf("stage %d of %d", i+1, len(before))
		}
	}
	each.Import(t, f, name, data)
	compare(&each, "imported as it grew")
}

func lines(part []byte) string {
	if n := bytes.LastIndexByte(part, '\n'); n >= 0 {
		part = part[n+1:]
	}
	return "… " + string(part[:min(len(part), 60)])
}

// lineStages are the beginnings of a transcript in lines: each line whole, and before that its first half.
func lineStages(data []byte) (stages [][]byte) {
	end := 0
	for line := range bytes.Lines(data) {
		stages = append(stages, data[:end+len(line)/2], data[:end+len(line)])
		end += len(line)
	}
	return stages
}
