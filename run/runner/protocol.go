package runner

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is a length (4 bytes, of what follows it), the number of the request
// (8 bytes), and a request or an answer:
//
//	request  flags 1 · max 8 · identity 40 · path, or for inputs: directory, and each glob behind a zero byte
//	answer   flags 1 · identity 40 · length 2 and bytes of reason · the same of failed · data
//
// All numbers are big endian; what has no length goes to the end of the frame.
// Every look at a pack waits for these, so that coding them must cost nothing.
const (
	frameHead = 12
	maxFrame  = maxFile + 1<<18
	maxFile   = 16 << 20                    // bytes of one workspace file
	maxJob    = maxStdin + maxHeld + 16<<20 // what a shim is given: content, and a head with the command and names
	maxPath   = 4096                        // bytes
	maxText   = 1<<16 - 1
)

// kind is what a request asks for.
type kind byte

const (
	wholeFile   kind = iota // a file's content
	identityOf              // its identity alone
	inputsBelow             // the fingerprint of the files that match globs, as Data
)

// request asks for one file.
type request struct {
	Kind  kind
	Path  []byte    // bytes, as JSON strings cannot hold every name
	Max   int64     // bytes; a larger file is not read
	Known *identity // the content of this file need not be sent again
}

// identity changes when a file's content does.
type identity struct {
	Dev   uint64
	Ino   uint64
	Size  int64
	Mtime int64 // nanoseconds
	Ctime int64
	UID   uint64 // owner of the file
}

// answer is what a read came to.
type answer struct {
	Exists    bool
	Unchanged bool // it is still the Known one
	Settled   bool // the last change is so long ago that the next will alter ID
	ID        identity
	Data      []byte
	Reason    string // why an existing file was not read; the same words each time
	Failed    string // why nobody looked at all
}

// The bits of flags.
const (
	flagKnown = 1 << iota // of a request: its identity is that of the Known file
	flagExists
	flagUnchanged
	flagSettled
	flagIdentity // of a request: its kind is identityOf
	flagInputs   // of a request: its kind is inputsBelow
)

func flag(bit byte, set bool) byte {
	if set {
		return bit
	}
	return 0
}

func (r request) appendTo(b []byte) []byte {
	known := identity{}
	if r.Known != nil {
		known = *r.Known
	}
	b = append(b, flag(flagKnown, r.Known != nil)|flag(flagIdentity, r.Kind == identityOf)|flag(flagInputs, r.Kind == inputsBelow))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Max))
	return append(known.appendTo(b), r.Path...)
}

func parseRequest(b []byte) (r request, ok bool) {
	p := payload{b, true}
	flags := p.take(1)
	r.Max = int64(p.number())
	known := p.identity()
	if r.Path = p.rest; !p.ok {
		return request{}, false
	}
	if flags[0]&flagKnown != 0 {
		r.Known = &known
	}
	switch {
	case flags[0]&flagInputs != 0:
		r.Kind = inputsBelow
	case flags[0]&flagIdentity != 0:
		r.Kind = identityOf
	}
	return r, true
}

func (a answer) appendTo(b []byte) []byte {
	b = append(b, flag(flagExists, a.Exists)|flag(flagUnchanged, a.Unchanged)|flag(flagSettled, a.Settled))
	b = a.ID.appendTo(b)
	for _, text := range []string{a.Reason, a.Failed} {
		text = text[:min(len(text), maxText)]
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	return append(b, a.Data...)
}

// parseAnswer returns an answer whose Data is part of b.
func parseAnswer(b []byte) (a answer, ok bool) {
	p := payload{b, true}
	flags := p.take(1)
	a.ID = p.identity()
	a.Reason, a.Failed = p.text(), p.text()
	if !p.ok {
		return answer{}, false
	}
	a.Exists, a.Unchanged, a.Settled = flags[0]&flagExists != 0, flags[0]&flagUnchanged != 0, flags[0]&flagSettled != 0
	if len(p.rest) > 0 {
		a.Data = p.rest
	}
	return a, true
}

func (id identity) appendTo(b []byte) []byte {
	for _, n := range [...]uint64{id.Dev, id.Ino, uint64(id.Size), uint64(id.Mtime), uint64(id.Ctime), id.UID} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// payload is what is left of a frame that is parsed; ok ends with the first part that is cut short.
type payload struct {
	rest []byte
	ok   bool
}

func (p *payload) take(n int) []byte {
	if len(p.rest) < n {
		p.rest, p.ok = nil, false
		return make([]byte, n)
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *payload) number() uint64 { return binary.BigEndian.Uint64(p.take(8)) }

func (p *payload) text() string { return string(p.take(int(binary.BigEndian.Uint16(p.take(2))))) }

func (p *payload) identity() identity {
	return identity{Dev: p.number(), Ino: p.number(), Size: int64(p.number()), Mtime: int64(p.number()), Ctime: int64(p.number()), UID: p.number()}
}

// frame makes a frame of a request or an answer.
func frame(id uint64, v interface{ appendTo(b []byte) []byte }) []byte {
	return appendFrame(nil, id, v)
}

func appendFrame(b []byte, id uint64, v interface{ appendTo(b []byte) []byte }) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = v.appendTo(binary.BigEndian.AppendUint64(b, id))
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// readFrame reads one frame; io.EOF when the other side closed between two.
func readFrame(r io.Reader) (id uint64, payload []byte, err error) { return readFrameOf(r, maxFrame) }

// readFrameOf is readFrame for one of at most most bytes.
func readFrameOf(r io.Reader, most uint32) (id uint64, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 8 || n > most {
		return 0, nil, fmt.Errorf("runner: a frame of %d bytes", n)
	}
	payload = make([]byte, n-8)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("runner: half a frame: %w", err)
	}
	return binary.BigEndian.Uint64(head[4:]), payload, nil
}

// packet is the payload of the frames between client and shim: the length of
// its head (4 bytes), the head as JSON, and data.
type packet struct {
	head any
	data []byte
}

func (p packet) appendTo(b []byte) []byte {
	head, err := json.Marshal(p.head)
	if err != nil {
		panic(err) // plain data
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	return append(append(b, head...), p.data...)
}

// parsePacket sets head and gives the data, which is part of b; nil when it is empty.
func parsePacket(b []byte, head any) (data []byte, err error) {
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, fmt.Errorf("runner: a packet that is cut short")
	}
	n := 4 + binary.BigEndian.Uint32(b)
	if err := json.Unmarshal(b[4:n], head); err != nil {
		return nil, fmt.Errorf("runner: packet: %w", err)
	}
	if int(n) == len(b) {
		return nil, nil
	}
	return b[n:], nil
}
