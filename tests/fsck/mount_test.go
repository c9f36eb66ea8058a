package fscktest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// chosen are damages at chosen places, what fsck says of them and what is left after a repair.
var chosen = []struct {
	name   string
	damage func(t *testing.T, x string) // x is the session in the store
	found  []string                     // patterns of "severity path: what", with the session's directory cut off
	left   []string                     // after --repair
	gone   bool                         // the session is not served until it is repaired
}{
	{"a bit of a record", flip(`messages.jsonl`, "Turn 3."), []string{`lost messages.jsonl: messages:8 is not what arrived \(bytes \d+-\d+, arrival row 8\)`},
		[]string{`lost messages.jsonl: messages:8 is not what arrived`}, false},
	{"zeros over several commits", func(t *testing.T, x string) {
		edit(t, x, "messages.jsonl", func(b []byte) []byte {
			lines := bytes.SplitAfter(b, []byte("\n"))
			clear(b[len(bytes.Join(lines[:10], nil))+5 : len(bytes.Join(lines[:13], nil))-5])
			return b
		})
	}, []string{`lost messages.jsonl: messages:11 is not what arrived \(bytes \d+-\d+, arrival rows 11-13\)`, `lost messages.jsonl: messages:11 is not a valid record`},
		[]string{`arrival rows 11-13`, `messages:11 is not a valid record`}, false},
	{"a log cut in a record", cut("messages.jsonl", 30000), []string{`lost messages.jsonl: bytes \d+-\d+, which belong to the last \d+ of the arrival rows, are not what arrived`}, nil, false},
	{"a log that is gone", remove("events.jsonl"), []string{`lost events.jsonl: the log is missing: \d+ commits of \d+ bytes are lost`}, nil, false},
	{"garbage behind a log", behind("messages.jsonl", "garbage"), []string{`odd messages.jsonl: the 7 bytes after the last record, from byte \d+ on, are not a record`}, nil, false},
	{"a record behind a log", behind("messages.jsonl", harness.Message("user", "by hand")), []string{`rebuildable .ctxfs/arrivals: the last 1 records, after byte \d+, have no row`}, nil, false},
	{"who wrote a record", func(t *testing.T, x string) {
		edit(t, x, ".ctxfs/arrivals", func(b []byte) []byte { b[60] ^= 1; return b })
	}, []string{`lost messages.jsonl: arrival row 1 is damaged: who wrote messages:1 \(bytes 0-\d+\), and when, is lost; the chain proves that these bytes are what arrived`},
		[]string{`arrival row 1 is damaged`}, false},
	{"arrival rows that are gone", remove(".ctxfs/arrivals"), []string{`lost .ctxfs/arrivals: the arrival rows are missing: who wrote the records, and when, is lost`}, nil, false},
	{"a digit of the id", func(t *testing.T, x string) {
		edit(t, x, ".ctxfs/id", func(b []byte) []byte {
			b[9] = "0123456789abcdef0"[strings.IndexByte("0123456789abcdef", b[9])+1]
			return b
		})
	}, []string{`rebuildable .ctxfs/id: it does not have the id that the chains begin with`}, nil, false},
	{"an id that is gone", remove(".ctxfs/id"), []string{`lost .ctxfs/id: the session's id is missing`}, []string{`breaks the chain`}, true},
	{"caches", func(t *testing.T, x string) {
		for _, name := range []string{".ctxfs/index", ".ctxfs/index.events", ".ctxfs/tokens", ".ctxfs/swap/rows", ".ctxfs/swap/notes", ".ctxfs/dedup/batches", ".ctxfs/epoch.json", ".ctxfs/recipe.json"} {
			edit(t, x, name, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}
	}, []string{`rebuildable .ctxfs/index: row \d+ does not match its checksum`, `rebuildable .ctxfs/index.events: `, `rebuildable .ctxfs/tokens: it has counts that do not match`,
		`rebuildable .ctxfs/swap/rows: 1 of its lines are damaged`, `rebuildable .ctxfs/swap/notes: `, `rebuildable .ctxfs/dedup/batches: `, `rebuildable .ctxfs/epoch.json: it does not match its checksum`,
		`rebuildable .ctxfs/recipe.json: `}, nil, false},
	{"packs that were read", func(t *testing.T, x string) {
		edit(t, x, ".ctxfs/served/rows", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"compactions":0`), []byte(`"compactions":1`), 1)
		})
	}, []string{`lost .ctxfs/served/rows: 1 of its rows are damaged`}, nil, false},
	{"a segment of packs", func(t *testing.T, x string) {
		edit(t, x, ".ctxfs/served/1", func(b []byte) []byte { b[len(b)-10] ^= 4; return b })
	}, []string{`lost .ctxfs/served/1: 1 packs in it are damaged: sha256-`}, []string{`packs are missing that rows name`}, false},
	{"a blob", func(t *testing.T, x string) {
		names, _ := os.ReadDir(filepath.Join(x, ".ctxfs/blobs"))
		edit(t, x, ".ctxfs/blobs/"+names[0].Name(), func(b []byte) []byte { return append(b, 'x') })
	}, []string{`lost .ctxfs/blobs/sha256-\w+: its 6 bytes have the hash sha256-`}, nil, false},
	{"the output of a generator under another name", func(t *testing.T, x string) {
		names, _ := os.ReadDir(filepath.Join(x, ".ctxfs/outputs"))
		must(t, os.Rename(filepath.Join(x, ".ctxfs/outputs", names[0].Name()), filepath.Join(x, ".ctxfs/outputs/00")))
	}, []string{`rebuildable .ctxfs/outputs/00: it is the output of .* which is stored under another name`}, nil, false},
	{"settings and notes", func(t *testing.T, x string) {
		for _, name := range []string{"state", "context/budget", "context/facts.jsonl", "context/pinned/rules.md", "meta.json"} {
			edit(t, x, name, func([]byte) []byte { return []byte("\x00\xff") })
		}
	}, []string{`rebuildable state: it breaks the rules of this file, and is ignored: .* is not a state`, `rebuildable context/budget: `, `rebuildable context/facts.jsonl: `, `rebuildable context/pinned/rules.md: `,
		`rebuildable meta.json: `}, nil, false},
	{"files of a wrong type", func(t *testing.T, x string) {
		must(t, os.Remove(filepath.Join(x, "cwd")))
		must(t, unix.Mkfifo(filepath.Join(x, "cwd"), 0o600))
		must(t, os.Remove(filepath.Join(x, ".ctxfs/tokens")))
		must(t, os.Symlink("/etc/passwd", filepath.Join(x, ".ctxfs/tokens")))
		must(t, os.Symlink("/etc", filepath.Join(x, "context/link")))
		must(t, os.WriteFile(filepath.Join(x, ".ctxfs/stray"), []byte("stray"), 0o600))
	}, []string{`rebuildable cwd: it is a FIFO`, `rebuildable .ctxfs/tokens: it is a symbolic link`, `odd context/link: it is a symbolic link; a session's directories contain regular files`, `odd .ctxfs/stray: a file with this name does not belong there`}, nil, false},
	{"a FIFO for a log", func(t *testing.T, x string) {
		must(t, os.Remove(filepath.Join(x, "messages.jsonl")))
		must(t, unix.Mkfifo(filepath.Join(x, "messages.jsonl"), 0o600))
	}, []string{`lost messages.jsonl: it is a FIFO where ctxfs has a file of its own`}, nil, true},
	{"modes, and another name of a log", func(t *testing.T, x string) {
		must(t, os.Chmod(x, 0o755))
		must(t, os.Chmod(filepath.Join(x, "messages.jsonl"), 0o644))
		must(t, os.Link(filepath.Join(x, "events.jsonl"), filepath.Join(filepath.Dir(filepath.Dir(x)), "knowledge/events")))
	}, []string{`odd : its mode is 0755, and must be 0700`, `odd messages.jsonl: its mode is 0644, and must be 0600`, `odd events.jsonl: it has 2 names`}, nil, false},
	{"a directory that is gone", func(t *testing.T, x string) { must(t, os.RemoveAll(filepath.Join(x, "context/pinned"))) }, []string{`rebuildable context/pinned: the directory is missing`}, nil, false},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, x, name string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(x, name))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(x, name), change(b), 0o600))
}

// flip changes a bit behind a text.
func flip(name, text string) func(*testing.T, string) {
	return func(t *testing.T, x string) {
		edit(t, x, name, func(b []byte) []byte { b[bytes.Index(b, []byte(text))+len(text)] ^= 1; return b })
	}
}

func cut(name string, size int64) func(*testing.T, string) {
	return func(t *testing.T, x string) { must(t, os.Truncate(filepath.Join(x, name), size)) }
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, x string) { must(t, os.Remove(filepath.Join(x, name))) }
}

