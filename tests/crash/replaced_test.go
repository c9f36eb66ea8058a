package crash

import (
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A restore, rsync or an editor puts a copy in the place of ctxfs.store, whose lock was all that kept a second daemon away: two
// served one store then, and each lost what the other wrote.
func TestTwoDaemonsNeverServeOneStoreWhoseFileWasReplacedByACopy(t *testing.T) {
	for refusal, replace := range map[string]func(t *testing.T, file string){
		"served by another ctxfs": func(t *testing.T, file string) {
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file+".copy", data, 0o600)
			}
			if err == nil {
				err = os.Rename(file+".copy", file)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"not a store": func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(refusal, func(t *testing.T) {
			first := harness.Start(t, harness.Options{})
			s := first.Session(t, harness.Self(), "coder", "s1")
			file := first.Store + "/ctxfs.store"
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			replace(t, file)
			second := harness.Start(t, harness.Options{Store: first.Store, NoStart: true})
			if err := second.TryStart(); err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("a second daemon: %v", err)
			}
			if r := first.CLI(t, "fsck", "--repair", "--store", first.Store); r.Code != 3 && !strings.Contains(r.Stderr, "serve") {
				t.Errorf("fsck --repair ends with %d: %s%s", r.Code, r.Stdout, r.Stderr)
			}
			if r := first.CLI(t, "doctor", "--store", first.Store); !strings.Contains(r.Stdout, "held by") {
				t.Errorf("doctor does not see the daemon:\n%s", r.Stdout)
			}
			s.Append("messages.jsonl", `{"role":"user","content":"hi"}`+"\n")
			if err := os.WriteFile(file, kept, 0o600); err != nil { // what replaced it may be the start of another store
				t.Fatal(err)
			}
			first.Stop()
			verify(t, first)
		})
	}
}
