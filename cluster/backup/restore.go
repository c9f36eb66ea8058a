package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// ErrNotEmpty is the error of a cluster that has something else than the backup.
var ErrNotEmpty = errors.New("the cluster has journals that are not those of the backup; restore into a new cluster")

// restorer puts one backup into a cluster.
type restorer struct {
	taker // for its report
	m     *manifest
	lists map[string][]object // by owner
}

// Restore puts a backup, 0 the newest one, into a cluster whose streams were just made, or into which the
// same backup was put in part. Each file is held against its hash before it is put. It returns ErrNotEmpty if
// the cluster has other journals, ErrDamaged if the backup is (see Verify), ErrNoBackup, the error of the disk, and those of an
// engine; then it may be run again. The cluster is not to be used by hosts before Restore has returned.
func Restore(ctx context.Context, dir string, number int, c Cluster) (*Report, error) {
	began := time.Now()
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	m, err := d.manifest(number)
	if err != nil {
		return nil, err
	}
	r := &restorer{taker: taker{d: d, c: c}, m: m, lists: map[string][]object{}}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	for i := range m.Owners {
		if err := r.owner(ctx, &m.Owners[i]); err != nil {
			return nil, err
		}
	}
	for _, o := range m.Owners {
		if err := r.journal(ctx, engine.Subject{Owner: o.Owner}, o.Names); err != nil {
			return nil, err
		}
	}
	return r.done(m, began), nil
}

// look returns ErrNotEmpty if the cluster has an owner whom the backup does not have, or has otherwise. It
// also reads the backup as far as that costs little, so that what is damaged is found before anything is put.
func (r *restorer) look(ctx context.Context) error {
	owners, err := r.c.Owners(ctx)
	if err != nil {
		return err
	}
	for _, name := range owners {
		o := r.m.owner(name)
		if o.Names.Seq == 0 {
			return fmt.Errorf("%w: %s", ErrNotEmpty, name)
		}
		if _, err := r.present(ctx, engine.Subject{Owner: name}, o.Names); err != nil {
			return err
		}
	}
	for i := range r.m.Owners {
		o := &r.m.Owners[i]
		list, err := r.d.list(o)
		if err != nil {
			return err
		}
		r.lists[o.Owner] = list
		if _, err := r.d.state(ctx, engine.Subject{Owner: o.Owner}, o.Names, r.d.getter(o.Owner, list)); err != nil {
			return err
		}
	}
	return nil
}

// owner puts the objects of an owner, and the journals of his sessions.
func (r *restorer) owner(ctx context.Context, o *owner) error {
	if err := r.objects(ctx, o, func(err error) error { return err }); err != nil {
		return err
	}
	return each(ctx, journalsAtOnce, o.Sessions, func(ctx context.Context, of saved) error {
		r.mu.Lock()
		r.report.Sessions++
		r.mu.Unlock()
		return r.journal(ctx, engine.Subject{Owner: o.Owner, Session: of.ID}, of)
	})
}

// objects puts the objects of an owner. failed is called with what went wrong with one, and returns the error with which objects
// ends, or nil if it goes on.
func (r *restorer) objects(ctx context.Context, o *owner, failed func(err error) error) error {
	list := r.lists[o.Owner]
	get := r.d.getter(o.Owner, list)
	return each(ctx, objectsAtOnce, list, func(ctx context.Context, x object) error {
		data, err := get(ctx, x.name)
		if err == nil {
			err = r.insist(ctx, func() error { return r.c.Objects().Put(ctx, engine.Key{Owner: o.Owner, Name: x.name}, data) })
		}
		if err != nil {
			return failed(fmt.Errorf("object %s of %s: %w", x.name, o.Owner, err))
		}
		r.count(0, 1, x.size)
		return nil
	})
}

// tries is how often something is tried that the cluster could not answer.
const tries = 20

