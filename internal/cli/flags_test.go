package cli

import "testing"

func TestMapsTranslateTheLongestPrefix(t *testing.T) {
	f, err := ParseMaps([]string{"/work=/home/me/p", "/work/deps=/srv/deps/", "/=/root"})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"/work":           "/home/me/p",
		"/work/a":         "/home/me/p/a",
		"/work/deps/x":    "/srv/deps/x",
		"/work/depsolver": "/home/me/p/depsolver",
		"/workshop":       "/root/workshop",
	} {
		if got := f(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
	if f, err := ParseMaps(nil); f != nil || err != nil {
		t.Error("no maps give a translation")
	}
	for _, bad := range []string{"/work", "work=/x", "/work=x", ""} {
		if _, err := ParseMaps([]string{bad}); ExitCode(Failed(err)) != ExitUsage {
			t.Errorf("%q: got %v, want wrong usage", bad, err)
		}
	}
}
