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

// A long history is indexed once nobody asks for its pack any more, before a question comes, and what answers is the same.
func TestALongHistoryIsIndexedBeforeAQuestion(t *testing.T) {
	c := Config{Budget: 4000}
	d := newDesk(t, c)
	defer func() { d.b.Close() }()
	var records [][]byte
	for k := range 16500 {
		records = append(records, packtest.Message([]string{"user", "assistant"}[k%2], fmt.Sprintf("On day %d the tide stood at %d and ship %d came in.", k, 20_000+k*37%911, k%53)))
	}
	for some := range slices.Chunk(records, 500) {
		d.append(some...)
	}
	d.b.quiet = 0
	d.pack()
	blocks := func() (n int) {
		for _, name := range d.x.DerivedNames("notes") {
			if strings.HasPrefix(name, termsBlocks) {
				n++
			}
		}
		return n
	}
	eventually(t, "two blocks", func() bool { return blocks() == 2 })
	d.append(packtest.Message("user", "Which ship came in on day 77?"))
	then := d.pack()
	if !strings.Contains(string(then.Markdown[then.Prefix:]), "ship 24 came in") {
		t.Errorf("%s", then.Markdown[then.Prefix:])
	}
	for k := range 2 {
		if err := d.x.RemoveDerived(fmt.Sprint(termsBlocks, k)); err != nil {
			t.Fatal(err)
		}
	}
	d.restart(c)
	same(t, then, d.pack())
	if n := blocks(); n != 2 {
		t.Errorf("%d blocks are made for a question that comes first", n)
	}
}