func behind(name, data string) func(*testing.T, string) {
	return func(t *testing.T, x string) { edit(t, x, name, func(b []byte) []byte { return append(b, data...) }) }
}

// The verb finds each damage, a mount serves the rest, and a repair leaves what is lost.
func TestChosenDamage(t *testing.T) {
	for _, c := range chosen {
		t.Run(c.name, func(t *testing.T) {
			dir := newStore(t)
			x := filepath.Join(dir, ref(rich).Path())
			c.damage(t, x)
			m := harness.Start(t, harness.Options{Store: dir, NoStart: true})
			holds(t, "fsck", verb(t, m, 1), c.found)

			m.Restart()
			o := m.Session(t, owner(), "coder", other)
			if got := o.Read("messages.jsonl"); got != string(made.files[in(other, "messages.jsonl")]) {
				t.Errorf("the other session is served with other records: %q", got)
			}
			if !strings.Contains(o.Read("context/pack.md"), "another session, 4") {
				t.Error("the other session's pack is not what it was")
			}
			if !c.gone {
				r := m.Session(t, owner(), "coder", rich)
				r.Bash(`set -e; before=$(stat -c %s messages.jsonl); echo '{"role":"user","content":"after the damage"}' >> messages.jsonl
					tail -n 1 messages.jsonl | grep -q 'after the damage'; test $(stat -c %s messages.jsonl) = $((before + 45))
					echo '{"type":"note"}' >> events.jsonl; cat messages.jsonl events.jsonl context/packs.jsonl > /dev/null
					cat context/swap/index.jsonl context/dedup/index.jsonl > /dev/null`).OK()
				if pack := r.Read("context/pack.md"); !strings.Contains(pack, "after the damage") {
					t.Errorf("the pack has not the record that came last:\n%s", pack)
				}
			}
			m.Stop()

			want := 0
			if len(c.left) > 0 {
				want = 1
			}
			copyStoreAnew(t, dir)
			c.damage(t, x)
			verb(t, m, want, "--repair")
			holds(t, "fsck after --repair", verb(t, m, want), c.left)
		})
	}
}

