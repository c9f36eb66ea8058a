// Package concurrent lets many processes append at once while others read.
package concurrent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func init() { harness.Helper("writer", writer) }

// record is what a writer appends: its place in the writer's order and a checksum of its content.
type record struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Writer  int    `json:"writer"`
	Seq     int    `json:"seq"`
	Sum     string `json:"sum"`
}

const (
	smallRecord = 4 << 10
	largeRecord = 3 << 20
)

// stream makes the records of one writer, the same in every process.
type stream struct {
	rng    *rand.Rand
	writer int
	seq    int
}

func newStream(writer int) *stream {
	return &stream{rng: rand.New(rand.NewPCG(uint64(writer), 2)), writer: writer}
}

// next returns the next record with its newline; 98 of 100 have at most 4 KiB, the others up to 3 MiB.
func (s *stream) next() []byte {
	const frame = 200 // what stands around the content
	size := s.rng.IntN(smallRecord/2 - frame)
	switch p := s.rng.IntN(100); {
	case p < 10:
		size = s.rng.IntN(smallRecord - frame)
	case p >= 98: // each size class as often as any other
		size = int(smallRecord * math.Pow(float64(largeRecord-frame)/smallRecord, s.rng.Float64()))
	}
	word := []byte(fmt.Sprintf("writer %d record %d – ü ", s.writer, s.seq))
	content := bytes.Repeat(word, size/len(word)+1)
	content = bytes.ToValidUTF8(content[:size], nil)
	r := record{Role: "user", Content: string(content), Writer: s.writer, Seq: s.seq, Sum: sum(content)}
	s.seq++
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// writer is a process: writer DIR ID COUNT. It makes the session DIR where it is
// not there, and appends COUNT records in the ways that programs have.
func writer(args []string) int {
	id, _ := strconv.Atoi(args[1])
	count, _ := strconv.Atoi(args[2])
	err := os.MkdirAll(args[0], 0o700)
	name := filepath.Join(args[0], "messages.jsonl")
	how := rand.New(rand.NewPCG(uint64(id), 3)) // how to write, apart from what
	fd := -1
	for s := newStream(id); err == nil && s.seq < count; {
		if fd < 0 {
			if fd, err = unix.Open(name, unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0); err != nil {
				break
			}
		}
		b := s.next()
		switch how.IntN(40) {
		case 0: // in pieces
			cut := how.IntN(len(b))
			err = errors.Join(writeAll(fd, b[:cut]), writeAll(fd, b[cut:]))
		case 1: // two records in one call
			if s.seq < count {
				b = append(b, s.next()...)
			}
			err = writeAll(fd, b)
		case 2: // synced
			err = errors.Join(writeAll(fd, b), unix.Fsync(fd))
		case 3: // closed without a newline, opened again
			err = errors.Join(writeAll(fd, bytes.TrimSuffix(b, []byte("\n"))), unix.Close(fd))
			fd = -1
		default:
			err = writeAll(fd, b)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "writer %d: %v\n", id, err)
		return 1
	}
	return 0
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}
