package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// several returns a directory with four backups of a world that changes between them.
func several(t *testing.T) (w *world, dir string) {
	w, dir = full(t)
	for range 3 {
		for _, m := range w.sessions {
			w.add(m)
		}
		for _, m := range w.sessions {
			w.trim(m)
			break
		}
		w.write("u1000")
		w.must(w.replica("u7").Checkpoint(ctx))
		if r, err := Take(ctx, dir, w.keep, "store"); err != nil || len(r.Problems) > 0 {
			t.Fatalf("take: %+v, %v", r, err)
		}
	}
	return w, dir
}

// filesIn returns the regular files of a directory of backups that backups name.
func filesIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != lockFile {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOldBackupsGo(t *testing.T) {
	_, dir := several(t)
	before := len(filesIn(t, dir))
	old := filepath.Join(dir, entriesDir, "u1000", "of a backup that was cut short")
	if err := os.WriteFile(old, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Prune(ctx, dir, Keep{Last: 2}, time.Now())
	if err != nil || !slices.Equal(p.Numbers, []int{2, 1}) || p.Files == 0 {
		t.Fatalf("%+v %v", p, err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what nothing names is there: %v", err)
	}
	if left := len(filesIn(t, dir)); left != before+1-p.Files-2 {
		t.Errorf("%d files of %d are left, and %d went", left, before, p.Files)
	}
	for _, n := range []int{3, 4} {
		sound(t, dir, n)
		if _, err := Restore(ctx, dir, n, fake.New().Maintenance()); err != nil {
			t.Errorf("backup %d: %v", n, err)
		}
	}
	if _, err := Verify(ctx, dir, 2); !errors.Is(err, ErrNoBackup) {
		t.Errorf("a backup that went: %v", err)
	}
	if p, err := Prune(ctx, dir, Keep{Last: 2}, time.Now()); err != nil || len(p.Numbers) > 0 || p.Files > 0 {
		t.Errorf("again: %+v %v", p, err)
	}
}

func TestBackupsStayForATime(t *testing.T) {
	w, dir := several(t)
	if p, err := Prune(ctx, dir, Keep{For: time.Hour}, time.Now()); err != nil || len(p.Numbers) > 0 {
		t.Errorf("all are young: %+v %v", p, err)
	}
	if p, err := Prune(ctx, dir, Keep{Last: 3, For: time.Hour}, time.Now().Add(2*time.Hour)); err != nil || !slices.Equal(p.Numbers, []int{1}) {
		t.Errorf("three stay: %+v %v", p, err)
	}
	if p, err := Prune(ctx, dir, Keep{For: time.Hour}, time.Now().Add(2*time.Hour)); err != nil || !slices.Equal(p.Numbers, []int{3, 2}) {
		t.Errorf("the newest stays: %+v %v", p, err)
	}
	sound(t, dir, 4)
	if r, err := Take(ctx, dir, w.keep, "store"); err != nil || r.Number != 5 || len(r.Problems) > 0 {
		t.Errorf("the next backup: %+v %v", r, err)
	}
	sound(t, dir, 5)
}

// While a backup that stays is damaged, nothing goes, and the error names it.
func TestNothingGoesBesideADamagedBackup(t *testing.T) {
	_, dir := several(t)
	files := filesIn(t, dir)
	for _, name := range files {
		if strings.HasSuffix(name, headFile) || filepath.Base(filepath.Dir(name)) == manifestDir {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		r, bad := Verify(ctx, dir, 4)
		needed := bad == nil && len(r.Problems) > 0
		p, err := Prune(ctx, dir, Keep{Last: 1}, time.Now())
		if needed && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "backup 4") || p != nil || len(filesIn(t, dir)) != len(files)-1) {
			t.Fatalf("without %s: %+v %v", name, p, err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if !needed && bad == nil {
			break // old backups went
		}
	}
	sound(t, dir, 4)
}

// A prune that was cut short is done by the next one.
func TestAPruneThatWasCutShort(t *testing.T) {
	_, dir := several(t)
	short, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Prune(short, dir, Keep{Last: 1}, time.Now()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	sound(t, dir, 4)
	if p, err := Prune(ctx, dir, Keep{Last: 1}, time.Now()); err != nil || p.Files == 0 {
		t.Errorf("%+v %v", p, err)
	}
	sound(t, dir, 4)
	if _, err := Prune(ctx, t.TempDir(), Keep{Last: 1}, time.Now()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
}

// Verify did not look for the content of blobs, nor for what packs show.
func TestABlobThatABackupLacksIsFound(t *testing.T) {
	w, dir := full(t)
	content := sha256.Sum256([]byte("a blob"))
	row := append([]byte{1}, make([]byte, 16)...)          // the form, and what no other row has
	row = append(append(row, 0), content[:]...)            // stored
	row = append(row, byte(len("a blob")), 0, 0, 0)        // bytes, uid, time, and what it is behind
	dropped := append(append(row[:17:17], 2), row[18:]...) // of another blob
	dropped[18]++
	for _, m := range w.sessions {
		w.add(m, journal.Row{Kind: journal.Blob, Content: row}, journal.Row{Kind: journal.Blob, Content: dropped})
		break
	}
	if _, err := Take(ctx, dir, w.keep, "store"); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(ctx, dir, 0)
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "b/"+hex.EncodeToString(content[:])) {
		t.Errorf("%v %v", r.Problems, err)
	}
}
