package scrub

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// hash is a part of a SHA-256 value, long enough for two entries of one sequence.
type hash [12]byte

// digest is what a server has of a stretch, by sequence.
type digest map[uint64]seen

// seen is an entry that was read.
type seen struct {
	sum     hash
	subject engine.Subject // set if wrong is
	wrong   error          // why it does not continue its journal
}

// chains is how far the journals of a stream were read from a server.
type chains struct {
	at     map[engine.Subject]journal.Position
	before map[engine.Subject]journal.Position // those that have changed in the last stretch; the zero one: was none
}

// begin begins a stretch.
func (c *chains) begin() { c.before = map[engine.Subject]journal.Position{} }

// back undoes the last stretch.
func (c *chains) back() {
	for s, p := range c.before {
		if c.at[s] = p; p == (journal.Position{}) {
			delete(c.at, s)
		}
	}
}

// take takes an entry of a journal, and returns why it does not continue it.
func (c *chains) take(s engine.Subject, e engine.Entry) error {
	at, known := c.at[s]
	if _, ok := c.before[s]; !ok {
		c.before[s] = at
	}
	if !known {
		at = journal.Start(s)
	}
	_, next, err := journal.Open(at, e)
	if err == nil {
		c.at[s] = next
		return nil
	}
	behind, bad := journal.Behind(e)
	if bad != nil { // what comes next is held against what came before
		return err
	}
	c.at[s] = behind
	if !known && errors.Is(err, journal.ErrGap) { // the beginning was trimmed
		return nil
	}
	return err
}

// read reads a stretch of a stream from a server.
func read(ctx context.Context, r Replicas, server, stream string, from, to uint64, c *chains, sum *Sum) (digest, error) {
	d := digest{}
	c.begin()
	err := r.Stretch(ctx, server, stream, from, to, func(s engine.Subject, e engine.Entry) {
		x := seen{sum: hashOf(s, e)}
		if s != (engine.Subject{}) && e.ID != "" {
			if x.wrong = c.take(s, e); x.wrong != nil {
				x.subject = s
			}
		}
		d[e.Seq] = x
		sum.Entries++
		sum.Bytes += int64(len(e.Payload))
	})
	return d, err
}

// hashOf returns a hash of all that an entry has.
func hashOf(s engine.Subject, e engine.Entry) (sum hash) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d\n", s.Owner, s.Session, e.ID, len(e.Payload))
	for _, name := range slices.Sorted(maps.Keys(e.Header)) {
		fmt.Fprintf(h, "%q %q\n", name, e.Header[name])
	}
	h.Write(e.Payload)
	copy(sum[:], h.Sum(nil))
	return sum
}
