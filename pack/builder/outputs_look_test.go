package builder

import (
	"fmt"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// Sources that name the same files cost one look at them, and no source is told of another one's.
func TestInputsThatSourcesShareAreLookedAtOnce(t *testing.T) {
	g := newFakeGenerators()
	o := newOutputs(g)
	defer o.Close()
	of := func(dir string, globs ...string) want {
		return want{dir: dir, cache: recipe.Cache{Strategy: recipe.CacheFileHash, InvalidateOn: globs}}
	}
	g.files["/a"], g.files["/b"] = inputs{fingerprint: "of a"}, inputs{fingerprint: "of b"}
	wants := []want{{dir: "/a"}, of("/a", "*.go"), of("/b", "*.go"), of("/a", "*.go"), of("/a", "*.go", "*.md"), of("/b", "*.go"), {dir: "/b"}}
	var got []string
	for _, l := range o.checkAll(t.Context(), 1, 1, wants, time.Minute) {
		got = append(got, l.fingerprint)
	}
	if want := []string{"", "of a", "of b", "of a", "of a", "of b", ""}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	if g.looks != 3 {
		t.Errorf("%d looks at three lists of files", g.looks)
	}
}