// insist calls f until it returns another error than one of a cluster that could not answer.
func (r *restorer) insist(ctx context.Context, f func() error) (err error) {
	for n := range tries {
		if err = f(); !errors.Is(err, engine.ErrUnreachable) && !errors.Is(err, engine.ErrUnknown) && !errors.Is(err, engine.ErrBusy) {
			return err
		}
		wait := time.NewTimer(min(time.Duration(n)*10*time.Millisecond, time.Second))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
	return err
}

// present returns the entries that the cluster has of a journal. It returns ErrNotEmpty unless the backup
// begins with them.
func (r *restorer) present(ctx context.Context, s engine.Subject, of saved) (have []engine.Entry, err error) {
	var end engine.Entry
	if err := r.insist(ctx, func() (err error) { end, err = r.c.Last(ctx, s, true); return err }); err != nil {
		return nil, err
	}
	for last := uint64(0); last < end.Seq; {
		list, err := r.c.Read(ctx, s, engine.Range{From: last + 1, Leader: true})
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%w: %s", ErrMissing, s)
		}
		have, last = append(have, list...), list[len(list)-1].Seq
	}
	n := 0
	if len(have) > 0 {
		err = r.d.entries(s, of, func(_ uint64, e engine.Entry) error {
			if n++; n <= len(have) && !alike(have[n-1], e) {
				return fmt.Errorf("%w: entry at %d of %s", ErrNotEmpty, have[n-1].Seq, s)
			}
			return nil
		})
	}
	if err == nil && n < len(have) {
		err = fmt.Errorf("%w: %s has %d entries", ErrNotEmpty, s, len(have))
	}
	return have, err
}

// alike reports whether two entries say the same: their ids are those of attempts.
func alike(a, b engine.Entry) bool {
	return a.ID != "" && maps.Equal(a.Header, b.Header) && slices.Equal(a.Payload, b.Payload)
}

// journal appends what a backup has of a journal and the cluster has not, and looks whether it ends there.
func (r *restorer) journal(ctx context.Context, s engine.Subject, of saved) error {
	have, err := r.present(ctx, s, of)
	if err != nil {
		return err
	}
	last, n := uint64(0), 0
	if len(have) > 0 {
		last = have[len(have)-1].Seq
	}
	err = r.d.entries(s, of, func(i uint64, e engine.Entry) (err error) {
		if n++; n > len(have) {
			last, err = r.append(ctx, s, last, e)
			r.count(1, 0, int64(len(e.Payload)))
		}
		if err != nil {
			err = fmt.Errorf("entry %d of %s: %w", i, s, err)
		}
		return err
	})
	if err != nil || n == 0 {
		return err
	}
	at, err := of.at()
	if err != nil {
		return err
	}
	var end engine.Entry
	if err := r.insist(ctx, func() (err error) { end, err = r.c.Last(ctx, s, true); return err }); err != nil {
		return err
	}
	if end.Seq != last || !at.Ends(end) {
		return fmt.Errorf("%w: %s does not end with entry %d once it was put; is the cluster used already?", ErrNotEmpty, s, of.I)
	}
	return nil
}

// append appends an entry behind another one and returns its sequence. Its id stays, unless that is
// taken: it tells attempts apart and nothing else.
func (r *restorer) append(ctx context.Context, s engine.Subject, last uint64, e engine.Entry) (seq uint64, err error) {
	id := e.ID
	err = r.insist(ctx, func() (err error) {
		seq, err = r.c.Append(ctx, s, last, id, e.Header, e.Payload)
		if errors.Is(err, engine.ErrIDTaken) {
			id = "restore-" + strings.ToLower(rand.Text())
			return fmt.Errorf("%w: %w", engine.ErrBusy, err)
		}
		c, ok := errors.AsType[*engine.Conflict](err)
		if !ok {
			return err
		}
		if c.Last <= last { // who answers knows less than what was acknowledged
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
		end, err := r.c.Last(ctx, s, true) // perhaps an earlier attempt has arrived
		if err == nil && !alike(end, e) {
			err = fmt.Errorf("%w: entry at %d of %s", ErrNotEmpty, end.Seq, s)
		}
		seq = end.Seq
		return err
	})
	return seq, err
}
