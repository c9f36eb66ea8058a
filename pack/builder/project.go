package builder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/lru"
	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/project"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// Bounds of the memory of a workspace.
const (
	maxMembers  = 200     // sessions with new content, most recently written first
	maxLooked   = 2048    // sessions to examine in search of members
	maxMade     = 1024    // digests to compute per call; the next call continues
	maxAnswers  = 200     // records that are looked at for the last answer of a session
	maxDigested = 8 << 20 // bytes of digests that are remembered
)

// digestName is the derived content that has a session's digest.
const digestName = "notes/project"

// storedDigest is a digest as it is kept.
type storedDigest struct {
	Key    string         `json:"key"` // what it was made from, see digestKey
	Digest project.Digest `json:"digest"`

	seen string // the session's change count and log stamp when Key was last checked
}

// digests remembers digests by the ids of their sessions. It is a cache of memory.Limit.
type digests struct {
	mu    sync.Mutex
	cache lru.Cache[string, storedDigest] // guarded by mu
}

// Member is a session of a workspace.
type Member struct {
	Ref ctxabi.Ref
	Dir string    // the workspace
	At  time.Time // when it was written to last
}

// Workspaces returns the sessions of user uid that have a workspace, the one first that was written to last.
func (b *Builder) Workspaces(s *session.Store, uid uint32) (all []Member) {
	for ref := range s.SessionsOf(ctxabi.Ref{UID: uid}) {
		if dir := s.Workspace(ref, b.config.MapPath); dir != "" {
			all = append(all, Member{ref, dir, s.Written(ref)})
		}
	}
	slices.SortFunc(all, func(a, b Member) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Ref.Path(), b.Ref.Path())) })
	return all
}

// ProjectMemory returns the memory of workspace slug of user uid in at most so many bytes, without what the session of
// id except says, and when it changed last. It is empty if no session of the user has that workspace. A session that
// cannot be read brings nothing. It returns ctxabi.ErrNoMemory if there is no memory to read a session, and the error of
// ctx when ctx ends.
func (b *Builder) ProjectMemory(ctx context.Context, s *session.Store, uid uint32, slug, except string, most int) (text string, at time.Time, err error) {
	var all project.Digests
	older, looked, made := 0, 0, 0
	for _, m := range b.Workspaces(s, uid) {
		if name, err := ctxabi.ProjectSlug(m.Dir); err != nil || name != slug {
			continue
		}
		if all.News == maxMembers || looked == maxLooked || made == maxMade {
			older++
			continue
		}
		x, err := s.Session(m.Ref)
		if err != nil || x.ID() == except {
			continue
		}
		d, fresh, err := b.digest(ctx, x)
		if fresh {
			made++
		}
		if ctx.Err() != nil || errors.Is(err, ctxabi.ErrNoMemory) {
			return "", at, cmp.Or(ctx.Err(), err)
		}
		if err != nil {
			continue
		}
		if looked++; looked == 1 {
			all.Dir, at = m.Dir, m.At
		}
		d.Session = m.Ref.Agent + "/" + m.Ref.Session
		all.Add(d)
	}
	return all.Memory(older, most), at, nil
}

// digestKey returns what the digest of a session follows from.
func digestKey(x *session.Session) string {
	names := []string{ctxabi.PinnedDir}
	for _, note := range []string{ctxabi.FactsFile, ctxabi.DecisionsFile, ctxabi.TodoFile} {
		names = append(names, note, ctxabi.OwnNote(note))
	}
	return fmt.Sprintf("digest %d finds %d\n%s", project.Version, derived.FindVersion, x.Stamp(names...))
}

// digest returns the session's contribution to the memory of its workspace. If the session has
// changed, digest recomputes the contribution and returns fresh == true.
func (b *Builder) digest(ctx context.Context, x *session.Session) (d project.Digest, fresh bool, err error) {
	seen := fmt.Sprintf("%d %s", x.Changes(), x.Stamp())
	b.digests.mu.Lock()
	known, ok := b.digests.cache.Get(x.ID())
	b.digests.mu.Unlock()
	if ok && known.seen == seen {
		return known.Digest, false, nil
	}
	now := storedDigest{Key: digestKey(x), seen: seen}
	keep := b.config.Redact == nil
	if !ok && keep {
		if data, err := x.Derived(digestName); err != nil || json.Unmarshal(data, &known) != nil {
			known = storedDigest{}
		}
	}
	if known.Key == now.Key {
		now.Digest = known.Digest
		b.rememberDigest(x, now)
		return now.Digest, false, nil
	}
	b.mu.Lock()
	_, used := b.sessions.Peek(x.ID())
	b.mu.Unlock()
	d, err = b.digestNow(ctx, x)
	if !used {
		b.Forget(x.ID()) // it must not take the place of those that are used
	}
	if err != nil {
		return d, true, err
	}
	now.Digest = d
	b.rememberDigest(x, now)
	if data, err := json.Marshal(now); keep && err == nil {
		x.SetDerived(digestName, data) // without it the next daemon makes it again
	}
	return d, true, nil
}

func (b *Builder) rememberDigest(x *session.Session, d storedDigest) {
	b.digests.mu.Lock()
	defer b.digests.mu.Unlock()
	b.digests.cache.Put(x.ID(), d, int64(len(d.Key)+d.Digest.Size()))
	b.digests.cache.Trim(int64(b.config.Memory.Share(maxDigested)), nil)
}

