package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/session"
)

// epochFile remembers a session's last epoch, in its internal directory.
const epochFile = "epoch.json"

// epochNote is what is remembered of an epoch: enough to say why the next one began.
type epochNote struct {
	Epoch  string      `json:"epoch"`
	Recipe string      `json:"recipe"`
	Budget int         `json:"budget"`
	Redact string      `json:"redact,omitempty"` // Fingerprint
	Head   []HeadBlock `json:"head"`
	Reason string      `json:"reason,omitempty"` // why it began; "": what the files prove

	Encoding string `json:"encoding,omitempty"`
	Room     int    `json:"room,omitempty"` // for the journal, in tokens
}

// compileEpoch compiles in; around is the hash of all of it but the records. Where an epoch begins, it compares the pack with the last one to say why.
func (b *Builder) compileEpoch(x *session.Session, e *entry, in *Input, c *tokens.Counter, around hash.Cloner) (*Build, error) {
	if e.epoch == nil {
		e.epoch = &epochNote{}
		if data, err := x.Derived(epochFile); err == nil && json.Unmarshal(data, e.epoch) != nil {
			e.epoch = &epochNote{}
		}
	}
	was := e.epoch
	in.EpochReason = was.Reason
	d, err := in.complete(e.memo, c, around)
	if err != nil {
		return nil, err
	}
	build := d.render()
	if build.Epoch == was.Epoch {
		return build, nil
	}
	now := &epochNote{Epoch: build.Epoch, Recipe: build.Recipe, Budget: in.Budget, Redact: build.Redaction, Head: build.Head, Encoding: build.encoding, Room: build.room}
	if was.Epoch != "" {
		now.Reason = was.ended(now, build)
	}
	if now.Reason != in.EpochReason {
		in.EpochReason = now.Reason
		build = d.render()
	}
	e.epoch = now
	if data, err := json.Marshal(now); err == nil {
		x.SetDerived(epochFile, data) // without it the next epoch says only what the files prove
	}
	return build, nil
}

// ended says why the epoch gave way to the next one; "" where the files prove it: a compaction.
func (n *epochNote) ended(next *epochNote, build *Build) string {
	if reason := build.changedFrom(&Build{Epoch: n.Epoch, Recipe: n.Recipe, Redaction: n.Redact, Head: n.Head}); reason != "" {
		return reason
	}
	// Each of these folds the history anew, so that compactions which are said to have happened meanwhile are not what began the epoch.
	switch {
	case n.Budget != next.Budget:
		return "the budget changed"
	case n.Encoding != "" && n.Encoding != next.Encoding:
		return fmt.Sprintf("tokens are counted with %s now", next.Encoding)
	case n.Room > 0 && n.Room != next.Room:
		return fmt.Sprintf("the other blocks leave the journal room for %d tokens, and left %d", next.Room, n.Room)
	}
	return ""
}

// epoch names what must not change for the prefix to stay: the head, and how
// the journal was folded.
func (d *draft) epoch(head []byte) string {
	h := sha256.New()
	if !d.journal.present {
		fmt.Fprintf(h, "head %d\n%s\nno journal%s", len(head), head, d.in.Redaction.fingerprint())
		return "0-" + hex.EncodeToString(h.Sum(nil)[:8])
	}
	for _, p := range d.parts {
		if p.summarized > 0 {
			fmt.Fprintf(h, "summary %s\n", hexOf([]byte(p.text)))
		}
	}
	if d.imagesFrom > 0 {
		fmt.Fprintf(h, "images from %d\n", d.imagesFrom)
	}
	if r := d.in.Redaction; r != nil {
		fmt.Fprintf(h, "redaction %s\n", r.Fingerprint)
	}
	fmt.Fprintf(h, "head %d\n%s\nencoding %s room %d limit %d step %d boundary %d rules %+v", len(head), head, d.counter.Encoding(), d.limits.room, d.limits.limit, d.step, d.fold.boundary(), d.fold.rules)
	return fmt.Sprintf("%d-%s", d.fold.compactions, hex.EncodeToString(h.Sum(nil)[:8]))
}

// epochReason returns what began the epoch: what the caller knows, else what the files alone can tell.
func (d *draft) epochReason() string {
	switch {
	case d.in.EpochReason != "":
		return d.in.EpochReason
	case !d.journal.present:
		return "no journal in the recipe"
	case d.step > 0:
		return fmt.Sprintf("the journal was folded tighter (step %d) to fit the budget", d.step)
	case d.fold.compactions > 0:
		return fmt.Sprintf("%s when %s arrived", d.fold.moved, addressOf(d.history, d.fold.compacted).source())
	}
	return "no compaction yet"
}

// changedFrom returns what began the epoch of b, seen from an earlier build of the
// same session; "" when that does not show: then it is the journal. Of before it looks at
// Epoch, Recipe, Redaction and Head.
func (b *Build) changedFrom(before *Build) string {
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
		return "the rules of redaction changed, or what they allow"
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
