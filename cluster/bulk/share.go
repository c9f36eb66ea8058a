package bulk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// Sizes of shared parts. They are variables for tests that cannot afford large records.
var (
	// stride is how many bytes of a part are fetched at once, from a multiple of it on: engines keep objects in pieces of
	// that size and send whole ones, and who reads a frame reads its neighbours soon.
	stride int64 = engine.MaxPayload

	partMost    int64 = 16 << 20                  // bytes of records, at most, but for one commit that is longer
	frameTarget       = log.DefaultLimits().Frame // bytes of records in a frame, about: what a read fetches
)

// Share puts the records of a log of x behind the parts that are shared already among the objects, as
// one more part, with its index. It returns nil if there are none, and no more than the first 16 MiB
// of them, in whole commits. Which parts a host has sealed itself does not matter, and the same records
// give the same objects. Share returns [ErrDamaged] if the log's rows do not announce what it holds,
// the error of a log that cannot be read, and those of [Store.Put].
func (s *Store) Share(ctx context.Context, x *session.Session, l *log.Log, shared []Part) (*Part, error) {
	r, err := readBehind(x, l, shared, partMost)
	if err != nil || len(r.data) == 0 {
		return nil, err
	}
	p := &Part{Log: l.Name(), Off: r.off, Size: int64(len(r.data)), Chain: journal.Hash(r.chain.Value)}
	m := &archive.Meta{Log: p.Log, Session: x.ID(), Off: p.Off, Chain: hex.EncodeToString(p.Chain[:])}
	var file bytes.Buffer
	if err := archive.Write(&file, r, p.Off, p.End(), frameTarget, m, ctx.Err); err != nil {
		return nil, err
	}
	trailer := m.Trailer()
	if err := unpacks(file.Bytes()[:file.Len()-len(trailer)], m, r.data); err != nil {
		return nil, err
	}
	first := 1
	for i := range shared {
		first += shared[i].Records
	}
	index, counts, err := l.CacheSlices(first, first+m.Records-1)
	if err != nil {
		return nil, err
	}
	beside := (&Index{Rows: r.rows, Index: index, Counts: counts, Trailer: trailer}).object()
	p.Records, p.SHA = m.Records, sha256.Sum256(r.data)
	p.Sums, _ = hex.DecodeString(m.Sums())
	p.File, p.Trailer, p.Index = RefOf(file.Bytes()), RefOf(trailer), RefOf(beside)
	if err := s.Put(ctx, p.IndexName(x.ID()), beside); err != nil {
		return nil, err
	}
	if err := s.Put(ctx, p.Name(x.ID()), file.Bytes()); err != nil {
		return nil, err
	}
	return p, nil
}

// unpacks returns an error unless the frames of a part, which were just packed, hold data.
func unpacks(packed []byte, m *archive.Meta, data []byte) error {
	for i := range m.Frames {
		f := &m.Frames[i]
		raw, err := f.Inflate(packed[:f.Packed])
		if err == nil && !bytes.Equal(raw, data[:f.Raw]) {
			err = errors.New("it holds other bytes")
		}
		if err != nil {
			return fmt.Errorf("frame %d was packed wrong: %w", i+1, err)
		}
		packed, data = packed[f.Packed:], data[f.Raw:]
	}
	return nil
}

// stretch is commits of a log: their records and rows, which were held against each other.
type stretch struct {
	off   int64
	data  []byte
	rows  []byte
	chain arrival.Chain // behind them
}

// readBehind reads what a log has behind shared parts: as many commits as have up to most bytes, and one
// at least. It returns engine.ErrTooLarge if they have more than an object can hold, [ErrDamaged] if rows and records do not fit, and the errors of the log.
func readBehind(x *session.Session, l *log.Log, shared []Part, most int64) (*stretch, error) {
	r := &stretch{chain: arrival.ChainFrom(x.ID(), l.Name())}
	if n := len(shared); n > 0 {
		r.off = shared[n-1].End()
		r.chain = behind(&shared[n-1])
	}
	rows, end, err := l.RowsBehind(r.off, most)
	if err != nil {
		return nil, err
	}
	if end-r.off > engine.MaxObject {
		return nil, fmt.Errorf("%w: %d bytes of %s; share them first", engine.ErrTooLarge, end-r.off, l.Name())
	}
	r.rows, r.data = rows, make([]byte, end-r.off)
	if err := vfs.ReadFull(l, r.data, r.off); err != nil {
		return nil, err
	}
	if r.chain, err = follow(r.chain, r.rows, end, r.data); err != nil {
		return nil, fmt.Errorf("%s: %w (see ctxfs verify)", l.Name(), err)
	}
	return r, nil
}

// ReadAt implements io.ReaderAt for the bytes that were read, at their places in the log.
func (r *stretch) ReadAt(b []byte, off int64) (int, error) {
	if off < r.off || off > r.off+int64(len(r.data)) {
		return 0, io.EOF
	}
	n := copy(b, r.data[off-r.off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
