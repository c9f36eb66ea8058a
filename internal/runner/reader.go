package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// slots is how many requests one user may have under way.
const slots = 16

// readerMain is a reader: it answers the client's requests until the socket
// closes. Its workers take turns to wait for a request; who gets one answers
// it, so that a request costs no handing over and a read that hangs holds one
// worker.
func readerMain(conn io.ReadWriter) error {
	debug.SetMemoryLimit(128 << 20)
	for _, l := range []struct {
		resource int
		limit    uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, 4*slots + 16}} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.limit, Max: l.limit}); err != nil {
			return err
		}
	}
	// No other process of the user may look into this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	var (
		turn, speak sync.Mutex
		in          = bufio.NewReader(conn) // guarded by turn
		end         = make(chan error, slots)
	)
	for range slots {
		go func() {
			for {
				turn.Lock()
				id, payload, err := readFrame(in)
				turn.Unlock()
				if err != nil {
					end <- err
					return
				}
				var req request
				a := answer{Failed: "the request was not understood"}
				if json.Unmarshal(payload, &req) == nil {
					a = readFile(req)
				}
				f := frame(id, a)
				speak.Lock()
				_, err = conn.Write(f)
				speak.Unlock()
				if err != nil {
					end <- err
					return
				}
			}
		}()
	}
	// The first end is everybody's: reads that hang do not keep the process.
	if err := <-end; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
