package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// The client is a process of its own that works with plain system calls and
// prints what it measured as a JSON list of nanoseconds. It knows nothing of
// where its files are.
func init() { harness.Helper("client", client) }

// client does args[0] on the file args[1]; further arguments are numbers or a second file.
func client(args []string) int {
	file := args[1]
	num := func(i int) int {
		n, err := strconv.Atoi(args[i])
		must(err)
		return n
	}
	var ns []float64
	switch args[0] {
	case "append":
		ns = appendMany(file, num(2))
	case "fsync":
		fd := openAppend(file)
		for i := range num(2) {
			t := now()
			write(fd, kibRecord(i))
			must(unix.Fsync(fd))
			ns = append(ns, now()-t)
		}
	case "open-append-close":
		for i := range num(2) {
			t := now()
			fd := openAppend(file)
			write(fd, kibRecord(i))
			must(unix.Close(fd))
			ns = append(ns, now()-t)
		}
	case "fill": // num(2) bytes in records of 1 KiB, many at a write
		fd := openAppend(file)
		for left := num(2) >> 10; left > 0; left -= 64 {
			var b []byte
			for i := range min(64, left) {
				b = append(b, kibRecord(i)...)
			}
			write(fd, b)
		}
	case "read": // num(2) times, with a buffer of num(3) bytes
		buf := bytes.Repeat([]byte{1}, num(3)) // its pages are there before the clock runs
		for range num(2) {
			t := now()
			cat(file, buf)
			ns = append(ns, now()-t)
		}
	case "reread": // as read, through one descriptor
		buf := bytes.Repeat([]byte{1}, num(3))
		fd, err := unix.Open(file, unix.O_RDONLY, 0)
		must(err)
		for range num(2) {
			t := now()
			for off := int64(0); ; {
				n, err := unix.Pread(fd, buf, off)
				must(err)
				if n == 0 {
					break
				}
				off += int64(n)
			}
			ns = append(ns, now()-t)
		}
	case "append-read": // to file, then read args[2] whole
		buf := make([]byte, 128<<10)
		fd := openAppend(file)
		first, count := num(3), num(4)
		for i := range count {
			write(fd, turn(first+i))
			t := now()
			cat(args[2], buf)
			ns = append(ns, now()-t)
		}
	case "cat-list": // the files that file lists, num(2) times, with args[3] written anew before each when it is there
		b, err := os.ReadFile(file)
		must(err)
		list, buf := strings.Fields(string(b)), make([]byte, 128<<10)
		for i := range num(2) {
			if len(args) > 3 {
				must(os.WriteFile(args[3], []byte(fmt.Sprintf("version %d\n%s", i, text(i, 2000))), 0o600))
			}
			t := now()
			for _, name := range list {
				cat(name, buf)
			}
			ns = append(ns, now()-t)
		}
	case "writer": // waits for a line on stdin; prints when it began and ended
		fd := openAppend(file)
		fmt.Println("ready")
		io.ReadAtLeast(os.Stdin, make([]byte, 1), 1)
		t := now()
		for i := range num(2) {
			write(fd, kibRecord(i))
		}
		ns = []float64{t, now()}
	default:
		ns = operations[args[0]](file, args[2:])
	}
	must(json.NewEncoder(os.Stdout).Encode(ns))
	return 0
}

func appendMany(file string, n int) []float64 {
	fd := openAppend(file)
	records := make([][]byte, 64)
	for i := range records {
		records[i] = kibRecord(i)
	}
	t := now()
	for i := range n {
		write(fd, records[i%len(records)])
	}
	return []float64{(now() - t) / float64(n)}
}

func now() float64 {
	var ts unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts))
	return float64(ts.Nano())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openAppend(file string) int {
	fd, err := unix.Open(file, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	must(err)
	return fd
}

func write(fd int, b []byte) {
	n, err := unix.Write(fd, b)
	must(err)
	if n != len(b) {
		must(io.ErrShortWrite)
	}
}

func cat(file string, buf []byte) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == unix.EINTR { // a build that took long when a signal came
		fd, err = unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	must(err)
	for n := -1; n != 0; {
		n, err = unix.Read(fd, buf)
		must(err)
	}
	must(unix.Close(fd))
}

// run runs the client on a place and gives what it measured.
func (p *site) run(t *testing.T, args ...any) []float64 {
	t.Helper()
	cmd := p.command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("client %v: %v\n%s", args, err, stderr.String())
	}
	return parse(t, stdout.String())
}

func (p *site) command(t *testing.T, args ...any) *exec.Cmd {
	t.Helper()
	argv := strings.Fields(fmt.Sprintln(args...))
	if p.peer != nil {
		return exec.CommandContext(t.Context(), p.peer[0], append(p.peer[1:len(p.peer):len(p.peer)], argv...)...)
	}
	return p.mount.HelperCommand(t, t.Context(), "client", harness.Client{Dir: "/", Argv: argv})
}

func parse(t *testing.T, s string) (ns []float64) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &ns); err != nil {
		t.Fatalf("the client printed %q: %v", s, err)
	}
	return ns
}
