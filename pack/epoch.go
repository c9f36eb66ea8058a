package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/pack/record"
)

// epoch names what must not change for the prefix to stay: the head, and how
// the journal was folded. major names what must not change for the compacted past to stay; "": there is none.
func (d *draft) epoch(head []byte) (epoch, major string) {
	h := sha256.New()
	if !d.journal.Present {
		fmt.Fprintf(h, "head %d\n%s\nno journal%s", len(head), head, d.in.Redaction.fingerprint())
		return "0-" + hex.EncodeToString(h.Sum(nil)[:8]), ""
	}
	for _, p := range d.parts {
		if p.Version > 0 {
			fmt.Fprintf(h, "summary %s\n", hexOf([]byte(p.Text)))
		}
	}
	fmt.Fprintf(h, "marks %s\n", d.in.labelMarks().Tag())
	if d.imagesFrom > 0 {
		fmt.Fprintf(h, "images from %d\n", d.imagesFrom)
	}
	if r := d.in.Redaction; r != nil {
		fmt.Fprintf(h, "redaction %s\n", r.Fingerprint)
	}
	fmt.Fprintf(h, "head %d\n%s\nencoding %s room %d limit %d step %d rules %+v", len(head), head, d.counter.Encoding(), d.limits.room, d.limits.limit, d.step, d.fold.Rules)
	common := h.Sum(nil)
	name := func(boundary int) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%x boundary %d", common, boundary))
		return hex.EncodeToString(sum[:8])
	}
	epoch = fmt.Sprintf("%d-%s", d.fold.Compactions, name(d.fold.Boundary()))
	if boundary := d.fold.MajorBoundary(); boundary > 0 {
		major = name(boundary)
	}
	return epoch, major
}

// epochReason returns what began the epoch: what the caller knows, else what the files alone can tell.
func (d *draft) epochReason() string {
	switch {
	case d.in.EpochReason != "":
		return d.in.EpochReason
	case !d.journal.Present:
		return "no journal in the recipe"
	case d.step > 0:
		return fmt.Sprintf("the journal was folded tighter (step %d) to fit the budget", d.step)
	case d.fold.Compactions > 0:
		return fmt.Sprintf("%s when %s arrived", d.fold.Reason(), record.AddressOf(d.history, d.fold.Compacted).Source())
	}
	return "no compaction yet"
}

// ChangedFrom returns what began the epoch of b, seen from an earlier build of the
// same session; "" when that does not show: then it is the journal. Of before it looks at
// Epoch, Recipe, Redaction and Head.
func (b *Build) ChangedFrom(before *Build) string {
	if b.Recipe != before.Recipe {
		return "the recipe changed"
	}
	switch {
	case b.Redaction == before.Redaction:
	case before.Redaction == "":
		return "redaction was turned on"
	case b.Redaction == "":
		return "redaction was turned off"
	default:
		return "the rules of redaction or their exceptions changed"
	}
	compactions, _, _ := strings.Cut(b.Epoch, "-")
	compacted := before.Epoch != "" && !strings.HasPrefix(before.Epoch, compactions+"-")
	was := map[string]HeadBlock{}
	for _, h := range before.Head {
		was[h.ID] = h
	}
	for _, h := range b.Head {
		old, ok := was[h.ID]
		delete(was, h.ID)
		switch {
		case h.Chosen && compacted:
		case !ok:
			return h.Source + " was added"
		case old.SHA256 == h.SHA256:
		case old.Source != h.Source:
			return "what stands in " + h.ID + " changed"
		default:
			return h.Source + " changed"
		}
	}
	for _, h := range before.Head {
		if _, gone := was[h.ID]; gone && !(h.Chosen && compacted) {
			return h.Source + " was removed"
		}
	}
	if !compacted && !slices.Equal(b.Head, before.Head) {
		return "the order of the blocks changed"
	}
	return ""
}

func hexOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
