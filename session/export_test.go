package session

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session/disk"
)

// SetMaxInMemory makes stages go to files earlier.
func SetMaxInMemory(n int64) { maxInMemory = n }

// Tick is one tick of the janitor.
func Tick(s *Store) { s.open.tick() }

// Shed is what happens when descriptors run out.
func Shed(s *Store) int { return s.open.shed() }

// OpenLogs is how many logs have open files.
func OpenLogs(s *Store) int { return len(s.open.list()) }

// IdleTicks is after how many ticks an unused log is closed.
const IdleTicks = idleTicks

// MaxOpenLogs is how many logs are open at most.
var MaxOpenLogs = handles.Idle() / logHandles

// MaxKeys is how many requests a log remembers.
const MaxKeys = maxKeys

// SetMarkEvery lays the marks of arrival rows closer, in bytes, and gives back what puts them where they were.
func SetMarkEvery(n int64) (undo func()) {
	was := markEvery
	markEvery = n
	return func() { markEvery = was }
}

// RemoveAll removes a path of the store with what is in it.
func RemoveAll(s *Store, name string) { s.disk.RemoveAll(name) }

// Names inside a session.
var (
	ArrivalsFile  = arrivalsFile("messages.jsonl")
	IndexFile     = indexFile("messages.jsonl")
	SegmentsFile  = segmentsFile("messages.jsonl")
	TokensFile    = tokensFile("messages.jsonl")
	QuarantineDir = disk.QuarantineDir
)

// ParseRow parses an arrival row and prints it again.
func ParseRow(line []byte) ([]byte, bool) {
	a, ok := parseArrival(line)
	if !ok {
		return nil, false
	}
	b := a.appendTo(nil)
	return b[:len(b)-1], true
}

// StopJanitor ends the store's goroutine, for a store that dies without Close.
func StopJanitor(s *Store) { s.open.stop() }

// Inflate inflates all frames of a file.
func Inflate(t testing.TB, packed []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// SeekTable inflates a file as a reader of the seekable format does: frame by frame, as its table says.
func SeekTable(t testing.TB, b []byte) (all []byte) {
	t.Helper()
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	n := u32(len(b) - seekFooter)
	table := len(b) - seekFooter - 8*n
	if u32(table-8) != seekMagic || u32(table-4) != 8*n+seekFooter {
		t.Fatal("the table has no frame of its own")
	}
	at := 0
	for i := range n {
		packed, raw := u32(table+8*i), u32(table+8*i+4)
		one := Inflate(t, b[at:at+packed])
		if len(one) != raw {
			t.Fatalf("frame %d inflates to %d bytes, not %d", i, len(one), raw)
		}
		all, at = append(all, one...), at+packed
	}
	if at != table-8 {
		t.Fatalf("the frames end at %d, not at %d", at, table-8)
	}
	return all
}

// SetSealMin lets few bytes be sealed, in small frames.
func SetSealMin(n int64, frame int) { sealMin, frameTarget = n, frame }

// ReadSealed reads a part that may be damaged, and yields what it gives: good is what it was, of size bytes.
func ReadSealed(b []byte, size int64, good []byte, yield func(off int64, got []byte)) {
	m, err := readSealMeta(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		panic(err)
	}
	p := newPart(&location{log: m.Log, frames: new(frameCache)}, sealedEntry{Number: 1, Size: size, SHA256: m.SHA256, Records: m.Records, Sums: m.sums()})
	p.file = memFile{bytes.NewReader(b)}
	for off := int64(0); off < size; off += 1000 {
		got := make([]byte, min(1000, size-off))
		n, _ := p.ReadAt(got, off)
		yield(off, got[:n])
	}
	off := int64(0)
	p.check(func(raw []byte, err error) bool {
		if err == nil {
			yield(off, raw)
		}
		off += int64(len(raw))
		return err == nil
	})
	p.standIn(make([]byte, 5000), size/2)
}

// memFile is a file that is only read.
type memFile struct{ *bytes.Reader }

func (memFile) Write([]byte) (int, error)    { panic("written to") }
func (memFile) Truncate(int64) error         { panic("cut") }
func (memFile) Sync() error                  { return nil }
func (memFile) Close() error                 { return nil }
func (f memFile) Stat() (fs.FileInfo, error) { return sizedInfo{nil, f.Size()}, nil }
