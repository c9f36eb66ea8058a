package files_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// ask is what a client is to do, in the directory that it was started for.
type ask struct {
	Op   string // open, write, close, save, read, mkdir, rmdir, unlink, rename, chmod, truncate, symlink
	Path string
	To   string // of rename and symlink
	Data string // of write and save
	File int    // a number for what is open
}

// answer is what came of it.
type answer struct {
	Error string
	Data  string
	Ino   uint64 // of open and read
}

// client does what it is asked for until its input ends.
func client() {
	dir := os.Getenv("CTXFS_FILES_CLIENT")
	open := map[int]*os.File{}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var a ask
		if in.Decode(&a) != nil {
			return
		}
		var r answer
		err := func() (err error) {
			file := filepath.Join(dir, a.Path)
			switch a.Op {
			case "open":
				if open[a.File], err = os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640); err == nil {
					r.Ino, err = inode(open[a.File].Stat())
				}
			case "write":
				_, err = open[a.File].WriteString(a.Data)
			case "close":
				err = open[a.File].Close()
				delete(open, a.File)
			case "save":
				err = os.WriteFile(file, []byte(a.Data), 0o640)
			case "read":
				var data []byte
				data, err = os.ReadFile(file)
				r.Data = string(data)
				r.Ino, _ = inode(os.Lstat(file))
			case "mkdir":
				err = os.Mkdir(file, 0o750)
			case "rmdir":
				err = unix.Rmdir(file)
			case "unlink":
				err = unix.Unlink(file)
			case "rename":
				err = os.Rename(file, filepath.Join(dir, a.To))
			case "chmod":
				err = os.Chmod(file, 0o600)
			case "truncate":
				err = os.Truncate(file, 1)
			case "symlink":
				err = os.Symlink(a.To, file)
			}
			return err
		}()
		if err != nil {
			r.Error = err.Error()
		}
		out.Encode(r)
	}
}

func inode(fi os.FileInfo, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	return fi.Sys().(*syscall.Stat_t).Ino, nil
}

// remote is a client that runs.
type remote struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
}

// client starts a client in the memory of the agent.
func (h *host) client() *remote {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	r := &remote{cmd: exec.Command(exe)}
	r.cmd.Env = append(os.Environ(), "CTXFS_FILES_CLIENT="+h.path(""))
	r.cmd.Stderr = os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		h.t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	r.enc, r.dec = json.NewEncoder(r.in), json.NewDecoder(out)
	h.t.Cleanup(r.end)
	return r
}

func (r *remote) end() {
	r.in.Close()
	r.cmd.Wait()
}

// do has the client do something.
func (r *remote) do(t interface{ Fatalf(string, ...any) }, a ask) answer {
	var got answer
	if err := r.enc.Encode(a); err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	if err := r.dec.Decode(&got); err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
	return got
}

// must is do for what has to succeed.
func (r *remote) must(t testing.TB, a ask) string {
	t.Helper()
	got := r.do(t, a)
	if got.Error != "" {
		t.Fatalf("%+v: %s", a, got.Error)
	}
	return got.Data
}
