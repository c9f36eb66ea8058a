package builder

import (
	"encoding/json"
	"fmt"
	"hash"
	"time"

	"github.com/ctxfs/ctxfs/internal/tokens"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/session"
)

// epochFile remembers a session's last epoch, in its internal directory.
const epochFile = "epoch.json"

// epochNote is what is remembered of an epoch: enough to say why the next one began.
type epochNote struct {
	Epoch  string           `json:"epoch"`
	Recipe string           `json:"recipe"`
	Budget int              `json:"budget"`
	Redact string           `json:"redact,omitempty"` // Fingerprint
	Head   []pack.HeadBlock `json:"head"`
	Reason string           `json:"reason,omitempty"` // why it began; "": what the files prove

	Encoding string `json:"encoding,omitempty"`
	Room     int    `json:"room,omitempty"` // for the journal, in tokens
}

// compileEpoch compiles in. around is the hash of the input without the records. If check returns
// an error for the pack, compileEpoch returns it before an epoch begins. When an epoch begins, it
// compares the pack with the previous one to find the reason.
func (b *Builder) compileEpoch(x *session.Session, e *entry, in *pack.Input, c *tokens.Counter, around hash.Cloner,
	check func(*pack.Build) error) (*pack.Build, error) {
	if e.epoch == nil {
		e.epoch = &epochNote{}
		if data, err := x.Derived(epochFile); err == nil && json.Unmarshal(data, e.epoch) != nil {
			e.epoch = &epochNote{}
		}
	}
	was := e.epoch
	in.EpochReason = was.Reason
	now := was
	build, err := in.CompileEpoch(e.memo, c, around, func(build *pack.Build) string {
		if build.Epoch == was.Epoch {
			return was.Reason
		}
		now = &epochNote{Epoch: build.Epoch, Recipe: build.Recipe, Budget: in.Budget, Redact: build.Redaction, Head: build.Head, Encoding: build.Encoding, Room: build.Room}
		if was.Epoch != "" {
			now.Reason = was.ended(now, build)
		}
		return now.Reason
	})
	if err == nil {
		err = check(build)
	}
	if err != nil {
		return nil, err
	}
	build.Made = time.Now()
	if now == was {
		return build, nil
	}
	e.epoch = now
	if data, err := json.Marshal(now); err == nil {
		x.SetDerived(epochFile, data) // without it the next epoch says only what the files prove
	}
	return build, nil
}

// ended returns why the epoch gave way to the next one; "" where the files prove it: a compaction.
func (n *epochNote) ended(next *epochNote, build *pack.Build) string {
	if reason := build.ChangedFrom(&pack.Build{Epoch: n.Epoch, Recipe: n.Recipe, Redaction: n.Redact, Head: n.Head}); reason != "" {
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
