package bulk

import (
	"errors"
	"math"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Shared is what the entries of a session's journal, up to a position, say of its parts and snapshots:
// it is the same on every host that has read them.
type Shared struct {
	Parts [2][]Part // of messages and events
	Saved Saved     // the last snapshot; Object.Size is 0 if there is none
	Bytes int64     // that both logs had at that snapshot
}

// Base returns where the shared parts of a log end; 0 is that of messages.
func (s *Shared) Base(log int) int64 {
	if n := len(s.Parts[log]); n > 0 {
		return s.Parts[log][n-1].End()
	}
	return 0
}

// Add adds a part that the journal of x names, once x has all of its records. It returns false, and
// changes nothing, if the part does not begin where the one before it ends, or has another chain than
// the rows of x: so that of two hosts that share the same records the first counts, and a part of other
// records none. It returns the errors of a log that cannot be read.
func (s *Shared) Add(x *session.Session, p Part) (ok bool, err error) {
	n, l := LogNumber(p.Log), x.Messages()
	if n == 1 {
		l = x.Events()
	}
	if p.Off != s.Base(n) || p.End() > l.Len() {
		return false, nil
	}
	rows, end, err := l.RowsBehind(p.Off, p.Size)
	if err != nil && !errors.Is(err, ctxabi.ErrMalformed) {
		return false, err
	}
	if err != nil || end != p.End() {
		return false, nil
	}
	chain := arrival.ChainFrom(x.ID(), l.Name())
	if k := len(s.Parts[n]); k > 0 {
		chain = arrival.Chain{Value: arrival.Hash(s.Parts[n][k-1].Chain), Next: p.Off, Known: true}
	}
	if chain, err = follow(chain, rows, end, nil); err != nil || journal.Hash(chain.Value) != p.Chain {
		return false, nil
	}
	s.Parts[n] = append(s.Parts[n], p)
	return true, nil
}

// LogNumber returns the number of a log in [Shared] and [Snapshot].
func LogNumber(name string) int {
	if name == logNumbers[1] {
		return 1
	}
	return 0
}

// SharedIn returns what a host knows of a session that it takes from a snapshot.
func SharedIn(saved Saved, snap *Snapshot) *Shared {
	s := &Shared{Saved: saved, Bytes: snap.Logs[0].Size + snap.Logs[1].Size}
	for i := range s.Parts {
		s.Parts[i] = snap.Logs[i].Parts
	}
	return s
}

const sharedMagic = "ctxfs shared parts\n"

// Encode returns s as bytes to be kept. Equal ones have equal bytes.
func (s *Shared) Encode() []byte {
	b := append([]byte(sharedMagic), version)
	for i := range s.Parts {
		b = appendNumber(b, uint64(len(s.Parts[i])))
		for k := range s.Parts[i] {
			b = s.Parts[i][k].append(b)
		}
	}
	b = append(appendNumber(b, s.Saved.At.I), s.Saved.At.Chain[:]...)
	return appendNumber(appendRef(b, s.Saved.Object), uint64(s.Bytes))
}

// ParseShared returns what [Shared.Encode] wrote. It returns [ErrDamaged] for any other bytes, and
// journal.ErrVersion for those of a later version.
func ParseShared(b []byte) (*Shared, error) {
	d := decode("a list of shared parts", sharedMagic, b)
	s := new(Shared)
	for i := range s.Parts {
		d.each(func(int) {
			end := s.Base(i)
			p := d.part()
			d.want(p.Log == logNumbers[i] && p.Off == end, "a part at byte %d does not follow the one before it", p.Off)
			s.Parts[i] = append(s.Parts[i], p)
		})
	}
	s.Saved = Saved{At: journal.Position{I: d.number(math.MaxUint64), Chain: d.hash()}, Object: d.ref()}
	s.Bytes = d.size()
	if err := d.end(); err != nil {
		return nil, err
	}
	return s, nil
}
