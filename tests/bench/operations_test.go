package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// operations are what the client can do beside the short ones: each gets a file and further arguments.
var operations = map[string]func(file string, args []string) []float64{
	"turns":   turns,
	"history": history,
	"torn":    torn,
	"program": program,
	"ask":     ask,
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

// made returns record i of a history of a kind.
func made(kind string, i int) []byte {
	switch kind {
	case "turn":
		return turn(i)
	case "short":
		return short(i)
	case "dense":
		return dense(i)
	case "grouped":
		return grouped(i)
	}
	panic("no records are called " + kind)
}

// history appends args[0] records of the kind args[1], as many to a write as fit 100 kB.
func history(file string, args []string) []float64 {
	fd := openAppend(file)
	var b []byte
	for i, n := 0, number(args[0]); i < n; i++ {
		b = append(b, made(args[1], i)...)
		if len(b) > 100_000 || i == n-1 {
			write(fd, b)
			b = b[:0]
		}
	}
	must(unix.Close(fd))
	return []float64{}
}

// What a turn was.
const (
	plain = iota
	compaction
	request // of the user
)

// perTurn is how many numbers turns returns for each: the time of the read, the daemon's processor until it ended, the
// daemon's processor until it had nothing more to do, and what the turn was.
const perTurn = 4

// turns appends the records args[1] ... of the kind args[4], args[2] of them, one by one, and reads the pack args[0] after
// each; args[3] is the daemon's process, which comes to rest in between.
func turns(file string, args []string) (ns []float64) {
	pack, first, count, pid, kind := args[0], number(args[1]), number(args[2]), number(args[3]), args[4]
	fd := openAppend(file)
	buf := make([]byte, 1<<20)
	zones := zonesOf(content(pack, buf))
	begin := rest(pid)
	for i := first; i < first+count; i++ {
		write(fd, made(kind, i))
		t := now()
		text := content(pack, buf)
		wall, cpu := now()-t, cpuClock(pid)-begin
		what := plain
		if z := zonesOf(text); z != zones {
			what, zones = compaction, z
		} else if kind == "turn" && i%16 == 0 {
			what = request
		}
		end := rest(pid)
		ns = append(ns, wall, cpu, end-begin, float64(what))
		begin = end
	}
	return ns
}

// rest waits until a process does nothing, as an agent does while its model thinks, and returns its clock then; it waits
// for a tenth of a second at most.
func rest(pid int) float64 {
	const pause = time.Millisecond
	last := cpuClock(pid)
	for i, quiet := 0, 0; i < 100 && quiet < 2; i++ {
		time.Sleep(pause)
		next := cpuClock(pid)
		if quiet++; next-last > float64(pause)/20 {
			quiet = 0
		}
		last = next
	}
	return last
}

// content reads a file as cat does. What it returns is good until the next call with buf.
func content(file string, buf []byte) []byte {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	must(err)
	total := 0
	for n := -1; n != 0; total += n {
		n, err = unix.Read(fd, buf[total:min(len(buf), total+128<<10)])
		must(err)
	}
	must(unix.Close(fd))
	return buf[:total]
}

// zonesOf returns the lines of a pack that a compaction changes: which records a block is of, and which are left out.
func zonesOf(pack []byte) string {
	var b bytes.Buffer
	for line := range bytes.Lines(pack) {
		if bytes.HasPrefix(line, []byte("# Context Block: ")) && bytes.Contains(line, []byte("(messages:")) ||
			bytes.HasPrefix(line, []byte("## ")) && bytes.Contains(line, []byte(" left out: ")) {
			b.Write(line)
		}
	}
	return b.String()
}

// program runs args[1:] with the file as its last argument args[0] times, and reads what it prints.
func program(file string, args []string) (ns []float64) {
	for range number(args[0]) {
		cmd := exec.Command(args[1], append(slices.Clone(args[2:]), file)...)
		cmd.Stderr = os.Stderr
		if args[1] == "cat" { // grep looks no further when nobody reads; cat shall not wait for a reader
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			must(err)
			defer null.Close()
			cmd.Stdout = null
			t := now()
			must(cmd.Run())
			ns = append(ns, now()-t)
			continue
		}
		t := now()
		out, err := cmd.Output()
		must(err)
		ns = append(ns, now()-t)
		if len(out) == 0 {
			must(fmt.Errorf("%v prints nothing", args))
		}
	}
	return ns
}

// ask returns the mean time of args[0] reads of one byte: of a round trip to the daemon, where there is one.
func ask(file string, args []string) []float64 {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(err)
	n, b := number(args[0]), make([]byte, 1)
	t := now()
	for range n {
		_, err := unix.Pread(fd, b, 0)
		must(err)
	}
	return []float64{(now() - t) / float64(n)}
}

const (
	tornLargest = 1 << 20  // the largest read of torn: what the largest request brings
	tornLog     = 64 << 20 // how long a log of it gets
)

// torn reads near the end of a log args[0] times, or until that is full, while another thread appends records of 200 to
// 3,500 bytes to it. It returns how many reads there were, how many reached the end of the log inside of a record, and how many brought a NUL.
func torn(file string, args []string) []float64 {
	want := number(args[0])
	fd := openAppend(file)
	record := func(i int) []byte {
		return fmt.Appendf(nil, `{"role":"user","content":"%d %s"}`+"\n", i, bytes.Repeat([]byte{byte('a' + i%26)}, 165+i*7919%3300))
	}
	records := make([][]byte, 509)
	for i := range records {
		records[i] = record(i)
	}
	write(fd, records[0])
	var done, full atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i, size := 1, 0; !done.Load() && size < tornLog; i++ {
			write(fd, records[i%len(records)])
			size += len(records[i%len(records)])
		}
		full.Store(true)
	}()
	in, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	must(err)
	rnd := rand.New(rand.NewPCG(uint64(want), 3))
	buf := make([]byte, tornLargest)
	end, reads, inside, nul := 0, 0, 0, 0
	for reads < want && !full.Load() {
		size := int(math.Exp(rnd.Float64() * math.Log(64<<10)))
		if reads%512 == 0 {
			size = tornLargest
		}
		from := max(0, end-rnd.IntN(size+1))
		n, err := unix.Pread(in, buf[:size], int64(from))
		must(err)
		reads++
		if n < size && n > 0 && buf[n-1] != '\n' {
			inside++
		}
		if bytes.IndexByte(buf[:n], 0) >= 0 {
			nul++
		}
		end = max(end, from+n)
	}
	done.Store(true)
	<-ended
	if end == 0 {
		must(io.ErrUnexpectedEOF)
	}
	return []float64{float64(reads), float64(inside), float64(nul)}
}
