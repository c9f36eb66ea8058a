package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// wantNotes finds which notes the recipe wants and the agent has not taken over.
func (y *layout) wantNotes() (w noteWants) {
	h := sha256.New()
	for k := range y.recipe.Sources {
		s := &y.recipe.Sources[k]
		if !slices.Contains(derivedNotes, s.Type) || slices.Contains(w.kinds, s.Type) || s.Path != "" && s.Path != builtinPaths[s.Type] ||
			s.Fallback > 0 || y.leftOut(s) || y.facts().verdict(s.Condition, true) != yes {
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
		w.kinds = append(w.kinds, s.Type)
		h.Write([]byte(s.Type + "\n"))
		if ids := noteIDs(own); len(ids) > 0 {
			if w.own == nil {
				w.own = map[recipe.Type]map[string]bool{}
			}
			w.own[s.Type] = ids
			h.Write(own)
		}
	}
	w.key = hex.EncodeToString(h.Sum(nil)[:8])
	return w
}
