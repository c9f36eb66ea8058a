package swap

import (
	"fmt"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/blob"
)

// Texts that occur once have no row; repeated texts, images, and blobs of users have one each.
func TestRowsOfRepeats(t *testing.T) {
	d := &Dedup{}
	d.begin()
	add := func(line int, kind, text string) {
		ref := ctxabi.ContentRef{Source: ctxabi.MessagesFile, Start: line, End: line, Form: ctxabi.FormText}
		d.add(Content{Ref: withHash(ref, ctxabi.ContentID([]byte(text))), Size: int64(len(text)), Kind: kind})
	}
	add(1, ctxabi.BlobText, "twice")
	add(2, ctxabi.BlobText, "once")
	add(3, ctxabi.BlobImage, "picture")
	add(4, ctxabi.BlobText, "twice")
	add(5, ctxabi.BlobText, "stored")

	stored := ctxabi.ContentID([]byte("stored"))
	n := d.index([]blob.Blob{{ID: stored, Size: 6}})
	for text, want := range map[string]bool{"twice": true, "once": false, "picture": true, "stored": true} {
		if n.Has(ctxabi.ContentID([]byte(text))) != want {
			t.Errorf("%s: listed %v", text, !want)
		}
	}
	row := d.blobs[d.byID[ctxabi.ContentID([]byte("twice"))]]
	if got := fmt.Sprintf("%d %v %s", row.Count, row.Refs, row.Source); got != "2 [messages:1 messages:4] messages:1" {
		t.Errorf("row %s", got)
	}
	if node, _ := n.Find(stored); node.Ref != (ctxabi.ContentRef{}) {
		t.Errorf("a stored blob refers to %+v", node.Ref)
	}
}
