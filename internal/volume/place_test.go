package volume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseOptions(t *testing.T) {
	type opts = map[string]string
	for _, c := range []struct {
		opts  opts
		path  string // or
		wrong string
		owner uint32
	}{
		{opts: opts{"session": "coder/s1"}, path: "home/0/agent/coder/session/s1"},
		{opts: opts{"session": "coder/s1", "uid": "1000"}, path: "home/1000/agent/coder/session/s1", owner: 1000},
		{opts: opts{"session": "home/1000/agent/coder/session/s1"}, path: "home/1000/agent/coder/session/s1", owner: 1000},
		{opts: opts{"session": "home/1000/agent/coder/session/s1", "uid": "1000"}, path: "home/1000/agent/coder/session/s1", owner: 1000},
		{opts: opts{"session": "shared/team/agent/coder/session/s1", "uid": "1000"}, path: "shared/team/agent/coder/session/s1", owner: 1000},
		{opts: opts{"agent": "coder"}, path: "home/0/agent/coder"},
		{opts: opts{"agent": "coder", "uid": "5"}, path: "home/5/agent/coder", owner: 5},
		{opts: opts{"home": "1000"}, path: "home/1000", owner: 1000},

		{opts: nil, wrong: "a volume is one directory"},
		{opts: opts{"uid": "5"}, wrong: "a volume is one directory"},
		{opts: opts{"agent": "coder", "session": "coder/s1"}, wrong: "a volume is one directory"},
		{opts: opts{"session": ""}, wrong: "an option is empty"},
		{opts: opts{"sesion": "coder/s1"}, wrong: `unknown option "sesion"; use one of session=AGENT/SESSION, agent=AGENT or home=UID`},
		{opts: opts{"session": "coder/s1", "size": "1g"}, wrong: `unknown option "size"`},
		{opts: opts{"session": "home/1000/agent/coder/session/s1", "uid": "0"}, wrong: "the home is that of 1000"},
		{opts: opts{"home": "1000", "uid": "1"}, wrong: "the home is that of 1000"},
		{opts: opts{"home": "me"}, wrong: "by its user's number"},
		{opts: opts{"session": "coder/s1", "uid": "-1"}, wrong: "a uid is a number"},
		{opts: opts{"session": "coder/s1", "uid": "007"}, wrong: "a uid is a number"},
		{opts: opts{"session": "coder/.."}, wrong: "a name begins with"},
		{opts: opts{"session": "../s1"}, wrong: "a name begins with"},
		{opts: opts{"session": "s1"}, wrong: "not a session path"},
		{opts: opts{"session": "/home/1000/agent/coder/session/s1"}, wrong: "write home/1000/agent/coder/session/s1"},
		{opts: opts{"session": "home/../agent/coder/session/s1"}, wrong: "bad uid"},
		{opts: opts{"session": "home/1/agent/coder/session/s1/context"}, wrong: "its parts do not match"},
		{opts: opts{"agent": "coder/session"}, wrong: "a name begins with"},
		{opts: opts{"agent": ".."}, wrong: "a name begins with"},
	} {
		p, err := ParseOptions(c.opts)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(sentence(err), c.wrong) {
				t.Errorf("%v: %v, want it to say %q", c.opts, err, c.wrong)
			}
		case err != nil || p.Path() != c.path || p.Owner != c.owner:
			t.Errorf("%v: %s of %d, %v; want %s of %d", c.opts, p.Path(), p.Owner, err, c.path, c.owner)
		}
	}
}

// No path of the file leads out of the places that options can name.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"home/1", "home/1/agent/a", "home/1/agent/a/session/s", "shared/t/agent/a/session/s",
		"", "/", "home", "home/1/", "home/../..", "home/1/agent/..", "home/1/x", "/home/1", "home//1", "home/1/agent/a/session"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePath(s)
		if err != nil {
			return
		}
		if p.Path() != s || strings.Contains(s, "..") && strings.Contains("/"+s+"/", "/../") || filepath.Clean(s) != s || filepath.IsAbs(s) {
			t.Errorf("%q was taken for %q", s, p.Path())
		}
	})
}

// What is written is read again, whatever the volumes are called.
func TestFileKeepsVolumes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		file := filepath.Join(dir, "ctxfs.volumes")
		os.Remove(file)
		name := rapid.StringN(1, 20, 60).Filter(func(s string) bool { return !strings.ContainsAny(s, "/\n\x00") })
		part := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._+-]{0,10}`)
		v, err := Open(file, "/ctx", &fakeTree{dirs: map[string]uint32{}})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 5).Draw(t, "volumes") {
			v.Create(name.Draw(t, "name"), map[string]string{"session": part.Draw(t, "agent") + "/" + part.Draw(t, "session"), "uid": rapid.SampledFrom([]string{"0", "1", "4294967294"}).Draw(t, "uid")})
		}
		again, err := Open(file, "/ctx", v.tree)
		if err != nil {
			t.Fatal(err)
		}
		want, got := v.List(), again.List()
		if len(got) != len(want) {
			t.Fatalf("%v were kept of %v", got, want)
		}
		for i := range want {
			if got[i].Name != want[i].Name || got[i].Dir != want[i].Dir || !got[i].Created.Equal(want[i].Created) {
				t.Errorf("%v was kept as %v", want[i], got[i])
			}
		}
	})
}

func TestDamagedFileIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ctxfs.volumes")
	good := `{"name":"a","path":"home/1/agent/a/session/s","created":"2026-01-02T03:04:05Z"}` + "\n"
	for _, bad := range []string{`{"name":"b","path":"/etc"}`, `{"name":"b","path":"home/1/agent/../../.."}`, `{"name":"b"`, `{"path":"home/1"}`, strings.TrimSpace(good), "\x00\x00"} {
		if err := os.WriteFile(file, []byte(good+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(file); err == nil || !strings.Contains(err.Error(), "line 2 of "+file) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(file); err != nil {
		t.Error(err)
	}
}

// A disk that takes nothing leaves the volumes as they were, in memory as in the file.
func TestFileThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gone", "ctxfs.volumes")
	v, err := Open(file, "/ctx", &fakeTree{dirs: map[string]uint32{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Create("a", map[string]string{"home": "1"}); err == nil || !strings.Contains(err.Error(), "cannot be stored") {
		t.Errorf("create: %v", err)
	}
	if got := v.List(); len(got) != 0 {
		t.Errorf("a volume that was not kept is there: %v", got)
	}
	os.Mkdir(filepath.Dir(file), 0o700)
	if _, err := v.Create("a", map[string]string{"home": "1"}); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Dir(file))
	if err := v.Remove("a"); err == nil || len(v.List()) != 1 {
		t.Errorf("remove: %v, and %d volumes are left", err, len(v.List()))
	}
}
