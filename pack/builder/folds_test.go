package builder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// A builder goes on from the folds that another one left, and folds anew where they are gone, damaged or of another history.
func TestFoldsAreKept(t *testing.T) {
	records := packtest.CodingLog(700).Records()
	d := newDesk(t, Config{Budget: 8000})
	d.append(records[:1200]...)
	for _, r := range records[1200:1300] {
		d.append(r)
		d.pack()
	}
	data, err := d.x.Derived(foldsName)
	if err != nil {
		t.Fatalf("nothing is kept: %v", err)
	}
	if err := journal.CheckFolds(data, pack.RendererVersion); err != nil {
		t.Error(err)
	}
	if journal.CheckFolds(data[:len(data)-1], pack.RendererVersion) == nil || journal.CheckFolds([]byte("{}"), pack.RendererVersion) == nil {
		t.Error("something else is taken for folds")
	}
	data, err = d.x.Derived(statesName)
	if err != nil {
		t.Fatalf("files and runs are not kept: %v", err)
	}
	if err := journal.CheckStates(data, pack.RendererVersion); err != nil || journal.CheckStates(data[:len(data)-1], pack.RendererVersion) == nil {
		t.Errorf("states: %v", err)
	}
	last := d.pack()
	begin := func() *pack.Build {
		t.Helper()
		d.restart(Config{Budget: 8000})
		b := d.pack()
		same(t, last, b)
		return b
	}
	begin()
	for _, kept := range []string{foldsName, statesName} {
		file := filepath.Join(d.x.Dir(), ctxabi.InternalDir, kept)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, bad := range map[string][]byte{"damaged": append(slices.Clone(raw[:len(raw)-1]), raw[len(raw)-1]^1), "short": raw[:100], "empty": {}} {
			t.Run(kept+" "+name, func(t *testing.T) {
				if err := os.WriteFile(file, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				begin()
			})
		}
	}
	if err := os.RemoveAll(filepath.Join(d.x.Dir(), ctxabi.InternalDir, filepath.Dir(foldsName))); err != nil {
		t.Fatal(err)
	}
	begin()
	for _, r := range records[1300:1390] {
		d.append(r)
		last = d.pack()
	}
	for _, kept := range []string{foldsName, statesName} {
		if _, err := d.x.Derived(kept); err != nil {
			t.Errorf("nothing is kept again: %v", err)
		}
	}
	begin()
}

// Nothing that could hold what is redacted is kept.
func TestRedactedPacksKeepNothing(t *testing.T) {
	redactor, err := redact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, Config{Budget: 8000, Redact: redactor})
	d.append(packtest.CodingLog(700).Records()[:1300]...)
	d.pack()
	for _, kept := range []string{foldsName, statesName} {
		if _, err := d.x.Derived(kept); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", kept, err)
		}
	}
}
