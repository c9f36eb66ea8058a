package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/pack/source"
)

// someUser is whom tests run commands for: another one where that is possible.
func someUser() int {
	if os.Getuid() == 0 {
		return other
	}
	return os.Getuid()
}

func runAs(t *testing.T, c *Client, uid int, cmd source.Command) source.Output {
	t.Helper()
	o, err := c.Run(t.Context(), uint32(uid), uint32(uid), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOutputFileOrStandardOutput(t *testing.T) {
	binary := string([]byte{0, 1, 2, 0xff, 0xfe, '\n', 0})
	for _, x := range []struct {
		name, before, script string
		data, failed         string
	}{
		{name: "file", script: `echo file >out`, data: "file\n"},
		{name: "both", script: `echo file >out; echo words`, data: "file\n"},
		{name: "touched, same content", before: `echo file >out`, script: `sleep 0.01; echo file >out; echo words`, data: "file\n"},
		{name: "not touched, standard output", before: `echo old >out`, script: `echo words`, data: "words\n"},
		{name: "not touched, silent", before: `echo old >out`, script: `:`, data: "old\n"},
		{name: "replaced", before: `echo old >out`, script: `echo new >tmp; mv tmp out; echo words`, data: "new\n"},
		{name: "removed", before: `echo old >out`, script: `rm out; echo words`, data: "words\n"},
		{name: "emptied", before: `echo old >out`, script: `: >out; echo words`, data: ""},
		{name: "nothing", script: `:`, failed: "neither the output file nor standard output was written"},
		{name: "binary", script: `printf '\000\001\002\377\376\n\000' >out`, data: binary},
		{name: "a symlink to a file", script: `echo file >real; ln -s real out`, data: "file\n"},
		{name: "a symlink to what is not the user's", script: `ln -s ` + secret + ` out; echo words`, failed: "the output cannot be read: permission denied"},
		{name: "a symlink to itself", script: `ln -s out out; echo words`, failed: "the output cannot be read: too many levels of symbolic links"},
		{name: "a FIFO", script: `mkfifo out; echo words`, failed: "the output is a FIFO, not a regular file"},
		{name: "a FIFO with a writer", script: `mkfifo out; echo held >out & echo words`, failed: "the output is a FIFO, not a regular file"},
		{name: "a directory", script: `mkdir out`, failed: "the output is a directory, not a regular file"},
		{name: "a device", script: `ln -s /dev/zero out`, failed: "the output is a device, not a regular file"},
		{name: "too large", script: `head -c 4194305 /dev/zero >out`, failed: "the output is larger than 4194304 bytes"},
		{name: "just not too large", script: `head -c 4194304 /dev/zero >out`, data: strings.Repeat("\x00", 4194304)},
		{name: "5 GiB", before: `5 GiB`, script: `echo x >>out`, failed: "ended by signal: file size limit exceeded"},
		{name: "5 GiB before", before: `5 GiB`, script: `echo words`, data: "words\n"},
		{name: "5 GiB before, silent", before: `5 GiB`, script: `:`, failed: "the output is larger than 4194304 bytes"},
		{name: "a FIFO before, standard output", before: `mkfifo out`, script: `echo words`, data: "words\n"},
		{name: "a FIFO before, silent", before: `mkfifo out`, script: `:`, failed: "the output is a FIFO, not a regular file"},
		{name: "a directory before, standard output", before: `mkdir out`, script: `echo words`, data: "words\n"},
		{name: "a link to a secret before, standard output", before: `ln -s ` + secret + ` out`, script: `echo words`, data: "words\n"},
		{name: "a link to a secret before, silent", before: `ln -s ` + secret + ` out`, script: `:`, failed: "the output cannot be read: permission denied"},
		{name: "a link to itself before, standard output", before: `ln -s out out`, script: `echo words`, data: "words\n"},
		{name: "a FIFO that took a file's place", before: `echo old >out`, script: `rm out; mkfifo out; echo words`, failed: "the output is a FIFO, not a regular file"},
		{name: "a hard link to what was there", before: `echo old >real`, script: `ln real out`, data: "old\n"},
		{name: "through a link to a directory", before: `mkdir real; ln -s real gone`, script: `echo file >gone/out; echo words`, data: "file\n"},
		{name: "through a link to a directory of somebody else", before: `ln -s /root gone`, script: `echo words`, data: "words\n"},
		{name: "a failure", script: `echo file >out; exit 1`, failed: "exit status 1"},
		{name: "in a directory that is not there", before: `missing`, script: `echo words`, data: "words\n"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c, uid := start(t), someUser()
			dir := home(t, uid)
			switch x.before {
			case "5 GiB":
				f := write(t, filepath.Join(dir, "out"), "")
				if err := errors.Join(os.Truncate(f, 5<<30), os.Chown(f, uid, -1)); err != nil {
					t.Fatal(err)
				}
			case "", "missing":
			default:
				cmd, _ := marked(dir, x.before)
				if o := runAs(t, c, uid, cmd); o.Failed != "" {
					t.Fatalf("%+v", o)
				}
			}
			cmd, mark := marked(dir, x.script)
			cmd.Output = filepath.Join(dir, "out")
			if x.before == "missing" || strings.Contains(x.before, "gone") {
				cmd.Output = filepath.Join(dir, "gone/out")
			}
			o := runAs(t, c, uid, cmd)
			if string(o.Data) != x.data || o.Failed != x.failed {
				t.Errorf("%d bytes %.100q, failed %q, want %d bytes %.100q, failed %q", len(o.Data), o.Data, o.Failed, len(x.data), x.data, x.failed)
			}
			if left := bearers(mark); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// secret is a file that no user but root may read.
const secret = "/etc/shadow"

func TestCommandsThatCannotRun(t *testing.T) {
	c, uid := start(t), someUser()
	dir := home(t, uid)
	file := func(name, text string, mode os.FileMode) {
		t.Helper()
		f := write(t, filepath.Join(dir, name), text)
		if err := errors.Join(os.Chown(f, uid, -1), os.Chmod(f, mode)); err != nil {
			t.Fatal(err)
		}
	}
	file("plain", "text", 0o644)
	file("script", "echo no first line\n", 0o755)
	file("broken", "#!/nowhere/sh\n", 0o755)
	file("good", "#!/bin/sh\necho good\n", 0o755)
	var locked string
	if os.Getuid() == 0 {
		locked = filepath.Join(dir, "locked")
		if err := os.Mkdir(locked, 0o700); err != nil {
			t.Fatal(err)
		}
	} else {
		locked = "/root"
	}
	many := strings.Repeat("x", maxCommand)
	for want, cmd := range map[string]source.Command{
		"ctags-map: not found in PATH /usr/local/bin:/usr/bin:/bin":                {Args: []string{"ctags-map", "."}, Env: []string{searchPath}},
		"sh: not found in PATH ":                                                   {Args: []string{"sh"}},
		"./nowhere: not found":                                                     {Args: []string{"./nowhere"}},
		"./plain: not executable":                                                  {Args: []string{"./plain"}},
		"./script: exec format error (a script begins with a line like #!/bin/sh)": {Args: []string{"./script"}},
		"./broken: no such file or directory":                                      {Args: []string{"./broken"}},
		"directory " + locked + ": permission denied":                              {Args: []string{"/bin/true"}, Dir: locked},
		"directory /nowhere: no such file or directory":                            {Args: []string{"/bin/true"}, Dir: "/nowhere"},
		"the directory is not an absolute path":                                    {Args: []string{"/bin/true"}, Dir: "x"},
		"the output is not an absolute path":                                       {Args: []string{"/bin/true"}, Output: "x"},
		"no command":                                                               {},
		"a word of the command holds a zero byte":                                  {Args: []string{"a\x00b"}},
		"the command and its environment are larger than 1048576 bytes":            {Args: []string{"x", many}},
		"standard input is larger than 4194304 bytes":                              {Args: []string{"x"}, Stdin: make([]byte, maxStdin+1)},
	} {
		if cmd.Dir == "" {
			cmd.Dir = dir
		}
		if o := runAs(t, c, uid, cmd); o.Failed != want || o.Data != nil {
			t.Errorf("%q: %+v, want %q", cmd.Args, o, want)
		}
	}
	for _, cmd := range []source.Command{{Args: []string{"./good"}}, {Args: []string{"good"}, Env: []string{"PATH=" + dir}}, {Args: []string{"good"}, Env: []string{"PATH=/nowhere:."}}} {
		cmd.Dir = dir
		if o := runAs(t, c, uid, cmd); string(o.Data) != "good\n" {
			t.Errorf("%v: %+v", cmd.Args, o)
		}
	}
	if os.Getuid() == 0 {
		if o, err := c.Run(t.Context(), 1<<32-1, 0, source.Command{Args: []string{"/bin/true"}, Dir: "/"}); err != nil || o.Failed != "it cannot be started: not a uid" {
			t.Errorf("uid -1: %+v, %v", o, err)
		}
	}
}

func TestInsideKnowsWhatARunStarted(t *testing.T) {
	for _, plain := range []bool{false, true} {
		c, uid := start(t), someUser()
		c.plain = plain
		dir := home(t, uid)
		if s, ok := c.Inside(uint32(os.Getpid())); ok {
			t.Errorf("this test is inside of %q", s)
		}
		cmd, mark := marked(dir, `(setsid sh -c 'sleep 1000; :' &); sh -c 'sh -c "sleep 1000; :"; :' & mkfifo go; : >ready; read x <go`)
		done := make(chan source.Output)
		go func() { done <- runAs(t, c, uid, cmd) }()
		until(t, "all run", func() bool {
			_, err := os.Stat(filepath.Join(dir, "ready"))
			return err == nil && len(bearers(mark)) == 6
		})
		for _, pid := range bearers(mark) {
			if s, ok := c.Inside(uint32(pid)); !ok || s != "s1" {
				t.Errorf("%d: %q, %v", pid, s, ok)
			}
		}
		for _, pid := range []uint32{0, 1, uint32(os.Getpid()), uint32(c.broker()), 1 << 30} {
			if s, ok := c.Inside(pid); ok {
				t.Errorf("%d is inside of %q", pid, s)
			}
		}
		f, err := os.OpenFile(filepath.Join(dir, "go"), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "x\n")
		f.Close()
		if o := <-done; o.Failed != "" {
			t.Errorf("%+v", o)
		}
		if c.running.Load() != 0 || len(c.runs) != 0 {
			t.Errorf("%d runs are known", len(c.runs))
		}
	}
}

func TestHangingCommandsHoldNobodyElse(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root runs commands of several users")
	}
	c := start(t)
	dir := home(t, other)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range maxRunsOfUser + 1 {
		wg.Go(func() {
			cmd, _ := marked(dir, `sleep 1000`)
			if o, err := c.Run(ctx, uint32(other), uint32(other), cmd); err != nil || o.Failed != reasonCancelled {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
	until(t, "all that may run do", func() bool { return c.running.Load() == maxRunsOfUser })
	cmd, _ := marked("/", `echo fine`)
	if o := runAs(t, c, alone, cmd); string(o.Data) != "fine\n" {
		t.Errorf("another user: %+v", o)
	}
	if f := readAs(t, c, other, long, "/etc/passwd")[0]; f.Stale || !f.Exists {
		t.Errorf("a file of the same user: %+v", f)
	}
	if n := c.running.Load(); n != maxRunsOfUser {
		t.Errorf("%d run", n)
	}
	cancel()
	wg.Wait()
}

func TestTurnsAreGivenBack(t *testing.T) {
	var tn turns
	tn.init()
	ctx, cancel := context.WithCancel(t.Context())
	var leaves []func()
	for uid := range uint32(maxRuns / maxRunsOfUser) {
		for range maxRunsOfUser {
			leave, ok := tn.take(ctx, uid)
			if !ok {
				t.Fatal("no turn")
			}
			leaves = append(leaves, leave)
		}
	}
	cancel()
	for _, uid := range []uint32{0, 1000} { // its own places are taken, or all are
		if _, ok := tn.take(ctx, uid); ok {
			t.Errorf("uid %d has one more turn", uid)
		}
	}
	for _, leave := range leaves {
		leave()
	}
	if leave, ok := tn.take(context.Background(), 1000); !ok || len(tn.users) != 1 {
		t.Errorf("%v, users left: %v", ok, tn.users)
	} else {
		leave()
	}
}

func TestPacketComesBack(t *testing.T) {
	b := packet{outcome{Failed: "x", Stderr: []byte("\xff")}, []byte("data")}.appendTo(nil)
	var o outcome
	if data, err := parsePacket(b, &o); err != nil || string(data) != "data" || o.Failed != "x" || !bytes.Equal(o.Stderr, []byte("\xff")) {
		t.Errorf("%q, %+v, %v", data, o, err)
	}
	for i := range len(b) - len("data") {
		if _, err := parsePacket(b[:i], &o); err == nil {
			t.Errorf("cut at %d it is whole", i)
		}
	}
}
