package toolcall

import (
	"slices"
	"testing"
)

// The source of a copy was listed as a changed file.
func TestCopyLeavesItsSource(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []string // path and act
	}{
		{`d=$(mktemp -d); cp hours.txt $d/`, []string{"hours.txt " + Reads}},
		{`cp a.txt b.txt 2>/dev/null`, []string{"a.txt " + Reads, "b.txt " + Changes}},
		{`cp -r src/a.go src/b.go out/dir.d > log.txt`, []string{
			"src/a.go " + Reads, "src/b.go " + Reads, "out/dir.d " + Changes, "log.txt " + Writes}},
		{`mv a.txt b.txt`, []string{"a.txt " + Changes, "b.txt " + Changes}},
	} {
		var got []string
		for _, use := range scriptFiles(c.script) {
			got = append(got, use.Path+" "+use.Act)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.script, got, c.want)
		}
	}
}
