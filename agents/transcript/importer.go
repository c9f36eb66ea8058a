package transcript

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/session"
)

// ErrNothing: the transcripts have no record at all.
var ErrNothing = errors.New("nothing was imported")

// Progress is told how far an import is.
type Progress interface {
	// Reader returns r, and counts what is read of it.
	Reader(r io.Reader) io.Reader

	// Added counts n records that are in the session now.
	Added(n int)
}

// Importer puts transcripts into a session and its children.
type Importer struct {
	ctx    context.Context
	to     Tree
	ref    ctxabi.Ref
	losses *Losses
	bar    Progress

	main     *target
	children map[string]*target // by chain
	known    adapter.Known
	asked    map[string]bool // chains of which known has the records
	agents   map[string]subagent
	names    map[string]string // of children, by chain
	threads  map[string]bool   // of Codex, that were read into the session itself
	forked   *thread           // the session is a fork, and begins with a copy; nil: it is not known to
	Count    Counts

	Waits       bool // for another import into the session, instead of returning ctxabi.ErrLocked
	AllBranches bool // every branch that was left is a loss, not only one that is longer than what came instead
}

// NewImporter returns an importer into the session ref of to. What cannot be carried is added to losses. When ctx ends, Read
// returns its error before the next record. End closes the sessions.
func NewImporter(ctx context.Context, to Tree, ref ctxabi.Ref, losses *Losses, bar Progress) *Importer {
	return &Importer{ctx: ctx, to: to, ref: ref, losses: losses, bar: bar}
}

// WorkedIn notes where the program worked as the cwd of the session, if it has none yet. It returns the error of the file.
func (im *Importer) WorkedIn(cwd string) error {
	if im.main == nil || cwd == "" || strings.TrimSpace(im.main.h.control(ctxabi.CwdFile)) != "" {
		return nil
	}
	return im.main.h.setControl(ctxabi.CwdFile, cwd+"\n")
}

// Dir returns the directory of the session, "" as long as there is none.
func (im *Importer) Dir() string {
	if im.main == nil {
		return ""
	}
	return strings.TrimSuffix(im.main.h.dir(), "/")
}

// Counts are what an import did.
type Counts struct {
	Records, Messages, Events, Children, Skipped int

	Left int // events that are messages on branches that the conversation left
}

// OnBranches returns the part of the summary that counts records on abandoned branches, preceded by
// a semicolon; "" if there are none.
func (c Counts) OnBranches() string {
	switch c.Left {
	case 0:
		return ""
	case 1:
		return "; 1 record is on a branch that was left"
	}
	return fmt.Sprintf("; %d records are on branches that were left", c.Left)
}

// Read imports one transcript. It returns an error if the transcript cannot be read or a record
// cannot be appended; records appended before the error stay.
func (im *Importer) Read(t *Transcript) error {
	if im.asked == nil {
		im.asked, im.children, im.agents = map[string]bool{}, map[string]*target{}, map[string]subagent{}
		im.threads = map[string]bool{}
		if err := im.openMain(); err != nil {
			return err
		}
	}
	im.known.Begin()
	chain, err := im.chainFor(t)
	if err != nil {
		return err
	}
	im.known.Begin() // what chainFor asked does not tell which transcript this is
	if t.agent.chain != "" {
		im.agents[t.agent.chain] = t.agent
	}
	var from *adapter.From
	if f, err := inputs.OpenRegular(t.thread.from); err == nil {
		defer f.Close()
		from = &adapter.From{R: f}
	}
	skipped := map[string]bool{}
	var failed error
	out := &importOutput{Importer: im, from: t, holds: t.forced || im.main == nil}
	in := &adapter.Input{R: im.bar.Reader(t.r), Name: t.Name, Beside: t.beside, Chain: chain, From: from, Seen: func(chain, id string) bool {
		if err := im.learn(chain); err != nil {
			failed = cmp.Or(failed, err)
		}
		seen := im.known.Seen(chain, id)
		if seen {
			failed = cmp.Or(failed, out.release())
		}
		if seen && !skipped[chain+"\x00"+id] {
			skipped[chain+"\x00"+id] = true
			im.Count.Skipped++
		}
		return seen
	}}
	err = t.format.Import(in, out)
	if err = cmp.Or(failed, err); err == nil && len(out.held) == 0 {
		err = out.release()
	}
	out.reportBranches()
	if err == nil && out.holds {
		err = fmt.Errorf("%w: it has no message in the format %s", ErrNothing, t.format.Name)
		if t.forced {
			err = fmt.Errorf("%w; omit --format, and ctxfs detects the format", err)
		}
	}
	err = cmp.Or(err, im.flush())
	if err == nil && t.thread.forked != "" && chain == "" && from != nil && from.Lines > 0 {
		im.forked, t.thread.copied = &t.thread, from.Lines
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%s: %w", t.Name, err)
	}
	return err
}

