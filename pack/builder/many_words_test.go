package builder

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/session/log"
)

// A history of more different words than are remembered was no pack but the end of the daemon, when it was
// compacted: key lines had numbers of words that were forgotten between two of its records.
func TestPacksOfMoreWordsThanAreRemembered(t *testing.T) {
	d := newDesk(t, Config{Budget: 32000})
	word := 0
	for range 60 {
		var all bytes.Buffer
		for range 10 {
			all.WriteString(`{"role":"assistant","content":"`)
			for range 1000 {
				fmt.Fprintf(&all, "id_%x ", word)
				word++
			}
			all.WriteString("\"}\n")
		}
		if _, err := d.x.Messages().Append(context.Background(), log.Batch{Data: all.Bytes()}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.b.Current(context.Background(), d.x); err != nil {
			t.Fatal(err)
		}
	}
	once, err := d.b.Current(context.Background(), d.x)
	if err != nil {
		t.Fatal(err)
	}
	d.builder(Config{Budget: 32000})
	again, err := d.b.Current(context.Background(), d.x)
	if err != nil || !bytes.Equal(once.Markdown, again.Markdown) {
		t.Errorf("another builder makes another pack: %v", err)
	}
	d.b.Close()
}
