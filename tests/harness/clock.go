package harness

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is a time of day of its own for a process, which may be set while it runs: that of a machine whose clock is
// wrong. Timers, and the times of files, are those of this machine. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration // guarded by mu
	pid   int           // of the last process; guarded by mu
	at    int64         // where its memory holds by how many seconds it is ahead; guarded by mu
}

// NewClock returns a clock that is ahead of that of this machine, by whole seconds. It skips the test where a process
// cannot be given one.
func NewClock(tb testing.TB, ahead time.Duration) *Clock {
	tb.Helper()
	if runtime.GOARCH != "amd64" {
		skip(tb, "a process is given a clock of its own by machine code for amd64")
	}
	return &Clock{ahead: ahead}
}

// Set sets the clock, also of the process that has it, if it runs.
func (c *Clock) Set(tb testing.TB, ahead time.Duration) {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
	if c.pid == 0 {
		return
	}
	mem, err := os.Open(c.memory())
	if err != nil {
		return // it has ended
	}
	defer mem.Close()
	now := make([]byte, len(askKernel))
	if _, err := mem.ReadAt(now, c.at-secondsAt); err != nil || !bytes.Equal(now, askKernel) {
		return // it ends, or is another one
	}
	if err := c.poke(c.at, c.seconds()); err != nil && unix.Kill(c.pid, 0) == nil {
		tb.Fatalf("set the clock of process %d: %v", c.pid, err)
	}
}

// askKernel is a clock_gettime(2) that asks the kernel, and adds to the time of day the seconds that stand behind it,
// at secondsAt.
var askKernel = []byte{
	0xb8, 228, 0, 0, 0, // mov eax, SYS_clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi: CLOCK_REALTIME?
	0x75, 0x0e, // jnz to the ret
	0x85, 0xc0, // test eax, eax: no error?
	0x75, 0x0a, // jnz to the ret
	0x48, 0x8b, 0x0d, 10, 0, 0, 0, // mov rcx, [the seconds]
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3, // ret
}

const secondsAt = 32

func (c *Clock) seconds() []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(int64(c.ahead/time.Second)))
}

// Start starts a command with this clock, in place of its Start. The program asks for the time in the page of code that
// the kernel gives each process (the vDSO), as Go programs do: the code there is replaced before the program begins. Start
// returns an error if the program does not start, or has no such page.
func (c *Clock) Start(cmd *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	runtime.LockOSThread() // the thread that traces the process
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true // it stops before its first instruction
	if err := cmd.Start(); err != nil {
		return err
	}
	c.pid = cmd.Process.Pid
	var status unix.WaitStatus
	_, err := unix.Wait4(c.pid, &status, 0, nil)
	if err == nil && !status.Stopped() {
		err = fmt.Errorf("it did not stop: %v", status)
	}
	if err == nil {
		err = c.replace()
	}
	if err == nil {
		err = unix.PtraceDetach(c.pid)
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		c.pid = 0
		return fmt.Errorf("a clock for %s: %w", cmd.Path, err)
	}
	return nil
}

// replace replaces the code of the process that tells the time.
func (c *Clock) replace() error {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.pid))
	if err != nil {
		return err
	}
	lines := strings.Split(string(maps), "\n")
	i := slices.IndexFunc(lines, func(s string) bool { return strings.HasSuffix(s, "[vdso]") })
	if i < 0 {
		return fmt.Errorf("it has no vDSO")
	}
	first, rest, _ := strings.Cut(lines[i], "-")
	last, _, _ := strings.Cut(rest, " ")
	from, err := strconv.ParseInt(first, 16, 64)
	if err != nil {
		return err
	}
	to, err := strconv.ParseInt(last, 16, 64)
	if err != nil {
		return err
	}
	mem, err := os.Open(c.memory())
	if err != nil {
		return err
	}
	defer mem.Close()
	image := make([]byte, to-from)
	if _, err := mem.ReadAt(image, from); err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return err
	}
	i = slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__vdso_clock_gettime" })
	if i < 0 || symbols[i].Size < secondsAt+8 {
		return fmt.Errorf("its vDSO has no clock_gettime that can be replaced: %v", symbols)
	}
	begin := from + int64(symbols[i].Value)
	c.at = begin + secondsAt
	if err := c.poke(begin, askKernel); err != nil {
		return err
	}
	return c.poke(c.at, c.seconds())
}

// memory is the file with the memory of the process.
func (c *Clock) memory() string { return fmt.Sprintf("/proc/%d/mem", c.pid) }

// poke writes to the memory of the process.
func (c *Clock) poke(at int64, b []byte) error {
	mem, err := os.OpenFile(c.memory(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	_, err = mem.WriteAt(b, at)
	return err
}