// chainFor returns the chain for the records of a transcript that names none: the sub-agent's chain
// if it belongs to a session of its ancestors, "" for the main conversation. It returns an error if
// it cannot read the session.
func (im *Importer) chainFor(t *Transcript) (string, error) {
	th := t.thread
	if th.id == "" {
		return "", nil
	}
	if err := im.learn(""); err != nil {
		return "", err
	}
	switch {
	case th.parent == "", im.main != nil && im.known.Seen("", firstID(t.Name)): // it was imported alone
	case im.ref.Session == th.root, im.threads[th.root], im.main != nil && im.known.Seen("", firstID(th.from)):
		return t.agent.chain, nil
	}
	im.threads[th.id] = true
	return "", nil
}

// openMain opens the session where it is there already.
func (im *Importer) openMain() error {
	h, err := im.to.open(im.ref)
	if session.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	im.main = newTarget(im, h, "")
	return h.lock(im.Waits)
}

// target is where the records of a chain go.
func (im *Importer) target(chain string) (t *target, err error) {
	if im.main == nil {
		h, err := im.to.create(im.ref)
		if err != nil {
			return nil, err
		}
		im.main = newTarget(im, h, "")
		im.asked[""] = true
		if err := im.isNew(h); err != nil {
			return nil, err
		}
	}
	if chain == "" {
		return im.main, nil
	}
	if t = im.children[chain]; t == nil {
		t, err = im.makeChild(chain)
		im.children[chain] = t
	}
	return t, err
}

// isNew locks a session that this import has made. It returns ctxabi.ErrLocked if somebody else has put something into it meanwhile: what that
// is, nobody has asked.
func (im *Importer) isNew(h history) error {
	if err := h.lock(im.Waits); err != nil {
		return err
	}
	for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		if n, err := h.size(log); err != nil || n > 0 {
			return cmp.Or(err, atOnce(h.dir()))
		}
	}
	return nil
}

// learn reads what the session, or the child of a chain, has.
func (im *Importer) learn(chain string) error {
	if im.asked[chain] || im.main == nil {
		return nil
	}
	im.asked[chain] = true
	t := im.main
	if chain != "" {
		h, ok, err := im.openChild(chain)
		if !ok || err != nil {
			return err
		}
		t = newTarget(im, h, chain)
		im.children[chain] = t
	}
	return t.learn()
}

// flush writes what is waiting.
func (im *Importer) flush() (err error) {
	for t := range im.targets {
		err = cmp.Or(err, t.flush())
	}
	return err
}

// End makes what was added durable, and closes the sessions. It returns the first error of these.
func (im *Importer) End() (err error) {
	for t := range im.targets {
		err = cmp.Or(err, t.flush(), t.describe(), t.h.sync(), t.h.close())
	}
	return err
}

func (im *Importer) targets(yield func(*target) bool) {
	if im.main != nil && !yield(im.main) {
		return
	}
	for _, chain := range slices.Sorted(maps.Keys(im.children)) {
		if t := im.children[chain]; t != nil && !yield(t) {
			return
		}
	}
}