// copyStoreAnew puts the rich store in the place of one that was used.
func copyStoreAnew(t *testing.T, dir string) {
	must(t, os.RemoveAll(dir))
	copyStore(t, dir)
}

// verb runs ctxfs fsck and gives what it found, the session's directory cut off.
func verb(t *testing.T, m *harness.Mount, code int, flags ...string) (found []string) {
	t.Helper()
	r := m.CLI(t, append([]string{"fsck", "--store", m.Store, "--json"}, flags...)...)
	var said struct{ Found []check.Damage }
	if err := json.Unmarshal([]byte(r.Stdout), &said); err != nil || r.Code != code {
		t.Fatalf("fsck %q ended with %d, want %d: %v\n%s%s", flags, r.Code, code, err, r.Stdout, r.Stderr)
	}
	for _, d := range said.Found {
		found = append(found, string(d.Severity)+" "+strings.TrimPrefix(strings.TrimPrefix(d.Path, ref(rich).Path()), "/")+": "+d.What)
	}
	return found
}

// holds wants each pattern to be found.
func holds(t *testing.T, who string, found, patterns []string) {
	t.Helper()
	for _, p := range patterns {
		re := regexp.MustCompile(p)
		if !slices.ContainsFunc(found, re.MatchString) {
			t.Errorf("%s did not say %s, but\n  %s", who, p, strings.Join(found, "\n  "))
		}
	}
	if len(patterns) == 0 && len(found) > 0 {
		t.Errorf("%s found\n  %s", who, strings.Join(found, "\n  "))
	}
}

// A repair needs the store for itself, and says who has it.
func TestARepairBesideADaemonIsRefused(t *testing.T) {
	dir := newStore(t)
	m := harness.Start(t, harness.Options{Store: dir})
	holds(t, "fsck beside a daemon", verb(t, m, 0), nil)
	r := m.CLI(t, "fsck", "--store", dir, "--repair")
	if r.Code != 3 || !strings.Contains(r.Stderr, "is served at "+m.Dir+" by pid") {
		t.Errorf("%+v", r)
	}
}

