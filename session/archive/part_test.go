package archive

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// memFile is a file that is only read.
type memFile struct{ *bytes.Reader }

func (memFile) Write([]byte) (int, error)    { panic("written to") }
func (memFile) Truncate(int64) error         { panic("cut") }
func (memFile) Sync() error                  { return nil }
func (memFile) Close() error                 { return nil }
func (f memFile) Stat() (fs.FileInfo, error) { return sizedInfo{nil, f.Size()}, nil }

// Whatever the bytes of a part are: reading it never gives other bytes than were sealed, and never panics.
func FuzzSealedPart(f *testing.F) {
	var want strings.Builder
	for i := range 60 {
		fmt.Fprintf(&want, `{"role":"user","content":"%d %s"}`+"\n", i, strings.Repeat("ab", i*7%500))
	}
	size := int64(want.Len())
	var file bytes.Buffer
	m := &Meta{Log: "messages.jsonl"}
	if err := Write(&file, strings.NewReader(want.String()), 0, size, 4<<10, m, func() error { return nil }); err != nil {
		f.Fatal(err)
	}
	good := file.Bytes()
	f.Add(good, uint32(0), byte(0))
	f.Add(good, uint32(len(good)/2), byte(1))
	f.Add(good, uint32(len(good)-3), byte(0x80))
	f.Add(good, uint32(len(good)-12), byte(4))
	f.Add(good[:len(good)-20], uint32(7), byte(0))
	f.Add(good[:len(good)/2], uint32(7), byte(0))
	f.Add([]byte(nil), uint32(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint32, flip byte) {
		b = bytes.Clone(b)
		if len(b) > 0 {
			b[int(at)%len(b)] ^= flip
		}
		same := func(off int64, got []byte) {
			if off+int64(len(got)) > size || string(got) != want.String()[off:off+int64(len(got))] {
				t.Fatalf("%d bytes at %d are others", len(got), off)
			}
		}
		p := NewPart(&Location{Log: m.Log, Frames: new(Cache)}, Entry{Number: 1, Size: size, SHA256: m.SHA256, Records: m.Records, Sums: m.Sums()})
		p.file = memFile{bytes.NewReader(b)}
		for off := int64(0); off < size; off += 1000 {
			got := make([]byte, min(1000, size-off))
			n, _ := p.ReadAt(got, off)
			same(off, got[:n])
		}
		off := int64(0)
		p.check(func(raw []byte, err error) bool {
			if err == nil {
				same(off, raw)
			}
			off += int64(len(raw))
			return err == nil
		})
		p.standIn(make([]byte, 5000), size/2)
	})
}
