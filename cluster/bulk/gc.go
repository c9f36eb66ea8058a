package bulk

import (
	"bytes"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/journal"
)

// KeepFor is how long an object stays that nothing names any more. An object that was put, and whose
// entry is not committed yet, is such a one, too.
const KeepFor = 7 * 24 * time.Hour

// Named is the objects of an owner that must stay: those that snapshots and the rows behind them name.
// Its zero value names none.
type Named struct{ names map[Name]struct{} }

// Add names objects.
func (n *Named) Add(names ...Name) {
	if n.names == nil {
		n.names = map[Name]struct{}{}
	}
	for _, name := range names {
		n.names[name] = struct{}{}
	}
}

// AddSnapshot names a snapshot and all that it names.
func (n *Named) AddSnapshot(saved Saved, snap *Snapshot) {
	n.Add(saved.Name(snap.Session))
	for _, o := range snap.Objects() {
		n.Add(o.Name)
	}
}

// AddRow names what a row of a session's journal names: a part, a snapshot (what that names is for
// AddSnapshot), and the content that stands elsewhere than in its body. A blob or a file that is named
// by the content of a row is for Add. AddRow returns the errors of [ParsePart] and [ParseSaved]: then
// it is not known what may go.
func (n *Named) AddRow(session string, r journal.Row) error {
	switch r.Kind {
	case journal.Part:
		p, err := ParsePart(r.Content)
		if err != nil {
			return err
		}
		for _, o := range p.Objects(session) {
			n.Add(o.Name)
		}
	case journal.Snapshot:
		saved, err := ParseSaved(r.Content)
		if err != nil {
			return err
		}
		n.Add(saved.Name(session))
	}
	if ref, err := ParseRef(r.Body); err == nil { // a body that only looks like one keeps an object, and does no harm
		n.Add(BlobName(ref.SHA))
	}
	return nil
}

// Has reports whether an object is named.
func (n *Named) Has(name Name) bool {
	_, ok := n.names[name]
	return ok
}

// Unnamed is since when objects were found to be named by nothing. A collector keeps it from one look
// to the next: an object store does not tell how old an object is.
type Unnamed map[Name]time.Time

// Plan returns the objects that may go, in the order of their names, and what the next look is to
// know. listed is all names of the owner's objects, read before the journals of that owner were,
// all of them, into named. An object may go if it was found unnamed at each look of the last keep,
// normally [KeepFor]. What has no name of this package stays.
func (u Unnamed) Plan(keep time.Duration, listed []string, named *Named, now time.Time) (due []Name, next Unnamed) {
	next = Unnamed{}
	for _, text := range listed {
		name, err := ParseName(text)
		if err != nil || named.Has(name) {
			continue
		}
		since, ok := u[name]
		if !ok || since.After(now) {
			since = now
		}
		next[name] = since
		if now.Sub(since) >= keep {
			due = append(due, name)
		}
	}
	slices.SortFunc(due, compareNames)
	return due, next
}

func compareNames(a, b Name) int { return strings.Compare(a.String(), b.String()) }

// Sweep deletes objects that are due, each once confirm has looked for it in the ends of the journals
// again and returned true. It returns those that are gone, and stops at the first error of confirm or
// of the store.
func (s *Store) Sweep(ctx context.Context, due []Name, confirm func(Name) (bool, error)) (gone []Name, err error) {
	for _, n := range due {
		ok, err := confirm(n)
		if err == nil && ok {
			if err = s.objects.Delete(ctx, s.key(n)); err == nil {
				gone = append(gone, n)
			}
		}
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}

const unnamedMagic = "ctxfs unnamed objects\n"

// Encode returns u as bytes to be kept. Equal ones have equal bytes.
func (u Unnamed) Encode() []byte {
	b := append([]byte(unnamedMagic), version)
	b = appendNumber(b, uint64(len(u)))
	for _, name := range slices.SortedFunc(maps.Keys(u), compareNames) {
		b = appendNumber(appendBytes(b, name.String()), uint64(max(0, u[name].UnixNano())))
	}
	return b
}

// ParseUnnamed returns what [Unnamed.Encode] wrote. It returns [ErrDamaged] for any other bytes, and
// journal.ErrVersion for those of a later version.
func ParseUnnamed(b []byte) (Unnamed, error) {
	d := decode("a list of unnamed objects", unnamedMagic, b)
	u := Unnamed{}
	var last []byte
	d.each(func(int) {
		text := d.bytes()
		name, err := ParseName(string(text))
		d.want(err == nil && bytes.Compare(last, text) < 0, "object %q", text)
		u[name] = time.Unix(0, int64(d.number(math.MaxInt64)))
		last = text
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	return u, nil
}
