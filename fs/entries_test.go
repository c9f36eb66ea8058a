package fs

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// The table says of each name what package ctxabi says of it, which other programs go by.
func TestEntriesAreThoseOfTheABI(t *testing.T) {
	for i := range entries {
		e := &entries[i]
		below := strings.HasPrefix(e.path, ctxabi.SwapDir+"/") || strings.HasPrefix(e.path, ctxabi.DedupDir+"/")
		if made := e.kind == derivedName || e.kind == built || below; ctxabi.IsView(e.path) != made {
			t.Errorf("%q: ctxabi says that it is a view: %v, the table: %v", e.path, !made, made)
		}
		if e.mode == modeFile && e.node == nil && e.render == nil {
			t.Errorf("%q is a file that nothing makes", e.path)
		}
		if (e.kind == built) != (e.render != nil) {
			t.Errorf("%q: a file of a pack, and no other, has its rendering", e.path)
		}
		if e.kind == control && e.match == nil && !strings.Contains(e.path, "*") && !e.always && session.IsNote(e.path) {
			t.Errorf("%q is a note, and it is not always there", e.path)
		}
	}
	for _, name := range ctxabi.NoteFiles {
		if entryOf(name).kind != control {
			t.Errorf("%s is a note and no control file", name)
		}
	}
	for _, name := range ctxabi.RequestFiles {
		if entryOf(name).kind != built {
			t.Errorf("%s is a request and no file of a pack", name)
		}
	}
	var files []string
	for _, e := range alwaysIn(ctxabi.ChildPath("kid")) {
		files = append(files, e.name())
	}
	if !slices.Equal(files, ctxabi.ChildFiles) {
		t.Errorf("a child lists %v, want %v", files, ctxabi.ChildFiles)
	}
}

// Rows with a * stand for the names that they are for, and for no others.
func TestEntryOfAName(t *testing.T) {
	for rel, kind := range map[string]nameKind{
		"messages.jsonl":                      history,
		"state":                               control,
		"context/pack.md":                     built,
		"context/packs.jsonl":                 derivedName,
		"context/pinned":                      protected,
		"context/pinned/rules.md":             control,
		"context/pinned/.rules.md.swp":        ordinary,
		"context/pinned/rules.md~":            ordinary,
		"context/child/kid/result.md":         control,
		"context/child/kid/artifact":          protected,
		"context/child/kid/result.md~":        ordinary,
		"context/child/.kid/result.md":        ordinary,
		"context/child/kid/artifact/messages": ordinary,
		"context/child/kid":                   ordinary, // its directory knows it
		"messages.jsonl.1.zst":                protected,
		"context/messages.jsonl.1.zst":        ordinary,
		".ctxfs":                              protected,
		"context/.ctxfs":                      protected,
		"context/child/kid/.ctxfs":            protected,
		"pack.md":                             ordinary,
		"context/state":                       ordinary,
	} {
		if got := entryOf(rel).kind; got != kind {
			t.Errorf("%s is of kind %d, want %d", rel, got, kind)
		}
	}
	seen := map[string]bool{}
	for i := range entries {
		if e := &entries[i]; e.match == nil {
			if seen[e.path] {
				t.Errorf("%q has two rows", e.path)
			}
			seen[e.path] = true
			if parent := path.Dir(e.path); e.always && parent != "." && parent != path.Clean(childFile) && entryOf(parent).mode != modeDir {
				t.Errorf("%q is listed in %q, which is no directory of the table", e.path, parent)
			}
		}
	}
}
