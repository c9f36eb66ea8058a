package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/source"
)

// In all the ways to run a command, what is held is what runs, or nothing does.
func TestARunFindsWhatIsHeldOrDoesNotRun(t *testing.T) {
	for _, m := range modes(t) {
		t.Run(m.name, func(t *testing.T) {
			root := t.TempDir()
			for dir := root; dir != os.TempDir(); dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(root, "a/bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, "a/bin/x"), "echo the swapped one\n")
			write(t, filepath.Join(root, "a/bin/new"), "echo a new one\n")
			write(t, filepath.Join(root, "a/bin/beside"), "beside\n")
			o := m.run(t, source.Command{
				Args: []string{"sh", "-c", `bin/x; cat bin/beside; test -e bin/new || echo none; cat ../top`}, Env: []string{searchPath}, Dir: filepath.Join(root, "a"),
				Root: root, Held: []source.Held{
					{Path: "a/bin/x", Data: []byte("#!/bin/sh\necho the one that was looked at\n"), Exec: true},
					{Path: "a/bin/new", Kind: source.HeldNone}, {Path: "top", Data: []byte("on top\n")}},
			})
			want := "the one that was looked at\nbeside\nnone\non top\n"
			if m.plain {
				want = ""
			}
			if string(o.Data) != want || m.plain != strings.Contains(o.Failed, errNoMounts.Error()) {
				t.Errorf("%q, %+v", o.Data, o)
			}
		})
	}
}

// The tree is made with the user's rights: a link that is put in its way shows nothing that is closed to the user.
func TestWhatIsHeldOpensNothingThatIsClosedToTheUser(t *testing.T) {
	for _, m := range modes(t) {
		if m.plain || m.self {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			root := t.TempDir()
			for dir := root; dir != os.TempDir(); dir = filepath.Dir(dir) {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(root, "closed/open"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, "closed/open/secret"), "secret\n")
			if err := os.Chmod(filepath.Join(root, "closed"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("closed/open", filepath.Join(root, "way")); err != nil {
				t.Fatal(err)
			}
			o := m.run(t, source.Command{
				Args: []string{"sh", "-c", `cat way/secret closed/open/secret; cat x`}, Env: []string{searchPath}, Dir: root, Root: root,
				Held: []source.Held{{Path: "way/x", Kind: source.HeldNone}, {Path: "closed/open/x", Kind: source.HeldNone}, {Path: "x", Data: []byte("ran\n")}},
			})
			if string(o.Data) != "ran\n" {
				t.Errorf("%q, %+v", o.Data, o)
			}
		})
	}
}

func TestWhatIsHeldMustMakeSense(t *testing.T) {
	for name, c := range map[string]source.Command{
		"no path of a file": {Root: "/", Held: []source.Held{{Path: "../x"}}},
		"is no path":        {Root: "/", Held: []source.Held{{Path: "/x"}}},
		"are larger than":   {Root: "/", Held: []source.Held{{Path: "x", Data: make([]byte, maxHeld+1)}}},
		"are longer than":   {Root: "/", Held: []source.Held{{Path: strings.Repeat("x", maxHeldNames+1)}}},
		"not an absolute":   {Root: "home", Held: []source.Held{{Path: "x"}}},
	} {
		c.Args, c.Dir = []string{"true"}, "/"
		if why := unfit(c); !strings.Contains(why, name) {
			t.Errorf("%q, want %q", why, name)
		}
	}
	j := job{Held: []held{{Size: 2}, {Size: 3}}}
	if in, err := j.part([]byte("stdinaabbb")); err != nil || fmt.Sprintf("%s %s %s", in, j.Held[0].data, j.Held[1].data) != "stdin aa bbb" {
		t.Errorf("%q %+v %v", in, j, err)
	}
	if _, err := j.part([]byte("aabb")); err == nil {
		t.Error("a job that is cut short is taken")
	}
}
