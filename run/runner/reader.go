package runner

import (
	"bufio"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	slots    = 16                   // requests that one user may have under way
	patience = 2 * time.Millisecond // how long one of them may keep the others from being answered
	fullOut  = 64 << 10             // bytes of answers that do not wait for more
)

// readerMain is a reader: it answers the client's requests until the socket closes.
func readerMain(conn io.ReadWriter) error {
	debug.SetMemoryLimit(128 << 20)
	for _, l := range []struct {
		resource int
		limit    uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, maxDescriptors}} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return err
		}
		limit := min(l.limit, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	// No other process of the user may look into this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	r := reader{conn: conn, in: bufio.NewReader(conn), end: make(chan error, 1)}
	go r.lead()
	// Reads that hang do not keep the process.
	if err := <-r.end; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// reader has one goroutine that leads: it takes requests and answers them one
// after the other, those that came together with one write, which costs the
// least where no read hangs. When one does, another goroutine leads from then
// on, and the read that hangs keeps nothing but its own goroutine.
type reader struct {
	conn io.ReadWriter
	end  chan error // the first error is everybody's

	in  *bufio.Reader // of whoever leads
	out []byte        // answers that wait for the next write; of whoever leads

	speak sync.Mutex // held while conn is written to
}

// lead answers requests until the socket closes or somebody else leads.
func (r *reader) lead() {
	for {
		if r.in.Buffered() == 0 || len(r.out) > fullOut {
			if !r.write(r.out) {
				return
			}
			r.out = r.out[:0]
		}
		id, payload, err := readFrame(r.in)
		if err != nil {
			r.fail(err)
			return
		}
		next := time.AfterFunc(patience, r.lead)
		a := answer{Failed: "the request was not understood"}
		if req, ok := parseRequest(payload); ok {
			a = answerTo(req)
		}
		if !next.Stop() {
			r.write(frame(id, a))
			return
		}
		r.out = appendFrame(r.out, id, a)
	}
}

func (r *reader) write(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	r.speak.Lock()
	defer r.speak.Unlock()
	if _, err := r.conn.Write(b); err != nil {
		r.fail(err)
		return false
	}
	return true
}

func (r *reader) fail(err error) {
	select {
	case r.end <- err:
	default:
	}
}
