package searchtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A session that is removed while all are searched again and again is found no more from then on, it
// leaves the files of the index, and the mount shows none of these files.
func TestARemovedSessionIsFoundNoMore(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	uid := harness.Self()
	var all []*harness.Session
	for i := range 3 {
		s := m.Session(t, uid, "coder", fmt.Sprint("gone", i))
		s.Append(ctxabi.MessagesFile, harness.Message("user", fmt.Sprintf("the axolotl and the unique%dx", i)))
		all = append(all, s)
	}
	home := filepath.Join(m.Dir, "home", fmt.Sprint(uid))
	look := func(query string) string {
		data, err := os.ReadFile(filepath.Join(home, "search", query))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := hits(look("axolotl")); len(got) != 3 {
		t.Fatalf("%q", got)
	}
	m.Restart() // so that all are in files
	if got := hits(look("unique1x axolotl")); len(got) != 3 {
		t.Fatalf("%q", got)
	}
	m.CLI(t, "session", "rm", "--force", all[1].Dir).OK()
	if got := look("unique1x"); !strings.Contains(got, "no record has one of these words") || !strings.Contains(got, "2 sessions") {
		t.Errorf("%s", got)
	}
	if got := hits(look("axolotl unique1x")); len(got) != 2 {
		t.Errorf("%q", got)
	}
	index := filepath.Join(m.Store, "home", fmt.Sprint(uid), ctxabi.InternalDir, "search")
	harness.Eventually(t, "the session to leave the files", func() bool {
		manifest, err := os.ReadFile(filepath.Join(index, "manifest")) // written after the segments
		return err == nil && bytes.Contains(manifest, []byte("gone0")) && !bytes.Contains(manifest, []byte("gone1"))
	})
	for _, dir := range []string{home, filepath.Join(home, "agent"), all[0].AgentHome()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ctxabi.InternalDir) {
				t.Errorf("%s lists %s", dir, e.Name())
			}
		}
	}
	harness.WantAbsent(t, filepath.Join(home, ctxabi.InternalDir))
}
