package backup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
)

// full returns a world that has some of everything, with a backup of it.
func full(t *testing.T) (w *world, dir string) {
	w = newWorld(t)
	dir = quickDir(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	for i := range 4 {
		m := w.create([]string{"u1000", "u7"}[i%2])
		for range 5 {
			w.add(m)
		}
		w.write(m.s.Owner)
		if i == 2 {
			w.trim(m)
			w.add(m)
		}
	}
	w.must(w.replica("u7").Checkpoint(ctx))
	w.create("u7")
	if r, err := Take(ctx, dir, w.keep, "store"); err != nil || len(r.Problems) > 0 {
		t.Fatalf("take: %+v, %v", r, err)
	}
	return w, dir
}

// Whatever byte of a backup changes, and whatever file is lost, is found, and nothing of it is restored as if
// it were whole.
func TestABitOfABackupChanges(t *testing.T) {
	_, dir := full(t)
	sound(t, dir, 0)
	var files []string
	w := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != lockFile && d.Name() != headFile {
			files = append(files, name)
		}
		return err
	})
	if w != nil || len(files) < 15 {
		t.Fatal(files, w)
	}
	for _, name := range files {
		good, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1
		for _, content := range [][]byte{bad, good[:len(good)-1], nil} {
			if content == nil {
				err = os.Remove(name)
			} else {
				err = os.WriteFile(name, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := Verify(ctx, dir, 0)
			if err == nil && len(r.Problems) == 0 {
				t.Errorf("%s: nothing is found", name)
			}
			if _, err := Restore(ctx, dir, 0, fake.New().Maintenance()); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNoBackup) {
				t.Errorf("%s is restored: %v", name, err)
			}
		}
		if err := os.WriteFile(name, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, dir, 0)
}

// A restore that ends anywhere goes on when it is run again.
func TestARestoreThatWasCutShortGoesOn(t *testing.T) {
	w, dir := full(t)
	for n := 1; ; n++ {
		servers := fake.New()
		short, cancel := context.WithCancel(ctx)
		c := &busy{Host: servers.Maintenance()}
		left := n
		c.meanwhile = func() {
			if left--; left == 0 {
				cancel()
			}
		}
		var err error
		oneAtATime(func() { _, err = Restore(short, dir, 0, c) })
		cancel()
		if err == nil {
			break
		}
		if n > 1000 {
			t.Fatal("it never ends")
		}
		r, err := Restore(ctx, dir, 0, servers.Maintenance())
		if err != nil {
			t.Fatalf("cut short at %d: %v", n, err)
		}
		if r.Sessions != 5 {
			t.Errorf("%d sessions", r.Sessions)
		}
		for _, m := range w.sessions {
			if got := read(t, servers.Maintenance(), m.s); len(got) != len(m.all)-m.base {
				t.Errorf("%s: %d entries of %d", m.s, len(got), len(m.all)-m.base)
			}
		}
	}
}

// Two backups in one second have an order, and cost what is new.
func TestBackupsHaveNumbers(t *testing.T) {
	w, dir := full(t)
	m := w.pickAny()
	for n := 2; n < 60; n++ {
		w.add(m)
		r, err := Take(ctx, dir, w.keep, "store")
		if err != nil || r.Number != n || r.Entries != 1 || r.Objects != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	sound(t, dir, 0)
	sound(t, dir, 30)
	old := fake.New().Maintenance()
	if _, err := Restore(ctx, dir, 30, old); err != nil {
		t.Fatal(err)
	}
	if got := read(t, old, m.s); len(got) != len(m.all)-m.base-29 {
		t.Errorf("%d entries of %d", len(got), len(m.all)-m.base)
	}
	if _, err := Verify(ctx, dir, 99); !errors.Is(err, ErrNoBackup) {
		t.Error(err)
	}
}

func (w *world) pickAny() *made {
	for _, m := range w.sessions {
		return m
	}
	return nil
}

// A directory takes backups of one cluster, from one process at a time.
func TestADirectoryIsOfOneCluster(t *testing.T) {
	w, dir := full(t)
	if _, err := Take(ctx, dir, w.keep, "another"); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	d, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(ctx, dir, w.keep, "store"); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	d.close()
	if _, err := Take(ctx, dir, w.keep, "store"); err != nil {
		t.Error(err)
	}
	if _, err := Restore(ctx, t.TempDir(), 0, w.keep); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// What a cluster has lost stays in the backups, and is named.
func TestABackupKeepsWhatTheClusterHasLost(t *testing.T) {
	w, dir := full(t)
	m := w.pickAny()
	was := len(m.all) - m.base
	w.servers.Truncate(m.s.Shard(), 2)
	r, err := Take(ctx, dir, w.keep, "store")
	if err != nil || len(r.Problems) == 0 || !strings.Contains(strings.Join(r.Problems, "\n"), ErrLess.Error()) {
		t.Fatalf("%+v, %v", r, err)
	}
	to := fake.New().Maintenance()
	if _, err := Restore(ctx, dir, 0, to); err != nil {
		t.Fatal(err)
	}
	if got := read(t, to, m.s); len(got) != was {
		t.Errorf("%d entries of %d", len(got), was)
	}
	if v, err := Verify(ctx, dir, 0); err != nil || len(v.Problems) == 0 {
		t.Errorf("%+v, %v", v, err)
	}
}