// An ordinary user checks and repairs his own store, and learns nothing of root's.
func TestFsckOfAnOrdinaryUser(t *testing.T) {
	harness.NeedRoot(t)
	dir := newStore(t)
	m := harness.Start(t, harness.Options{Store: dir, NoStart: true})
	must(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755))
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	const bob = harness.Bob
	as := func(store string, flags ...string) harness.Result {
		return m.Run(t, harness.Client{UID: bob, Dir: "/", Argv: append([]string{harness.Binary(t), "fsck", "--store", store}, flags...)})
	}
	for _, flags := range [][]string{nil, {"--repair"}, {"--json"}, {ref(rich).Path()}} {
		r := as(dir, flags...)
		if r.Code != 1 || !strings.Contains(r.Stderr, "permission denied") || strings.Contains(r.Stdout+r.Stderr, rich+"/") {
			t.Errorf("bob at root's store with %q: %+v", flags, r)
		}
	}
	same(t, dir, nil)

	own, err := os.MkdirTemp("", "ctxfs-test-own-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(own) })
	must(t, os.Chown(own, bob, bob))
	must(t, os.Chmod(own, 0o700))
	store := filepath.Join(own, "store")
	m.Run(t, harness.Client{UID: bob, Dir: "/", Argv: []string{harness.Binary(t), "session", "new", "--store", store, "coder/s1"}}).OK()
	if r := as(store); r.Code != 0 || !strings.Contains(r.Stdout, "no problems") {
		t.Errorf("bob at his own store: %+v", r)
	}
	x := filepath.Join(store, "home/21002/agent/coder/session/s1")
	must(t, os.WriteFile(filepath.Join(x, "context/budget"), []byte("much"), 0o600))
	must(t, os.Chmod(filepath.Join(x, "messages.jsonl"), 0o666))
	if r := as(store, "--repair"); r.Code != 0 || !strings.Contains(r.Stdout, "2 found, none of them remain") {
		t.Errorf("bob repairs his own store: %+v", r)
	}
	if r := as(store); r.Code != 0 {
		t.Errorf("bob at his store again: %+v", r)
	}
	fi, err := os.Stat(filepath.Join(x, ".ctxfs/quarantine"))
	must(t, err)
	if st := fi.Sys().(*syscall.Stat_t); st.Uid != bob || fi.Mode().Perm() != 0o700 {
		t.Errorf("the quarantine is %d's, mode %v", st.Uid, fi.Mode())
	}
}

// A session without a readable id is EIO, or not there, in the whole mount: the log must name it, once.
func TestDamagedIDIsLogged(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for name, damage := range map[string]func(t *testing.T, x string){
		"garbage": func(t *testing.T, x string) {
			edit(t, x, ".ctxfs/id", func([]byte) []byte { return []byte("garbage") })
		},
		"gone": remove(".ctxfs/id"),
		"a fifo": func(t *testing.T, x string) {
			remove(".ctxfs/id")(t, x)
			if err := unix.Mkfifo(filepath.Join(x, ".ctxfs/id"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := m.Session(t, harness.Self(), "coder", strings.ReplaceAll(name, " ", "-"))
			s.Append("messages.jsonl", harness.Message("user", "hi"))
			m.Stop()
			damage(t, s.InStore())
			m.Restart()
			for range 3 {
				if _, err := os.ReadFile(s.Path("messages.jsonl")); err == nil {
					t.Error("it is read")
				}
			}
			m.Stop() // then all that it logged is there
			defer m.Restart()
			said := 0
			for line := range strings.Lines(m.Log.String()) {
				if strings.Contains(line, "the session cannot be opened") && strings.Contains(line, s.Ref()) {
					said++
					if !strings.Contains(line, ".ctxfs/id") || !strings.Contains(line, "fsck --repair") {
						t.Errorf("it does not name the file and the remedy: %s", line)
					}
				}
			}
			if said != 1 {
				t.Errorf("%d lines of the log name it, want 1:\n%s", said, m.Log)
			}
		})
	}
}
