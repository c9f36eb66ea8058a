package log

import (
	"errors"
	"hash/crc32"
	"runtime"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
)

// scanBlock is how many bytes of records one processor scans at a time, and what that takes of
// memory, about.
const (
	scanBlock    = 1 << 20
	bytesOfBlock = 4 << 20
)

// roomFor is for how many rows memory is asked for at a time.
const roomFor = 8 * chunkRows

// block is a run of records and, once scanned, what was found.
type block struct {
	buf   []byte
	scans []scan
	ends  []int // of each record in buf; a record longer than any may be has no bytes there
}

func (b *block) add(off, length int64, line []byte) {
	b.buf = append(b.buf, line...)
	b.scans = append(b.scans, scan{off: off, length: length})
	b.ends = append(b.ends, len(b.buf))
}

// scan fills in the scans.
func (b *block) scan(one func([]byte) scan) {
	start := 0
	for i, end := range b.ends {
		line := b.buf[start:end]
		start = end
		s := &b.scans[i]
		off, length := s.off, s.length
		if int64(len(line)) == length {
			*s = one(line)
			s.crc = crc32.Checksum(line, vfs.Castagnoli)
		} else {
			s.flags, s.weight = ctxabi.Damaged, int(length/3)
		}
		s.off, s.length = off, length
	}
}

// extend indexes what the log has behind x.size, up to end. Records are
// scanned by all processors, a block each, and entered in order.
func (x *logIndex) extend(f *logFiles, end int64) error {
	l := x.log
	one := x.scanner()
	var rows *arrivalWalk
	if l.events != nil {
		var err error
		if rows, err = x.arrivalsFrom(f); err != nil {
			return err
		}
	}
	data := &archive.StandIns{Data: f.data}
	blocks := make([]block, max(1, min(runtime.GOMAXPROCS(0), l.set.memory.Share(1<<30)/bytesOfBlock)))
	filling := 0
	enter := func() error {
		var wg sync.WaitGroup
		for i := 1; i <= filling && len(blocks[i].scans) > 0; i++ {
			wg.Go(func() { blocks[i].scan(one) })
		}
		blocks[0].scan(one)
		wg.Wait()
		for i := range blocks[:filling+1] {
			if err := x.enter(blocks[i].scans, rows); err != nil {
				return err
			}
			blocks[i] = block{buf: blocks[i].buf[:0], scans: blocks[i].scans[:0], ends: blocks[i].ends[:0]}
		}
		filling = 0
		if x.n-x.saved >= saveMost && !data.Used {
			x.saveLocked() // who is interrupted goes on there
		}
		return nil
	}
	var failed error
	defer func() { x.guessed = x.guessed || data.Used }()
	err := vfs.ScanLines(data, x.size, end, func(off, length int64, line []byte, whole bool) bool {
		if length > 1<<31-1 || !whole {
			failed = ctxabi.E("index", l.name, ctxabi.ErrIO, "the log does not end in a newline, or has a line of more than 2 GiB")
			return false
		}
		blocks[filling].add(off, length, line)
		if len(blocks[filling].buf) < scanBlock {
			return true
		}
		if failed = x.stopped(); failed != nil {
			return false
		}
		if filling++; filling == len(blocks) {
			filling--
			failed = enter()
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return enter()
}

// enter adds scanned records to the index.
func (x *logIndex) enter(scans []scan, rows *arrivalWalk) error {
	for i := range scans {
		if x.n%roomFor == 0 && !x.aside {
			release, err := x.reserve(roomFor)
			if err != nil {
				return err
			}
			release() // they are made one chunk after another
		}
		s := &scans[i]
		r := row{off: s.off, len: int32(s.length), weight: int32(s.weight), crc: s.crc, role: s.role, flags: s.flags, events: int64(s.id)}
		if rows != nil {
			var err error
			if r.events, err = rows.eventsAt(s.off); err != nil {
				return err
			}
		}
		if s.answers != "" {
			x.calls.fill(x)
			r.callOf = x.calls.find(x.n+1, s.answers)
		}
		x.calls.add(x.n+1, s.calls)
		x.push(r)
	}
	return nil
}
