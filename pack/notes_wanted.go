package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/journal"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// wantNotes finds which notes the recipe wants and the agent has not taken over.
func (y *layout) wantNotes() (w journal.NoteWants) {
	h := sha256.New()
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if !slices.Contains(journal.DerivedNotes, s.Type) || slices.Contains(w.Kinds, s.Type) || s.Path != "" && s.Path != blocks.BuiltinPaths[s.Type] ||
			s.Fallback > 0 || y.leftOut(s) || y.facts().Verdict(s.Condition, true) != blocks.Yes {
			continue
		}
		taken := false
		var own []byte
		for _, f := range y.files[k] {
			taken = taken || f.Life != ctxabi.OriginMixed
			own = append(own, f.Data...)
		}
		if taken {
			continue
		}
		w.Kinds = append(w.Kinds, s.Type)
		h.Write([]byte(s.Type + "\n"))
		if ids := journal.NoteIDs(own); len(ids) > 0 {
			if w.Own == nil {
				w.Own = map[recipe.Type]map[string]bool{}
			}
			w.Own[s.Type] = ids
			h.Write(own)
		}
	}
	w.Key = hex.EncodeToString(h.Sum(nil)[:8])
	return w
}
