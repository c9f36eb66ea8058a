package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// maxBrought is the most that a pack shows of one file that a child brought, in bytes.
const maxBrought = 200

// lookAtChildren reads the results of the session's children, where they changed since last. Of linked sessions it reads the last answer
// and the state, never their packs: that they may be linked back does not matter.
func (g *Gathered) lookAtChildren(x *session.Session, last *Gathered, v *mask) (err error) {
	if !g.Chosen.Recipe.Has(recipe.TypeChildren) {
		return nil
	}
	if g.children, err = x.Children(); err != nil {
		return err
	}
	if last != nil && len(last.in.Children) == len(g.children) && slices.Equal(g.children, last.children) {
		g.in.Children = last.in.Children
		return nil
	}
	changed := map[string]time.Time{} // by name
	for i := range g.children {
		c := &g.children[i]
		r, err := resultOf(x, c, v)
		if err != nil {
			return err
		}
		changed[r.Name] = c.Changed
		g.in.Children = append(g.in.Children, r)
	}
	slices.SortStableFunc(g.in.Children, func(a, b blocks.ChildResult) int {
		return cmp.Or(a.Rank()-b.Rank(), changed[b.Name].Compare(changed[a.Name]), strings.Compare(a.Name, b.Name))
	})
	return nil
}

func resultOf(x *session.Session, c *session.Child, v *mask) (r blocks.ChildResult, err error) {
	r = blocks.ChildResult{Name: c.Name, Status: c.Status, Finished: c.Finished(), Who: c.Who()}
	for _, row := range c.Brought() {
		text := row.Path
		if row.Kind != ctxabi.RefArtifact {
			text += " (" + row.Kind + ")"
		}
		if row.Summary != "" {
			text += ": " + row.Summary
		}
		if v != nil {
			data, _ := v.r.File([]byte(text), nil)
			text = string(data)
		}
		r.Brought += compress.Clip(record.OneLine(text), maxBrought) + "\n"
	}
	if r.Finished || c.ResultOrigin == ctxabi.OriginAgent {
		data, _, _, err := x.ChildFile(c.Name, ctxabi.ChildResult)
		if err != nil {
			if session.Gone(err) {
				return r, nil // removed meanwhile: the next scan sees that
			}
			return r, err
		}
		if v != nil {
			data, _ = v.r.File(data, nil)
		}
		sum := sha256.Sum256(data)
		r.Bytes, r.SHA256 = len(data), hex.EncodeToString(sum[:])
		r.Text = strings.ToValidUTF8(strings.ReplaceAll(string(data[:min(len(data), blocks.MaxChildText)]), "\x00", "�"), "")
		if strings.TrimSpace(r.Text) == "" {
			r.Text = ""
		}
	}
	if r.Finished {
		r.After, err = x.MessagesAt(c.Changed)
	}
	return r, err
}
