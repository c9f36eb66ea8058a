package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Objects that the servers have lost come back from a backup; what they have stays, and so does what came since. A file of
// the backup that is damaged is named, and does not come into the cluster.
func TestLostObjectsComeBackFromABackup(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	for range 3 {
		m := w.create("u1000")
		w.add(m)
		w.trim(m)
	}
	w.write("u1000")
	w.create("u7")
	w.write("u7")
	if _, err := Take(ctx, dir, w.keep, "store"); err != nil {
		t.Fatal(err)
	}
	had := map[engine.Key]string{}
	look := func(all bool) (count int) {
		t.Helper()
		for _, owner := range []string{"u1000", "u7"} {
			list, err := w.keep.Objects().List(ctx, owner, "")
			w.must(err)
			for _, name := range list {
				key := engine.Key{Owner: owner, Name: name}
				data, err := w.keep.Objects().Get(ctx, key, 0, -1)
				w.must(err)
				if was, ok := had[key]; all && !ok {
					had[key] = string(data)
				} else if was != string(data) {
					t.Errorf("%v is another one", key)
				}
				count++
			}
		}
		return count
	}
	count := look(true)
	if count < 5 {
		t.Fatalf("%d objects", count)
	}
	later := engine.Key{Owner: "u7", Name: "b/" + strings.Repeat("ab", 32)}
	w.must(w.keep.Objects().Put(ctx, later, []byte("later")))
	had[later] = "later"
	lost, damaged := 0, ""
	for key := range had {
		if key != later && (lost < 3 || key.Owner == "u7") {
			w.must(w.keep.Objects().Delete(ctx, key))
			lost++
			damaged = key.Name
		}
	}
	r, err := Mend(ctx, dir, 0, w.keep)
	if err != nil || len(r.Problems) > 0 || r.Objects != count {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := look(false); got != count+1 {
		t.Errorf("%d objects, of %d", got, count+1)
	}
	found := 0
	w.must(filepath.WalkDir(filepath.Join(dir, objectsDir), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, filepath.FromSlash(damaged)) {
			found++
			return os.WriteFile(name, []byte("other"), 0o600)
		}
		return err
	}))
	if found == 0 {
		t.Fatalf("the backup has no %s", damaged)
	}
	if r, err = Mend(ctx, dir, 0, w.keep); err != nil || len(r.Problems) != found || !strings.Contains(r.Problems[0], damaged) || r.Objects != count-found {
		t.Errorf("a damaged backup: %+v, %v", r, err)
	}
	look(false)
	if _, err := Mend(ctx, t.TempDir(), 0, w.keep); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no backup: %v", err)
	}
}
