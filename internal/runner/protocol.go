package runner

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is a length (4 bytes, big endian, of what follows it), the number of
// the request (8 bytes), and a request or an answer as JSON.
const (
	frameHead = 12
	maxFrame  = 24 << 20 // maxFile in base64, and room
	maxFile   = 16 << 20 // bytes of one workspace file
	maxPath   = 4096     // bytes
)

// request asks for one file.
type request struct {
	Path  []byte    `json:"path"`            // bytes, as JSON strings cannot hold every name
	Max   int64     `json:"max"`             // bytes; a larger file is not read
	Known *identity `json:"known,omitempty"` // the content of this file need not be sent again
}

// identity changes when a file's content does.
type identity struct {
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"` // nanoseconds
	Ctime int64  `json:"ctime"`
}

// answer is what a read came to.
type answer struct {
	Exists    bool     `json:"exists,omitempty"`
	Unchanged bool     `json:"unchanged,omitempty"` // it is still the Known one
	Settled   bool     `json:"settled,omitempty"`   // the last change is so long ago that the next will alter ID
	ID        identity `json:"id"`
	Data      []byte   `json:"data,omitempty"`
	Reason    string   `json:"reason,omitempty"` // why an existing file was not read; the same words each time
	Failed    string   `json:"failed,omitempty"` // why nobody looked at all
}

// frame makes a frame of v.
func frame(id uint64, v any) []byte {
	payload, err := json.Marshal(v)
	if err != nil {
		panic(err) // structs of numbers and strings
	}
	return rawFrame(id, payload)
}

func rawFrame(id uint64, payload []byte) []byte {
	b := make([]byte, frameHead, frameHead+len(payload))
	binary.BigEndian.PutUint32(b, uint32(8+len(payload)))
	binary.BigEndian.PutUint64(b[4:], id)
	return append(b, payload...)
}

// readFrame reads one frame; io.EOF when the other side closed between two.
func readFrame(r io.Reader) (id uint64, payload []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 8 || n > maxFrame {
		return 0, nil, fmt.Errorf("runner: a frame of %d bytes", n)
	}
	payload = make([]byte, n-8)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("runner: half a frame: %w", err)
	}
	return binary.BigEndian.Uint64(head[4:]), payload, nil
}
