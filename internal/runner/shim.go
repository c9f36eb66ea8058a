package runner

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// slots is how many requests one user may have under way.
const slots = 16

// shimMain is a reader: it answers the broker's requests until the socket closes.
func shimMain(conn net.Conn) error {
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
	var mu sync.Mutex // one frame at a time
	var broken error  // guarded by mu
	free := make(chan struct{}, slots)
	for {
		id, payload, err := readFrame(conn)
		if errors.Is(err, io.EOF) {
			// Reads that hang do not keep the process: its end is the end of them.
			return nil
		}
		if err != nil {
			return err
		}
		free <- struct{}{} // the broker asks for no more than slots
		go func() {
			defer func() { <-free }()
			var req request
			a := answer{Failed: "the request was not understood"}
			if json.Unmarshal(payload, &req) == nil {
				a = readFile(req)
			}
			f := frame(id, a)
			mu.Lock()
			defer mu.Unlock()
			if broken == nil {
				_, broken = conn.Write(f)
			}
		}()
	}
}

// inherited is the socket a process of the runner is started with.
func inherited() (net.Conn, error) {
	f := os.NewFile(3, "runner socket")
	defer f.Close()
	return net.FileConn(f)
}
