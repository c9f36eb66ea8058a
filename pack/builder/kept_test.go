package builder

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

// A question about the beginning of a long history has the same pack whether the index was made for it, is kept from before, was
// lost, or knows of later records by now.
func TestAQuestionIsAnsweredAlikeWhateverIsKept(t *testing.T) {
	c := Config{Budget: 4000}
	d := newDesk(t, c)
	defer func() { d.b.Close() }()
	d.append(packtest.Message("user", "Keep the log of the harbour."), packtest.Message("user", "The spare key of the boathouse hangs behind the almanac."))
	for i := 0; i < 8300; i += 100 {
		var records [][]byte
		for k := i; k < i+100; k++ {
			records = append(records, packtest.Message([]string{"user", "assistant"}[k%2], fmt.Sprintf("On day %d the tide stood at %d and ship %d came in.", k, k*37%911, k%53)))
		}
		d.append(records...)
	}
	d.append(packtest.Message("user", "Where hangs the spare key of the boathouse?"))
	n := 8303
	then := d.pack()
	if !strings.Contains(string(then.Markdown[then.Prefix:]), "behind the almanac") {
		t.Fatalf("%s", then.Markdown[then.Prefix:])
	}
	const block = "notes/terms.0"
	if !slices.Contains(d.x.DerivedNames("notes"), block) {
		t.Fatalf("kept: %q", d.x.DerivedNames("notes"))
	}
	same := func(what string, b *pack.Build) {
		t.Helper()
		if b.ID != then.ID || !bytes.Equal(b.Markdown, then.Markdown) {
			t.Errorf("%s: another pack\n%s", what, b.Markdown[b.Prefix:])
		}
	}
	d.restart(c)
	same("kept from before", d.pack())
	if err := d.x.SetDerived(block, []byte("of something else")); err != nil {
		t.Fatal(err)
	}
	d.restart(c)
	same("damaged", d.pack())
	d.append(packtest.Message("assistant", "Behind the almanac."), packtest.Message("user", "And which ship came in on day 77?"))
	if err := d.x.RemoveDerived(block); err != nil {
		t.Fatal(err)
	}
	d.pack() // finds it gone, and makes it again
	if !slices.Contains(d.x.DerivedNames("notes"), block) {
		t.Errorf("kept: %q", d.x.DerivedNames("notes"))
	}
	b, err := d.b.At(context.Background(), d.x, n)
	if err != nil {
		t.Fatal(err)
	}
	same("at its moment", b)
}

// indexed waits until the first n records are indexed in the background.
func (d *desk) indexed(n int) {
	d.t.Helper()
	eventually(d.t, fmt.Sprint(n, " indexed records"), func() bool {
		return d.b.entry(d.x.ID()).termsOf(d.x).Len() == n
	})
}

// A request indexes only the records since the last build, whatever caused it, and after a start those
// that are in no stored block.
func TestARequestIndexesOneRecord(t *testing.T) {
	const n = 16500 // two blocks of 8192, three of 32, and 20 more
	c := Config{Budget: 4000}
	d := newDesk(t, c)
	defer func() { d.b.Close() }()
	var records [][]byte
	for k := range n {
		records = append(records, packtest.Message([]string{"user", "assistant"}[k%2], fmt.Sprintf("On day %d the tide stood at %d and ship %d came in.", k, 20_000+k*37%911, k%53)))
	}
	for some := range slices.Chunk(records, 500) {
		d.append(some...)
	}
	ask := func(what string, most uint64) *pack.Build {
		t.Helper()
		before := d.b.Awaited()
		d.append(packtest.Message("user", "Which ship came in on day 77?"))
		b := d.pack()
		if got := d.b.Awaited() - before; got == 0 || got > most {
			t.Errorf("%s: a request indexed %d records, not %d", what, got, most)
		}
		if !strings.Contains(string(b.Markdown[b.Prefix:]), "ship 24 came in") {
			t.Errorf("%s: %s", what, b.Markdown[b.Prefix:])
		}
		return b
	}

	d.pack()
	d.indexed(n)
	ask("after a build of an import", 1)
	d.append(packtest.Message("assistant", "Ship 24."))
	d.pack()
	d.indexed(n + 2)
	then := ask("after a plain turn", 1)

	d.restart(c)
	same(t, then, d.pack())
	ask("after a start", 32)
	if got := d.b.Awaited(); got > 32 {
		t.Errorf("%d records were indexed after a start", got)
	}

	for _, name := range d.x.DerivedNames("notes") {
		if strings.HasPrefix(name, termsBlocks) {
			d.x.RemoveDerived(name)
		}
	}
	d.restart(c)
	ask("without stored blocks", n+5)
}
