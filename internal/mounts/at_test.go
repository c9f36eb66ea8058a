package mounts

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPathIsFollowedUpToItsMount(t *testing.T) {
	dir := t.TempDir()
	all := []Info{{Point: "/ctx", Source: "/old"}, {Point: "/ctx", Source: "/new"}, {Point: "/ctx/home/1", Source: "/inner"}, {Point: filepath.Join(dir, "m"), Source: "/mine"}}
	if err := os.Symlink("/ctx/home", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("link/..", filepath.Join(dir, "links")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("round", filepath.Join(dir, "round")); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string][2]string{
		"/ctx":                         {"/new", ""},
		"/ctx/home":                    {"/new", "home"},
		"/ctx/home/1/agent":            {"/inner", "agent"},
		"/ctx/home/10":                 {"/new", "home/10"},
		"/ctxx":                        {},
		"/":                            {},
		dir + "/link":                  {"/new", "home"},
		dir + "/link/1":                {"/inner", ""},
		dir + "/links":                 {"/new", ""},
		dir + "/round":                 {},
		dir + "/m/x/../y":              {"/mine", "y"},
		dir + "/none/below":            {},
		filepath.Dir(dir) + "/./x/../": {},
	} {
		i, rest, ok := at(all, p)
		if ok != (want[0] != "") || i.Source != want[0] || rest != want[1] {
			t.Errorf("%s: %q, %q, %t; want %q", p, i.Source, rest, ok, want)
		}
	}
}
