package backup

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/cluster/rows"
)

// verifier holds a backup against its hashes.
type verifier struct {
	taker // for its report
	m     *manifest
}

// Verify reads a backup whole, 0 the newest one: its files against their hashes, entries against their
// chain, and the objects that entries and names need. The report has a sentence for each defect. It
// returns ErrNoBackup, ErrDamaged if the backup itself cannot be read, journal.ErrVersion, and the error of
// the disk.
func Verify(ctx context.Context, dir string, number int) (*Report, error) {
	began := time.Now()
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	m, err := d.manifest(number)
	if err != nil {
		return nil, err
	}
	v := &verifier{taker: taker{d: d}, m: m}
	for i := range m.Owners {
		if err := v.owner(ctx, &m.Owners[i]); err != nil {
			return nil, err
		}
	}
	return v.done(m, began), nil
}

// owner looks at what a backup has of an owner. It returns the error of ctx.
func (v *verifier) owner(ctx context.Context, o *owner) error {
	list, err := v.d.list(o)
	if err != nil {
		v.problem("objects of %s: %v", o.Owner, err)
	}
	there := map[string]bool{}
	for _, x := range list {
		there[x.name] = true
	}
	if err := each(ctx, objectsAtOnce, list, func(_ context.Context, x object) error {
		file, err := x.path(o.Owner)
		if err == nil {
			err = v.d.check(file, x.sha, x.size)
		}
		if err != nil {
			v.problem("object %s of %s: %v", x.name, o.Owner, err)
		}
		v.count(0, 1, x.size)
		return nil
	}); err != nil {
		return err
	}
	get := v.d.getter(o.Owner, list)
	need := func(s engine.Subject, name string) {
		if !there[name] {
			v.problem("%s needs the object %s, which is not there", s, name)
		}
	}
	s := engine.Subject{Owner: o.Owner}
	state, err := v.d.state(ctx, s, o.Names, get)
	if err != nil {
		v.problem("names of %s: %v", o.Owner, err)
		return ctx.Err()
	}
	v.count(o.Names.entries(), 0, o.Names.bytes())
	for _, name := range state.Paths() {
		if n, _ := state.Node(name); n.Kind == names.Regular {
			need(s, names.ContentKey(s, n.Hash).Name)
		}
	}
	return each(ctx, journalsAtOnce, state.Sessions(""), func(ctx context.Context, x names.Session) error {
		v.session(ctx, o, x, get, need)
		return nil
	})
}

// session looks at what a backup has of a session.
func (v *verifier) session(ctx context.Context, o *owner, x names.Session, get getter, need func(s engine.Subject, name string)) {
	s := engine.Subject{Owner: o.Owner, Session: x.ID}
	of, ok := o.session(x.ID)
	if !ok {
		v.problem("session %s is not in the backup", x.Ref.Path())
		return
	}
	if of.Problem != "" {
		v.problem("session %s has less than the cluster had: %s", x.Ref.Path(), of.Problem)
	}
	err := v.d.follow(ctx, s, of, x.Parked, get, func(e journal.Entry) error { return needs(ctx, e, s, get, need) })
	if err == nil && of.I == 0 && x.Parked.I > 0 {
		var snap *bulk.Snapshot
		if snap, err = loadParked(ctx, s, x.Parked, get); err == nil {
			needsOf(snap, s, need)
		}
	}
	if err != nil {
		v.problem("session %s: %v", x.Ref.Path(), err)
	}
	v.mu.Lock()
	v.report.Sessions++
	v.mu.Unlock()
	v.count(of.entries(), 0, of.bytes())
}

// follow calls f for the entries of a journal, once each was held against the chain. It returns ErrDamaged if
// the journal does not end where the backup promises, the errors of journal.Open, of get and of f.
func (d *directory) follow(ctx context.Context, s engine.Subject, of saved, parked names.Parked, get getter, f func(e journal.Entry) error) error {
	at := journal.Start(s)
	err := d.entries(s, of, func(i uint64, e engine.Entry) (err error) {
		if i == of.First && i > 0 {
			if at, err = beginOfSession(ctx, s, e, parked, get); err != nil {
				return err
			}
		}
		opened, next, err := journal.Open(at, e)
		if err != nil {
			return err
		}
		at = next
		return f(opened)
	})
	if err != nil {
		return err
	}
	if end, err := of.at(); of.Seq > 0 && (err != nil || end != at) {
		return fmt.Errorf("%w: %s ends at entry %d, not %d", ErrDamaged, s, at.I, of.I)
	}
	return nil
}

// needs calls need for the objects without which an entry of a session is worth nothing. It returns the error of a
// row that cannot be read, and that of get for a snapshot.
func needs(ctx context.Context, e journal.Entry, s engine.Subject, get getter, need func(s engine.Subject, name string)) error {
	for i := range e.Rows {
		r := &e.Rows[i]
		switch r.Kind {
		case journal.Part:
			p, err := bulk.ParsePart(r.Content)
			if err != nil {
				return err
			}
			for _, o := range p.Objects(s.Session) {
				need(s, o.Name.String())
			}
		case journal.Snapshot:
			saved, err := bulk.ParseSaved(r.Content)
			if err != nil {
				return err
			}
			name := saved.Name(s.Session).String()
			data, err := get(ctx, name)
			if err != nil {
				return err
			}
			snap, err := bulk.ParseSnapshot(data)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			needsOf(snap, s, need)
		default:
			sum, err := rows.Needs(r)
			if err != nil {
				return err
			}
			if sum != nil {
				need(s, bulk.BlobName(*sum).String())
			}
		}
	}
	return nil
}

// needsOf calls need for the objects that a snapshot names.
func needsOf(snap *bulk.Snapshot, s engine.Subject, need func(s engine.Subject, name string)) {
	for _, one := range snap.Objects() {
		need(s, one.Name.String())
	}
}

// bytes returns how many bytes the files of the journal have.
func (s *saved) bytes() (n int64) {
	for _, c := range s.Chunks {
		n += c.Size
	}
	return n
}

// list returns the objects that an owner had. It returns ErrDamaged if the list is not there, or another one.
func (d *directory) list(o *owner) ([]object, error) {
	if o.Objects == "" {
		return nil, nil
	}
	data, err := d.read(filepath.ToSlash(listPath(o.Objects)), o.Objects)
	if err != nil {
		return nil, err
	}
	return decodeList(data)
}

// getter returns what returns the objects of an owner from the directory, each held against its hash.
func (d *directory) getter(owner string, list []object) getter {
	known := map[string]object{}
	for _, x := range list {
		known[x.name] = x
	}
	return func(_ context.Context, name string) ([]byte, error) {
		x, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("%w: object %s of %s is not in it", ErrDamaged, name, owner)
		}
		file, err := x.path(owner)
		if err != nil {
			return nil, err
		}
		return d.read(file, x.sha)
	}
}
