package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// Source is where a session's packs and records come from. Its history stays as it was when the source was opened.
type Source interface {
	Messages() record.Records
	Events() record.Records
	// Pack returns pack.md and pack.json of the first n messages, n from 0 to their number.
	Pack(ctx context.Context, n int) (markdown, account []byte, err error)
	// Moment is how many messages there were at a time.
	Moment(ctx context.Context, when time.Time) (int, error)
	// Served are the rows of packs.jsonl, the oldest first; none where nothing was noted.
	Served() ([]blob.Row, error)
	// ServedPack is what was served as pack.md under an id; it fails with ctxabi.ErrNotFound when that is not kept.
	ServedPack(id string) ([]byte, error)
	// Swapped are the rows of swap/index.jsonl: what left the prompt.
	Swapped(ctx context.Context) ([]ctxabi.SwapRow, error)
	// Before is how many messages had arrived before an event; ok is false where the source does not know.
	Before(event int) (messages int, ok bool)
}

// Stored is a session in a store.
type Stored struct {
	b        *builder.Builder
	x        *session.Session
	timeline *log.Timeline
}

// FromStore looks at a session of a store that is open. It fails as [build.Builder.Current] does.
func FromStore(ctx context.Context, b *builder.Builder, x *session.Session) (*Stored, error) {
	if _, err := b.Current(ctx, x); err != nil {
		return nil, err
	}
	t, err := x.Timeline()
	return &Stored{b, x, t}, err
}

func (s *Stored) Messages() record.Records { return s.timeline.Messages }
func (s *Stored) Events() record.Records   { return s.timeline.Events }

// Pack implements [Source]; it returns the error of the build.
func (s *Stored) Pack(ctx context.Context, n int) (markdown, account []byte, err error) {
	b, err := s.b.At(ctx, s.x, n)
	if err != nil {
		return nil, nil, err
	}
	return b.Markdown, b.JSON(), nil
}

// Native returns the pack of the first n messages as the body of a request. It returns the error of the build or of the
// rendering.
func (s *Stored) Native(ctx context.Context, n int, f native.Format) ([]byte, error) {
	b, err := s.b.At(ctx, s.x, n)
	if err != nil {
		return nil, err
	}
	return s.b.Native(s.x, b, f)
}

// Moment implements [Source]; it returns no error.
func (s *Stored) Moment(_ context.Context, when time.Time) (int, error) {
	n, err := s.x.MessagesAt(when)
	return min(n, s.Messages().Len()), err
}

// Served implements [Source]; it returns ctxabi.ErrIO if the rows cannot be read.
func (s *Stored) Served() ([]blob.Row, error) {
	served, err := s.x.Served()
	if err != nil {
		return nil, err
	}
	data, _, err := served.Rows()
	return parseRows(data, isServed), err
}

// ServedPack implements [Source]; it returns ctxabi.ErrNotFound if the pack is not kept.
func (s *Stored) ServedPack(id string) ([]byte, error) {
	served, err := s.x.Served()
	if err != nil {
		return nil, err
	}
	return served.Pack(id)
}

// Swapped implements [Source]; it returns the error of the log that cannot be read.
func (s *Stored) Swapped(ctx context.Context) ([]ctxabi.SwapRow, error) {
	nodes, err := s.b.Swap(ctx, s.x, "")
	if err != nil {
		return nil, err
	}
	return parseRows(nodes.Index, isSwapped), nil
}

func (s *Stored) Before(event int) (int, bool) {
	m := s.timeline.Messages
	return sort.Search(m.Len(), func(i int) bool { return int(m.At(i+1).Events) >= event }), true
}

// History is a session that is looked at: its source, and the packs that were read of it last.
type History struct {
	Source
	packs   map[int]*Pack
	used    []int            // the keys of packs, those that came first first
	swapped []ctxabi.SwapRow // nil: not asked for yet
}

// maxPacks is how many packs a history remembers.
const maxPacks = 64

// NewHistory looks at a source.
func NewHistory(s Source) *History { return &History{Source: s, packs: map[int]*Pack{}} }

// Len is the number of messages.
func (h *History) Len() int { return h.Messages().Len() }

// At returns the pack of the first n messages, n from 0 to Len. The last 64 that were asked for are kept.
// It returns the error of the source, or ctx.Err().
func (h *History) At(ctx context.Context, n int) (*Pack, error) {
	if p := h.packs[n]; p != nil {
		return p, nil
	}
	if n < 0 || n > h.Len() {
		return nil, ctxabi.E("read", ctxabi.AtDir, ctxabi.ErrNotFound, "there is no pack at %d: the session has %s", n, count(h.Len(), "message"))
	}
	md, account, err := h.Pack(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("the pack of the first %d messages: %w", n, err)
	}
	p, err := NewPack(n, md, account, "")
	if err != nil {
		return nil, err
	}
	if h.used = append(h.used, n); len(h.used) > maxPacks {
		delete(h.packs, h.used[0])
		h.used = h.used[1:]
	}
	h.packs[n] = p
	return p, nil
}

// AtServed returns a pack that was served, by its id. Where today's files still give the same pack, all is known of it, else what pack.md says.
// It returns ctxabi.ErrNotFound if it is not kept.
func (h *History) AtServed(ctx context.Context, id string) (*Pack, error) {
	rows, err := h.Served()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.PackID != id {
			continue
		}
		if row.Messages <= h.Len() {
			if p, err := h.At(ctx, row.Messages); err == nil && p.PackID == id {
				return p, nil
			}
		}
		md, err := h.ServedPack(id)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ctxabi.ErrNotFound) {
			return nil, ctxabi.E("read", ctxabi.ServedDir, ctxabi.ErrNotFound, "%s was served when there were %s, but is no longer stored", id, count(row.Messages, "message"))
		}
		if err != nil {
			return nil, err
		}
		p, err := NewPack(row.Messages, md, nil, "")
		if err != nil {
			return nil, err
		}
		p.PackID, p.Epoch, p.EpochReason, p.Compactions, p.PrefixBytes = id, row.Epoch, row.EpochReason, row.Compactions, row.PrefixBytes
		return p, nil
	}
	return nil, ctxabi.E("read", ctxabi.PacksFile, ctxabi.ErrNotFound, "no pack %s was served", id)
}

// count returns "1 message", "3 messages".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
