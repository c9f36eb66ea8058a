package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
)

// Report is what was done.
type Report struct {
	Number       int           `json:"number"`       // of the backup
	Acknowledged time.Time     `json:"acknowledged"` // what was acknowledged before is in the backup
	Took         time.Duration `json:"took"`         // in nanoseconds
	Owners       int           `json:"owners"`
	Sessions     int           `json:"sessions"`
	Entries      int           `json:"entries"`            // that were copied now, or looked at
	Objects      int           `json:"objects"`            // that were copied now, or looked at
	Bytes        int64         `json:"bytes"`              // of both
	Problems     []string      `json:"problems,omitempty"` // sentences about what is not as it should be
	Pruned       *Pruned       `json:"pruned,omitempty"`   // nil: Prune was not called
}

// How many journals and objects are copied at a time. They are variables for tests.
var (
	journalsAtOnce = 16
	objectsAtOnce  = 4
)

// maxRounds is how often the names of an owner are looked at, who makes sessions meanwhile.
const maxRounds = 10

// taker makes one backup.
type taker struct {
	d   *directory
	c   Cluster
	was *manifest // the backup before; without owners if there is none

	mu     sync.Mutex
	report Report // guarded by mu
}

// Take makes a backup of a cluster in a directory, which it makes if it is not there. store is the id of
// the cluster's store. What is wrong with single journals and objects is in the report. It returns
// ErrBusy if another backup to the directory is under way, ErrOther if it is of another cluster, the errors
// of an engine that cannot be reached or denies it, and that of the disk; there is no new backup then.
func Take(ctx context.Context, dir string, c Cluster, store string) (*Report, error) {
	d, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := d.claim(store); err != nil {
		return nil, err
	}
	numbers, err := d.numbers()
	if err != nil {
		return nil, err
	}
	t := &taker{d: d, c: c, was: new(manifest)}
	if n := newest(numbers); n > 0 {
		if t.was, err = d.manifest(n); err != nil {
			return nil, err
		}
	}
	m := &manifest{V: version, Number: newest(numbers) + 1, Store: store, Began: time.Now().UnixNano()}
	owners, err := c.Owners(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range t.was.Owners { // one whose journal is gone stays in the backups
		if !slices.Contains(owners, o.Owner) {
			t.problem("%s has no journal any more; the backup keeps what the one before it has", o.Owner)
			m.Owners = append(m.Owners, o)
		}
	}
	for _, name := range owners {
		o, err := t.owner(ctx, name)
		if err != nil {
			return nil, err
		}
		m.Owners = append(m.Owners, o)
		t.report.Sessions += len(o.Sessions)
	}
	slices.SortFunc(m.Owners, func(a, b owner) int { return strings.Compare(a.Owner, b.Owner) })
	m.Ended = time.Now().UnixNano()
	if err := d.putManifest(m); err != nil {
		return nil, err
	}
	return t.done(m, time.Unix(0, m.Began)), nil
}

// done returns the report about m, on which work began at a time.
func (t *taker) done(m *manifest, began time.Time) *Report {
	t.report.Number, t.report.Owners, t.report.Acknowledged, t.report.Took = m.Number, len(m.Owners), time.Unix(0, m.Began), time.Since(began)
	slices.Sort(t.report.Problems)
	return &t.report
}

func (t *taker) problem(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Problems = append(t.report.Problems, fmt.Sprintf(format, args...))
}

func (t *taker) count(entries, objects int, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Entries, t.report.Objects, t.report.Bytes = t.report.Entries+entries, t.report.Objects+objects, t.report.Bytes+bytes
}

// fatal reports whether an error ends the backup: nobody answers, or the disk does not take it. Others are
// about one journal.
func fatal(err error) bool {
	for _, one := range []error{journal.ErrGap, journal.ErrChain, journal.ErrDamaged, journal.ErrVersion, ErrLess, ErrMissing, ErrDamaged,
		engine.ErrNotFound, engine.ErrDiffers, names.ErrDiverged} {
		if errors.Is(err, one) {
			return false
		}
	}
	return err != nil
}

// owner copies what an owner has. The names come before the sessions and again behind them: only a session
// that they have then counts, and each of these was copied.
func (t *taker) owner(ctx context.Context, name string) (owner, error) {
	was := t.was.owner(name)
	o := owner{Owner: name, Names: was.Names}
	s := engine.Subject{Owner: name}
	get := func(ctx context.Context, object string) ([]byte, error) {
		return t.c.Objects().Get(ctx, engine.Key{Owner: name, Name: object}, 0, -1)
	}
	done := map[string]saved{}
	var state *names.State
	for round := 0; ; round++ {
		begin := func(ctx context.Context, first engine.Entry) (journal.Position, error) {
			st, err := beginOfNames(ctx, s, first, get)
			if err != nil {
				return journal.Position{}, err
			}
			return st.At(), nil
		}
		next, err := t.journal(ctx, s, o.Names, begin)
		if err == nil {
			if state, err = t.d.state(ctx, s, next, get); err == nil {
				o.Names = next
			}
		}
		if fatal(err) {
			return o, err
		}
		if err != nil { // what the backup before has is whole
			t.problem("names of %s: %v", name, err)
			return was, nil
		}
		var open []names.Session
		for _, x := range state.Sessions("") {
			if _, ok := done[x.ID]; !ok {
				open = append(open, x)
			}
		}
		if len(open) == 0 || round == maxRounds {
			break
		}
		if err := t.sessions(ctx, was, open, get, done); err != nil {
			return o, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(done)) {
		if _, ok := state.SessionByID(id); ok {
			one := done[id]
			one.ID = id
			o.Sessions = append(o.Sessions, one)
		}
	}
	return o, t.objects(ctx, &o, was)
}

// sessions copies the journals of sessions into done.
func (t *taker) sessions(ctx context.Context, was owner, open []names.Session, get getter, done map[string]saved) error {
	return each(ctx, journalsAtOnce, open, func(ctx context.Context, x names.Session) error {
		s := engine.Subject{Owner: was.Owner, Session: x.ID}
		before, _ := was.session(x.ID)
		next, err := t.journal(ctx, s, before, func(ctx context.Context, first engine.Entry) (journal.Position, error) {
			return beginOfSession(ctx, s, first, x.Parked, get)
		})
		if errors.Is(err, ErrLess) && x.Parked.I >= before.I {
			next, err = saved{}, nil // all of it lies in the snapshot in which it is parked
		}
		if fatal(err) {
			return err
		}
		if err != nil {
			t.problem("session %s: %v", x.Ref.Path(), err)
			next = before
			next.Problem = err.Error()
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		done[x.ID] = next
		return nil
	})
}

// journal copies what a journal has behind was.
func (t *taker) journal(ctx context.Context, s engine.Subject, was saved, begin func(context.Context, engine.Entry) (journal.Position, error)) (saved, error) {
	r := &reader{d: t.d, c: t.c, s: s, begin: begin}
	next, err := r.read(ctx, was)
	if err == nil {
		var bytes int64
		for _, c := range next.Chunks {
			if c.First >= was.I {
				bytes += c.Size
			}
		}
		t.count(r.added, 0, bytes)
	}
	return next, err
}

// objects copies the objects that an owner has, but for those that the backup before has.
func (t *taker) objects(ctx context.Context, o *owner, was owner) error {
	listed, err := t.c.Objects().List(ctx, o.Owner, "")
	if err != nil {
		return err
	}
	known := map[string]object{}
	if was.Objects != "" {
		data, err := t.d.read(listPath(was.Objects), was.Objects)
		if err == nil {
			var list []object
			list, err = decodeList(data)
			for _, x := range list {
				known[x.name] = x
			}
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	var mu sync.Mutex
	var list []object
	err = each(ctx, objectsAtOnce, listed, func(ctx context.Context, name string) error {
		x, err := t.object(ctx, o.Owner, name, known[name])
		if errors.Is(err, engine.ErrNotFound) {
			return nil // collected since it was listed: nothing has named it for days
		}
		if err != nil && !fatal(err) || errors.Is(err, engine.ErrInvalid) {
			t.problem("object %s of %s: %v", name, o.Owner, err)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		list = append(list, x)
		o.Count, o.Bytes = o.Count+1, o.Bytes+x.size
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b object) int { return strings.Compare(a.name, b.name) })
	data := encodeList(list)
	o.Objects = hashOf(data)
	_, err = t.d.write(listPath(o.Objects), data)
	return err
}

// object copies an object unless it is known and there.
func (t *taker) object(ctx context.Context, owner, name string, known object) (object, error) {
	x := object{name: name}
	file, err := x.path(owner)
	if err != nil {
		return x, err
	}
	if known.name == name {
		if fi, err := os.Lstat(t.d.file(file)); err == nil && fi.Mode().IsRegular() && fi.Size() == known.size {
			return known, nil
		}
	}
	data, err := t.c.Objects().Get(ctx, engine.Key{Owner: owner, Name: name}, 0, -1)
	if err != nil {
		return x, err
	}
	x.size, x.sha = int64(len(data)), hashOf(data)
	if !strings.HasSuffix(name, x.sha) {
		return x, fmt.Errorf("%w: it has the hash %s", engine.ErrDiffers, x.sha)
	}
	fresh, err := t.d.write(file, data)
	if err == nil && fresh {
		t.count(0, 1, x.size)
	}
	return x, err
}
