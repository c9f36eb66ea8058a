package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// A sealed part of a log is a file in Zstandard's seekable format:
//
//	frames, each of at most 1 MiB of records        any zstd inflates them, one after another
//	a skippable frame: what the part is ([Meta])     behind the SHA-256 of that JSON, in hex
//	a skippable frame: the seek table               as contrib/seekable_format has it
//
// A frame ends where a record does, but for a record that is longer than a frame may be.
const (
	frameMost = 1 << 20 // bytes of records in a frame, at most

	metaMagic     = 0x184D2A5D
	seekMagic     = 0x184D2A5E
	seekableMagic = 0x8F92EAB1
	seekFooter    = 9
)

// Meta is what a sealed part says about itself. It is true wherever the part
// is: a fork shares those of the session that it is from.
type Meta struct { // in the order of the keys
	Chain   string  `json:"chain"` // of the session's log behind it
	Frames  []Frame `json:"frames"`
	Log     string  `json:"log"`
	Off     int64   `json:"off"`     // where it begins in the log
	Records int     `json:"records"` // newlines in it
	Session string  `json:"session"` // the id of the session that sealed it
	SHA256  string  `json:"sha256"`  // of all its bytes
	Size    int64   `json:"size"`    // of all its bytes
}

// Frame is one frame of a sealed part. SHA256 is empty when the frames had to be found by walking.
type Frame struct {
	Packed  int    `json:"packed"`
	Raw     int    `json:"raw"`
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

var errNotSealed = errors.New("it is not a sealed part of a log")

// packer and unpacker are shared: they keep no state between frames.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
		if err != nil {
			panic(err)
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(2*frameMost))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// Inflate returns what a frame holds, checked. It returns an error if these are not the bytes that
// were packed.
func (f *Frame) Inflate(packed []byte) ([]byte, error) {
	raw, err := unpacker().DecodeAll(packed, make([]byte, 0, f.Raw))
	if err != nil {
		return nil, err
	}
	if len(raw) != f.Raw {
		return nil, fmt.Errorf("it decompresses to %d bytes, not %d", len(raw), f.Raw)
	}
	if f.SHA256 == "" {
		return raw, nil // the frame's own checksum was right
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, fmt.Errorf("its SHA-256 is %x, not %s", sum, f.SHA256)
	}
	return raw, nil
}

// frameCut returns how many of the bytes of records that follow go into the next frame, of about
// target bytes.
func frameCut(b []byte, target int) int {
	if len(b) <= target {
		return len(b)
	}
	if i := bytes.LastIndexByte(b[:target], '\n'); i >= 0 {
		return i + 1
	}
	if i := bytes.IndexByte(b[target:], '\n'); i >= 0 && target+i < frameMost {
		return target + i + 1
	}
	return min(len(b), frameMost)
}

// Write writes the bytes [from, to) of a log as a sealed part and completes m, its description. Each
// frame has about target bytes of records; the caller sets the fields of m that do not follow from
// the bytes. Write calls stop before each frame. It returns the first error of stop, raw or out.
func Write(out io.Writer, raw io.ReaderAt, from, to int64, target int, m *Meta, stop func() error) error {
	all := sha256.New()
	buf := make([]byte, 0, frameMost)
	var packed []byte
	for off := from; off < to; {
		if err := stop(); err != nil {
			return err
		}
		had := len(buf)
		buf = buf[:had+int(min(int64(cap(buf)-had), to-off-int64(had)))]
		if err := vfs.ReadFull(raw, buf[had:], off+int64(had)); err != nil {
			return err
		}
		cut := frameCut(buf, target)
		one := buf[:cut]
		packed = packer().EncodeAll(one, packed[:0])
		sum := sha256.Sum256(one)
		all.Write(one)
		f := Frame{Packed: len(packed), Raw: cut, Records: bytes.Count(one, []byte{'\n'}), SHA256: hex.EncodeToString(sum[:])}
		m.Frames, m.Records = append(m.Frames, f), m.Records+f.Records
		if err := vfs.WriteFull(out, packed); err != nil {
			return err
		}
		off += int64(cut)
		buf = buf[:copy(buf, buf[cut:])]
	}
	m.Size, m.SHA256 = to-from, hex.EncodeToString(all.Sum(nil))
	return vfs.WriteFull(out, m.Trailer())
}

// Trailer is what follows the frames.
func (m *Meta) Trailer() []byte {
	doc, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	sum := sha256.Sum256(doc)
	b := binary.LittleEndian.AppendUint32(nil, metaMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*len(sum)+1+len(doc)+1))
	b = hex.AppendEncode(b, sum[:])
	b = append(append(append(b, '\n'), doc...), '\n')
	meta := len(b)
	entries := len(m.Frames) + 1
	b = binary.LittleEndian.AppendUint32(b, seekMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(entries*8+seekFooter))
	for i := range m.Frames {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.Frames[i].Packed))
		b = binary.LittleEndian.AppendUint32(b, uint32(m.Frames[i].Raw))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(meta))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(entries))
	b = append(b, 0) // no checksums in the table: the frames have theirs
	return binary.LittleEndian.AppendUint32(b, seekableMagic)
}