// digestNow makes the digest of a session.
func (b *Builder) digestNow(ctx context.Context, x *session.Session) (d project.Digest, err error) {
	e := b.entry(x.ID())
	t, err := e.Timeline(ctx, x)
	if err != nil {
		return d, err
	}
	release, err := b.room(t, "read", "")
	if err != nil {
		return d, err
	}
	defer release()
	rows, err := e.notes.rows(ctx, x, e, t, nil)
	if err != nil {
		return d, err
	}
	v := &NotesView{Facts: rows.Facts, Decisions: rows.Decisions, Todo: rows.Todo}
	v.files = map[string][]byte{ctxabi.TodoFile: []byte(v.Todo), ctxabi.FactsFile: jsonLines(v.Facts), ctxabi.DecisionsFile: jsonLines(v.Decisions)}
	facts, err := b.noteOf(x, v, ctxabi.FactsFile)
	if err != nil {
		return d, err
	}
	eachRow(facts, func(r *ctxabi.FactRow) { d.AddKnown(r.Text, cmp.Or(r.Source, ctxabi.FactsFile)) })
	decisions, err := b.noteOf(x, v, ctxabi.DecisionsFile)
	if err != nil {
		return d, err
	}
	eachRow(decisions, func(r *ctxabi.DecisionRow) { d.AddDecided(r.Decision, cmp.Or(r.Source, ctxabi.DecisionsFile)) })
	for _, asks := range rows.Asks {
		d.AddChange(asks.Text)
	}
	todo, err := b.noteOf(x, v, ctxabi.TodoFile)
	if err != nil {
		return d, err
	}
	for line := range strings.Lines(string(todo)) {
		done, open, text := blocks.TodoItem(strings.TrimSuffix(line, "\n"))
		source := ctxabi.TodoFile
		if m := itemSource().FindStringSubmatchIndex(text); m != nil {
			source, text = text[m[2]:m[3]], text[:m[0]]
		}
		if open {
			d.AddOpen(text, source)
		} else if done {
			d.AddDone(text)
		}
	}
	if err := b.pinsOf(x, &d); err != nil {
		return d, err
	}
	return d, b.answerOf(ctx, e, t, &d)
}

// itemSource is where an item of a derived list is from, at its end.
var itemSource = lazy.Regexp(`\s*\((?:in progress, )?((?:messages|events):\d+)\)$`)

// noteOf returns a note as its file has it: what the agent wrote, or what is derived, or both.
func (b *Builder) noteOf(x *session.Session, v *NotesView, name string) ([]byte, error) {
	own, err := x.Note(name)
	if err != nil {
		return nil, err
	}
	data := own.Own
	if own.Origin != ctxabi.OriginDerived {
		if data, err = b.Redacted(x, data); err != nil {
			return nil, err
		}
	}
	if own.Origin == ctxabi.OriginAgent {
		return data, nil
	}
	return slices.Concat(v.Beside(name, own.Own), data), nil
}

// eachRow calls do for the rows of a note, the last one first.
func eachRow[T any](data []byte, do func(*T)) {
	lines := strings.Split(string(data), "\n")
	for _, line := range slices.Backward(lines) {
		var row T
		if json.Unmarshal([]byte(line), &row) == nil {
			do(&row)
		}
	}
}

// pinsOf adds the pins of a session.
func (b *Builder) pinsOf(x *session.Session, d *project.Digest) error {
	for _, name := range x.Pins() {
		file := path.Join(ctxabi.PinnedDir, name)
		data, err := x.Control(file)
		if err != nil || session.CheckText(file, data) != nil {
			continue // it was removed meanwhile, or stands in no pack
		}
		if data, err = b.Redacted(x, data); err != nil {
			return err
		}
		d.AddPin(string(data), file)
	}
	return nil
}

// answerOf adds the last answer of a session that says something. Of one that the user replied to, the question at its end
// is no longer open and is left out.
func (b *Builder) answerOf(ctx context.Context, e *entry, t *log.Timeline, d *project.Digest) error {
	m := e.Readable(t, false)
	replied := false // the user said something later
	for line, looked := m.Len(), 0; line > 0 && looked < maxAnswers; line-- {
		if m.At(line).Role != ctxabi.Assistant {
			replied = replied || record.IsUser(m.At(line))
			continue
		}
		looked++
		raw, err := m.Record(line)
		if archive.IsDamage(err) {
			continue
		}
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		if msg := ctxabi.DecodeMessage(raw); len(msg.Calls) == 0 {
			text := derived.WithoutMemory(msg.Text)
			if replied {
				text = derived.WithoutQuestion(text)
			}
			if derived.Substantial(text) {
				d.SetAnswer(text, fmt.Sprint("messages:", line))
				return nil
			}
		}
	}
	return nil
}

// digests as a cache of memory.Limit.

func (d *digests) Loosen() {}

// LetGo forgets all digests.
func (d *digests) LetGo() {
	if d.mu.TryLock() {
		defer d.mu.Unlock()
		d.cache.Clear()
	}
}

// Size returns how many bytes all of them take, about.
func (d *digests) Size() int64 {
	if !d.mu.TryLock() {
		return 0
	}
	defer d.mu.Unlock()
	return d.cache.Size()
}
