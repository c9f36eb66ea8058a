package cluster

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// index returns user.ctx.index of a file.
func index(t *testing.T, s *harness.Session, name string) string {
	t.Helper()
	value := make([]byte, 32)
	n, err := unix.Getxattr(s.Path(name), "user.ctx.index", value)
	if err != nil {
		t.Fatalf("user.ctx.index of %s: %v", name, err)
	}
	return string(value[:n])
}

func lastWriteCounts(t *testing.T, p pair) {
	f, err := os.OpenFile(p.a.Path("state"), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.b.Write("state", "idle\n")
	theirs := index(t, p.b, "state")
	if _, err := f.WriteString("done\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	own := index(t, p.a, "state")
	p.agree(t, "state", "done\n")
	told := ""
	for _, row := range p.a.Errors() {
		told += row.Path + ": " + row.Reason + "\n"
	}
	if !strings.Contains(told, "state: entry "+own+" has replaced what host b had set in entry "+theirs+" ") {
		t.Errorf("a was told %q; its entry is %s, the other %s", told, own, theirs)
	}
	for _, s := range p.both() {
		list := s.Mount.CLI(t, "history", s.Path("state")).OK()
		if rows := strings.Split(list, "\n"); len(rows) < 4 || !strings.HasPrefix(rows[1], own+" ") || !strings.HasPrefix(rows[2], theirs+" ") ||
			!strings.Contains(rows[2], fmt.Sprintf(" b     %d", harness.Self())) {
			t.Errorf("the history is\n%s", list)
		}
		if old := s.Mount.CLI(t, "history", "--show", theirs, s.Path("state")).OK(); old != "idle\n" {
			t.Errorf("entry %s wrote %q", theirs, old)
		}
	}
}

// edit is a program that changes a file only if nobody else has since it has read it. It waits for a line
// between, and prints its errno.
const edit = `
import os, sys
fd = os.open("context/budget", os.O_RDWR)
last = os.getxattr(fd, "user.ctx.index")
was = os.read(fd, 100)
print("read", flush=True)
sys.stdin.readline()
os.setxattr(fd, "user.ctx.expect", last)
os.ftruncate(fd, 0)
os.pwrite(fd, b"%d\n" % (int(was) + 1), 0)
try:
    os.close(fd)
    print("written")
except OSError as e:
    print(e.errno)
`

func expectations(t *testing.T, p pair) {
	harness.Need(t, "python3")
	p.a.Write("context/budget", "8000\n")
	p.agree(t, "context/budget", "8000")
	run := func(meanwhile func()) string {
		c := p.b.Mount.Command(t.Context(), harness.Client{UID: p.b.UID, Dir: p.b.Dir, Argv: []string{"python3", "-c", edit}})
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); line != "read\n" {
			t.Errorf("%q %v", line, err)
		}
		meanwhile()
		in.Write([]byte("\n"))
		in.Close()
		line, _ := lines.ReadString('\n')
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, &stderr)
		}
		return line
	}
	if got := run(func() {}); got != "written\n" {
		t.Errorf("a write on what was read: %q", got)
	}
	p.agree(t, "context/budget", "8001")
	if got := run(func() { p.a.Write("context/budget", "9000\n") }); got != strconv.Itoa(int(syscall.ESTALE))+"\n" {
		t.Errorf("a write on what another host has set since: %q", got)
	}
	p.agree(t, "context/budget", "9000")
	row := p.b.Errors()
	if len(row) != 1 || row[0].Errno != "ESTALE" || row[0].Path != "context/budget" || !strings.Contains(row[0].Reason, "host a has set it in entry "+index(t, p.a, "context/budget")) {
		t.Errorf("b was told %+v", row)
	}
	// It is of one process: others write as ever.
	p.b.Write("context/budget", "9500\n")
	p.agree(t, "context/budget", "9500")
}

func notesOfBoth(t *testing.T, p pair) {
	var all sync.WaitGroup
	for i, s := range p.both() {
		all.Go(func() {
			for n := range 4 {
				if r := s.Bash(fmt.Sprintf(`echo '- [ ] host %d row %d' >> context/todo.md`, i, n)); r.Code != 0 {
					t.Errorf("%s", r.Stderr)
				}
			}
		})
	}
	all.Wait()
	var want []string
	for i := range 2 {
		for n := range 4 {
			want = append(want, fmt.Sprintf("- [ ] host %d row %d\n", i, n))
		}
	}
	text := p.agree(t, "context/todo.md", want...)
	for _, w := range want {
		if strings.Count(text, w) != 1 {
			t.Errorf("%q stands %d times in %q", w, strings.Count(text, w), text)
		}
	}
}