// ReadMeta reads what a sealed part of size bytes says about itself, from its end. It returns an
// error if the file is no sealed part, or its end is damaged, and the error of the read.
func ReadMeta(f io.ReaderAt, size int64) (*Meta, error) {
	var foot [seekFooter]byte
	if size < seekFooter {
		return nil, errNotSealed
	}
	if err := vfs.ReadFull(f, foot[:], size-seekFooter); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(foot[5:]) != seekableMagic || foot[4] != 0 {
		return nil, errNotSealed
	}
	entries := int64(binary.LittleEndian.Uint32(foot[:]))
	table := 8 + entries*8 + seekFooter
	if entries < 1 || table > size {
		return nil, errNotSealed
	}
	var last [8]byte // the entry of the frame in front of the table
	if err := vfs.ReadFull(f, last[:], size-seekFooter-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(last[:]))
	if length < 8+2*sha256.Size+2 || length > size-table {
		return nil, errNotSealed
	}
	b := make([]byte, length)
	if err := vfs.ReadFull(f, b, size-table-length); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(b) != metaMagic || int64(binary.LittleEndian.Uint32(b[4:])) != length-8 {
		return nil, errNotSealed
	}
	sum, doc := b[8:8+2*sha256.Size], b[8+2*sha256.Size+1:len(b)-1]
	if have := sha256.Sum256(doc); hex.EncodeToString(have[:]) != string(sum) {
		return nil, errors.New("its description of itself is damaged")
	}
	m := new(Meta)
	if err := json.Unmarshal(doc, m); err != nil {
		return nil, err
	}
	return m, m.Fits(size - table - length)
}

// frameSum is how many hex digits of a frame's hash a list of parts has.
const frameSum = 16

// Sums returns the beginnings of the hashes of all frames, as a list of parts has them.
func (m *Meta) Sums() string {
	var b []byte
	for i := range m.Frames {
		b = append(b, m.Frames[i].SHA256[:frameSum]...)
	}
	return string(b)
}

// Fits returns an error unless the frames make up what they should, in the first packed bytes of
// the file.
func (m *Meta) Fits(packed int64) error {
	var raw int64
	records := 0
	for i := range m.Frames {
		f := &m.Frames[i]
		if len(f.SHA256) != 2*sha256.Size || f.Packed <= 0 || f.Raw <= 0 || f.Raw > frameMost || f.Records < 0 || f.Records > f.Raw {
			return errNotSealed
		}
		packed, raw, records = packed-int64(f.Packed), raw+int64(f.Raw), records+f.Records
	}
	if packed != 0 || raw != m.Size || records != m.Records || m.Off < 0 || m.Size <= 0 || m.Off+m.Size < 0 {
		return errNotSealed
	}
	return nil
}

// WalkFrames finds the frames of a file from its beginning, for one whose end is damaged. It stops
// where there is no whole frame. Whether they are the frames that were there is not known.
func WalkFrames(f io.ReaderAt, size int64) (frames []Frame) {
	for off := int64(0); off < size; {
		head := make([]byte, min(zstd.HeaderMaxSize, size-off))
		if vfs.ReadFull(f, head, off) != nil {
			break
		}
		var h zstd.Header
		if h.Decode(head) != nil || h.Skippable || !h.HasFCS || h.FrameContentSize == 0 || h.FrameContentSize > frameMost || !h.HasCheckSum {
			break
		}
		at := off + int64(h.HeaderSize)
		for last := false; !last; {
			var b [3]byte
			if vfs.ReadFull(f, b[:], at) != nil {
				return frames
			}
			n := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
			last, at = n&1 != 0, at+3
			if n>>1&3 == 1 { // one byte, repeated
				at++
			} else {
				at += n >> 3
			}
		}
		if at += 4; at > size {
			break
		}
		one := Frame{Packed: int(at - off), Raw: int(h.FrameContentSize)}
		packed := make([]byte, one.Packed)
		if vfs.ReadFull(f, packed, off) != nil {
			break
		}
		raw, err := one.Inflate(packed)
		if err != nil {
			break
		}
		sum := sha256.Sum256(raw)
		one.Records, one.SHA256 = bytes.Count(raw, []byte{'\n'}), hex.EncodeToString(sum[:])
		frames = append(frames, one)
		off = at
	}
	return frames
}
