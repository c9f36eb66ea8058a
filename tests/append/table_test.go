package appendtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/tests/harness"
)

const appendFlags = unix.O_WRONLY | unix.O_APPEND

// row is one row of the conformance table.
type row struct {
	name  string
	log   string // "": messages.jsonl
	seed  string // what the log holds before
	do    func(t *testing.T, s *harness.Session, log string) error
	errno unix.Errno // what do gives
	after string     // what the log holds then; "=": the seed
	why   string     // part of the reason in errors.jsonl
	quiet bool       // the kernel refuses it: no row in errors.jsonl
}

// writes makes each string one write(2) on one O_APPEND handle; all but the last must succeed.
func writes(data ...string) func(*testing.T, *harness.Session, string) error {
	return func(t *testing.T, s *harness.Session, log string) error {
		fd := open(t, s, log, appendFlags)
		for _, d := range data[:len(data)-1] {
			if err := write(fd, d); err != nil {
				t.Fatalf("write %s: %v", short(d), err)
			}
		}
		return write(fd, data[len(data)-1])
	}
}

// closes is writes, then close(2), whose error counts.
func closes(data ...string) func(*testing.T, *harness.Session, string) error {
	return func(t *testing.T, s *harness.Session, log string) error {
		fd, err := unix.Open(s.Path(log), appendFlags, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range data {
			if err := write(fd, d); err != nil {
				t.Fatalf("write %s: %v", short(d), err)
			}
		}
		return unix.Close(fd)
	}
}

// onFD makes one call on a handle opened with flags.
func onFD(flags int, call func(fd int) error) func(*testing.T, *harness.Session, string) error {
	return func(t *testing.T, s *harness.Session, log string) error {
		return call(open(t, s, log, flags))
	}
}

// onPath makes one call on the log's path.
func onPath(call func(path string) error) func(*testing.T, *harness.Session, string) error {
	return func(t *testing.T, s *harness.Session, log string) error { return call(s.Path(log)) }
}

func clearAppend(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	return err
}

func seek(fd int, off int64, whence int) error {
	_, err := unix.Seek(fd, off, whence)
	return err
}

var end = int64(len(rec1)) // of a log that holds rec1

var table = []row{
	// Whole lines.
	{name: "one record", do: writes(rec1), after: rec1},
	{name: "one record after another", seed: rec1, do: writes(rec2), after: rec1 + rec2},
	{name: "several records in one write", do: writes(rec1 + rec2 + rec3), after: rec1 + rec2 + rec3},
	{name: "a record that ends in CR LF", do: writes(`{"role":"user","content":"x"}` + "\r\n"), after: `{"role":"user","content":"x"}` + "\r\n"},
	{name: "blanks around a record", do: writes(` {"role":"user","content":"x"} ` + "\n"), after: ` {"role":"user","content":"x"} ` + "\n"},
	{name: "an empty write", seed: rec1, do: writes(""), after: rec1},
	{name: "writev of many records", do: onFD(appendFlags, writev(1000)), after: strings.Repeat(rec2, 1000)},
	{name: "null content with calls", do: writes(`{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}` + "\n"),
		after: `{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}` + "\n"},
	{name: "a list of parts", do: writes(`{"role":"user","content":[{"type":"text","text":"x"}]}` + "\n"),
		after: `{"role":"user","content":[{"type":"text","text":"x"}]}` + "\n"},

	// Offsets.
	{name: "O_APPEND ignores the offset", seed: rec1, do: onFD(appendFlags, func(fd int) error { return pwrite(fd, rec2, 3) }), after: rec1 + rec2},
	{name: "without O_APPEND exactly at the end", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error { return pwrite(fd, rec2, end) }), after: rec1 + rec2},
	{name: "without O_APPEND after a seek to the end", seed: rec1,
		do: onFD(unix.O_WRONLY, func(fd int) error { return all(seek(fd, 0, unix.SEEK_END), write(fd, rec2), write(fd, rec3)) }), after: rec1 + rec2 + rec3},
	{name: "without O_APPEND staged, at the end and what is staged", seed: rec1,
		do: onFD(unix.O_WRONLY, func(fd int) error { return all(pwrite(fd, rec2[:9], end), pwrite(fd, rec2[9:], end+9)) }), after: rec1 + rec2},
	{name: "without O_APPEND staged, at the end alone", seed: rec1,
		do: onFD(unix.O_WRONLY, func(fd int) error { return first(pwrite(fd, rec2[:9], end), pwrite(fd, rec2[9:], end)) }), errno: unix.EPERM, after: "=", why: "end"},
	{name: "a write below the end", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error { return pwrite(fd, rec2, 0) }), errno: unix.EPERM, after: "="},
	{name: "a write beyond the end", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error { return pwrite(fd, rec2, end+1) }), errno: unix.EPERM, after: "="},
	{name: "a first write at offset 0 of an empty log", do: onFD(unix.O_WRONLY, func(fd int) error { return write(fd, rec1) }), after: rec1},
	{name: "O_RDWR with O_APPEND", seed: rec1, do: onFD(unix.O_RDWR|unix.O_APPEND, func(fd int) error { return write(fd, rec2) }), after: rec1 + rec2},
	{name: "O_RDWR below the end", seed: rec1, do: onFD(unix.O_RDWR, func(fd int) error { return pwrite(fd, rec2, 0) }), errno: unix.EPERM, after: "="},
	{name: "O_APPEND cleared by fcntl, below the end", seed: rec1,
		do: onFD(appendFlags, func(fd int) error { return first(clearAppend(fd), seek(fd, 0, unix.SEEK_SET), write(fd, rec2)) }), errno: unix.EPERM, after: "="},
	{name: "O_APPEND cleared by fcntl, at the end", seed: rec1,
		do: onFD(appendFlags, func(fd int) error { return all(clearAppend(fd), seek(fd, end, unix.SEEK_SET), write(fd, rec2)) }), after: rec1 + rec2},
	{name: "O_APPEND set by fcntl", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND)
		return all(err, write(fd, rec2))
	}), after: rec1 + rec2},

	// Split records.
	{name: "a record in two writes", seed: rec1, do: writes(rec2[:11], rec2[11:]), after: rec1 + rec2},
	{name: "a record a byte at a time", do: writes(strings.Split(rec1, "")...), after: rec1},
	{name: "the end of one and the start of the next", do: writes(rec1+rec2[:20], rec2[20:]+rec3), after: rec1 + rec2 + rec3},
	{name: "a split inside a UTF-8 sequence", do: writes(`{"role":"user","content":"`+"\xc3", "\xa9\"}\n"), after: `{"role":"user","content":"é"}` + "\n"},
	{name: "a newline on its own", do: writes(strings.TrimSuffix(rec1, "\n"), "\n"), after: rec1},
	{name: "staged is not visible", seed: rec1, do: writes(rec2[:40]), after: rec1},

	// Flush.
	{name: "complete without newline, closed", do: closes(strings.TrimSuffix(rec1, "\n")), after: rec1},
	{name: "complete without newline but blanks, closed", do: closes(strings.TrimSuffix(rec1, "\n") + " \t"), after: strings.TrimSuffix(rec1, "\n") + " \t\n"},
	{name: "nothing, closed", seed: rec1, do: closes(), after: rec1},
	{name: "incomplete, closed", seed: rec1, do: closes(rec2[:30]), errno: unix.EINVAL, after: "="},
	{name: "complete JSON without a role, closed", seed: rec1, do: closes(`{"content":"x"}`), errno: unix.EINVAL, after: "="},

	// Malformed.
	{name: "not JSON", seed: rec1, do: writes("nope\n"), errno: unix.EINVAL, after: "=", why: "JSON"},
	{name: "half JSON", do: writes(`{"role":"user","content":` + "\n"), errno: unix.EINVAL, why: "JSON"},
	{name: "two objects on a line", do: writes(strings.TrimSpace(rec1) + rec2), errno: unix.EINVAL, why: "JSON"},
	{name: "not an object", do: writes(`["role","user"]` + "\n"), errno: unix.EINVAL, why: "object"},
	{name: "a JSON string", do: writes(`"role"` + "\n"), errno: unix.EINVAL, why: "object"},
	{name: "invalid UTF-8", do: writes("{\"role\":\"user\",\"content\":\"\xff\"}\n"), errno: unix.EINVAL, why: "UTF-8"},
	{name: "missing role", do: writes(`{"content":"x"}` + "\n"), errno: unix.EINVAL, why: "role"},
	{name: "unknown role", do: writes(`{"role":"robot","content":"x"}` + "\n"), errno: unix.EINVAL, why: "robot"},
	{name: "role not a string", do: writes(`{"role":1,"content":"x"}` + "\n"), errno: unix.EINVAL, why: "role"},
	{name: "no content and no calls", do: writes(`{"role":"user"}` + "\n"), errno: unix.EINVAL, why: "content"},
	{name: "content a number", do: writes(`{"role":"user","content":3}` + "\n"), errno: unix.EINVAL, why: "content"},
	{name: "NUL", do: writes("{\"role\":\"user\",\"content\":\"\x00\"}\n"), errno: unix.EINVAL, why: "NUL"},
	{name: "a NUL, closed", do: closes("\x00"), errno: unix.EINVAL},
	{name: "blank line", seed: rec1, do: writes("\n"), errno: unix.EINVAL, after: "=", why: "blank"},
	{name: "line of blanks", seed: rec1, do: writes(" \t\n"), errno: unix.EINVAL, after: "=", why: "blank"},
	{name: "blank line between records", do: writes(rec1 + "\n" + rec2), errno: unix.EINVAL, after: rec1, why: "blank"},
	{name: "nested too deep", do: writes(`{"role":"user","content":[],"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}\n"), errno: unix.EINVAL, why: "nested"},
	{name: "valid ones before it stay", seed: rec1, do: writes(rec2 + "nope\n" + rec3), errno: unix.EINVAL, after: rec1 + rec2, why: "JSON"},
	{name: "refused at the end of a split record", seed: rec1, do: writes(rec2+`{"role":"us`, `er"}`+"\n"+rec3), errno: unix.EINVAL, after: rec1 + rec2, why: "content"},

	// Truncation.
	{name: "O_TRUNC of a log with records", seed: rec1, do: onPath(func(p string) error {
		fd, err := unix.Open(p, unix.O_WRONLY|unix.O_TRUNC, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}), errno: unix.EPERM, after: "="},
	{name: "O_TRUNC with O_APPEND", seed: rec1, do: onPath(func(p string) error {
		fd, err := unix.Open(p, appendFlags|unix.O_TRUNC, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}), errno: unix.EPERM, after: "="},
	{name: "O_TRUNC of an empty log", do: onFD(unix.O_WRONLY|unix.O_TRUNC, func(fd int) error { return write(fd, rec1) }), after: rec1},
	{name: "O_CREAT of a log that is there", seed: rec1, do: onFD(appendFlags|unix.O_CREAT, func(fd int) error { return write(fd, rec2) }), after: rec1 + rec2},
	{name: "O_CREAT and O_EXCL", seed: rec1, do: onPath(func(p string) error {
		_, err := unix.Open(p, appendFlags|unix.O_CREAT|unix.O_EXCL, 0o600)
		return err
	}), errno: unix.EEXIST, after: "=", quiet: true},
	{name: "truncate", seed: rec1, do: onPath(func(p string) error { return unix.Truncate(p, 0) }), errno: unix.EPERM, after: "="},
	{name: "truncate to more", seed: rec1, do: onPath(func(p string) error { return unix.Truncate(p, end+10) }), errno: unix.EPERM, after: "="},
	{name: "ftruncate", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error { return unix.Ftruncate(fd, 1) }), errno: unix.EPERM, after: "="},
	{name: "ftruncate of an O_APPEND handle", seed: rec1, do: onFD(appendFlags, func(fd int) error { return unix.Ftruncate(fd, 0) }), errno: unix.EPERM, after: "="},
	{name: "fallocate", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error { return unix.Fallocate(fd, 0, 0, 4096) }), errno: unix.EPERM, after: "="},
	{name: "punching a hole", seed: rec1, do: onFD(unix.O_WRONLY, func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 8)
	}), errno: unix.EPERM, after: "="},

	// Names.
	{name: "unlink", seed: rec1, do: onPath(unix.Unlink), errno: unix.EPERM, after: "="},
	{name: "rename from", seed: rec1, do: onPath(func(p string) error { return unix.Rename(p, p+".old") }), errno: unix.EPERM, after: "="},
	{name: "rename to the agent's home", seed: rec1, do: onPath(func(p string) error { return unix.Rename(p, filepath.Join(p, "../../../moved")) }), errno: unix.EPERM, after: "="},
	{name: "rename over", seed: rec1, do: onPath(func(p string) error { return unix.Rename(ordinary(p, rec2), p) }), errno: unix.EPERM, after: "="},
	{name: "exchange", seed: rec1, do: onPath(func(p string) error {
		return unix.Renameat2(unix.AT_FDCWD, ordinary(p, rec2), unix.AT_FDCWD, p, unix.RENAME_EXCHANGE)
	}), errno: unix.EPERM, after: "="},
	{name: "link", seed: rec1, do: onPath(func(p string) error { return unix.Link(p, filepath.Join(p, "../../../linked")) }), errno: unix.EPERM, after: "="},

	// Attributes.
	{name: "chown", seed: rec1, do: onPath(func(p string) error { return unix.Chown(p, 4321, 4321) }), errno: unix.EPERM, after: "=",
		quiet: os.Getuid() != 0}, // a user's never reaches the daemon
	{name: "chmod", seed: rec1, do: onPath(func(p string) error { return unix.Chmod(p, 0o777) }), errno: unix.EPERM, after: "="},
	{name: "explicit utimes", seed: rec1, do: onPath(func(p string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0)
	}), errno: unix.EPERM, after: "="},
	{name: "explicit mtime alone", seed: rec1, do: onPath(func(p string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: 1}}, 0)
	}), errno: unix.EPERM, after: "="},
	{name: "touch now", seed: rec1, do: onPath(func(p string) error { return unix.UtimesNanoAt(unix.AT_FDCWD, p, nil, 0) }), after: "="},
	{name: "touch now, spelt out", seed: rec1, do: onPath(func(p string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}, 0)
	}), after: "="},

	// Mappings and copies.
	{name: "mmap MAP_SHARED for writing", seed: rec1, do: onFD(unix.O_RDWR, func(fd int) error {
		_, err := unix.Mmap(fd, 0, int(end), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		return err
	}), errno: unix.ENODEV, after: "=", quiet: true},
	{name: "mmap MAP_SHARED for reading", seed: rec1, do: onFD(unix.O_RDONLY, func(fd int) error {
		_, err := unix.Mmap(fd, 0, int(end), unix.PROT_READ, unix.MAP_SHARED)
		return err
	}), errno: unix.ENODEV, after: "=", quiet: true},
	{name: "copy_file_range at the end", seed: rec1, do: copyRange(unix.O_WRONLY, end, rec2), after: rec1 + rec2},
	{name: "copy_file_range below the end", seed: rec1, do: copyRange(unix.O_WRONLY, 0, rec2), errno: unix.EPERM, after: "="},
	{name: "copy_file_range of what is no record", seed: rec1, do: copyRange(unix.O_WRONLY, end, "nope\n"), errno: unix.EINVAL, after: "="},

	// events.jsonl.
	{name: "an event", log: events, seed: evt1, do: writes(evt2), after: evt1 + evt2},
	{name: "an event in two writes", log: events, seed: evt1, do: writes(evt2[:5], evt2[5:]), after: evt1 + evt2},
	{name: "an event without newline, closed", log: events, do: closes(strings.TrimSpace(evt1)), after: evt1},
	{name: "half an event, closed", log: events, do: closes(evt1[:9]), errno: unix.EINVAL},
	{name: "an event without type", log: events, seed: evt1, do: writes(rec1), errno: unix.EINVAL, after: "=", why: "type"},
	{name: "an event whose type is no string", log: events, do: writes(`{"type":1}` + "\n"), errno: unix.EINVAL, why: "type"},
	{name: "a message needs no type, an event no role", log: events, do: writes(evt1 + "{}\n"), errno: unix.EINVAL, after: evt1, why: "type"},
	{name: "events: truncate", log: events, seed: evt1, do: onPath(func(p string) error { return unix.Truncate(p, 0) }), errno: unix.EPERM, after: "="},
	{name: "events: unlink", log: events, seed: evt1, do: onPath(unix.Unlink), errno: unix.EPERM, after: "="},
	{name: "events: below the end", log: events, seed: evt1, do: onFD(unix.O_WRONLY, func(fd int) error { return pwrite(fd, evt2, 0) }), errno: unix.EPERM, after: "="},
}

// first returns the first error: the last call alone may fail.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func writev(n int) func(fd int) error {
	return func(fd int) error {
		iov := make([][]byte, n)
		for i := range iov {
			iov[i] = []byte(rec2)
		}
		return once(func() (int, error) { return unix.Writev(fd, iov) }, n*len(rec2))
	}
}

// ordinary makes a file in the agent's home of the log at path.
func ordinary(path, data string) string {
	p := filepath.Join(path, "../../../ordinary-"+filepath.Base(filepath.Dir(path)))
	if err := os.WriteFile(p, []byte(data), 0o600); err != nil {
		panic(err)
	}
	return p
}

func copyRange(flags int, off int64, data string) func(*testing.T, *harness.Session, string) error {
	return func(t *testing.T, s *harness.Session, log string) error {
		src, err := unix.Open(ordinary(s.Path(log), data), unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(src)
		dst := open(t, s, log, flags)
		return once(func() (int, error) { return unix.CopyFileRange(src, nil, dst, &off, len(data), 0) }, len(data))
	}
}

func TestAppendTable(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	seen := map[string]bool{}
	t.Run("rows", func(t *testing.T) {
		for _, r := range table {
			if seen[r.name] {
				t.Fatalf("two rows %q", r.name)
			}
			seen[r.name] = true
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				r.run(t, m)
			})
		}
	})
}

func (r row) run(t *testing.T, m *harness.Mount) {
	log, after := r.log, r.after
	if log == "" {
		log = messages
	}
	if after == "=" {
		after = r.seed
	}
	s := m.NewSession(t)
	if r.seed != "" {
		s.Append(log, r.seed)
	}
	var before unix.Stat_t
	if err := unix.Stat(s.Path(log), &before); err != nil {
		t.Fatal(err)
	}
	harness.WantErrno(t, r.name, r.do(t, s, log), r.errno)
	wantLog(t, s, log, after)
	if r.quiet {
		wantRow(t, s, log, 0, "")
	} else {
		wantRow(t, s, log, r.errno, r.why)
	}
	var st unix.Stat_t
	if err := unix.Stat(s.Path(log), &st); err != nil {
		t.Fatal(err)
	}
	if st.Ino != before.Ino || st.Uid != before.Uid || st.Mode != before.Mode || st.Nlink != 1 {
		t.Errorf("the log's inode changed: %+v, before %+v", st, before)
	}
	// Whatever was refused, the next record is welcome.
	next := rec3
	if log == events {
		next = evt2
	}
	s.Append(log, next)
	wantLog(t, s, log, after+next)
	// The store holds the same bytes: history can be read without the daemon.
	if b, err := os.ReadFile(filepath.Join(s.InStore(), log)); err != nil || string(b) != after+next {
		t.Errorf("the store's %s holds %s, %v", log, short(string(b)), err)
	}
}

func TestDirectoriesOfASessionCannotBeRemoved(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(messages, rec1)
	for _, dir := range []string{"", "context", "context/pinned", "context/line"} {
		harness.WantErrno(t, "rmdir "+dir, unix.Rmdir(s.Path(dir)), unix.EPERM)
		if dir != "" {
			away := filepath.Join(filepath.Dir(dir), "away") // beside it: elsewhere the kernel itself refuses a directory without a write bit
			harness.WantErrno(t, "rename "+dir, unix.Rename(s.Path(dir), s.Path(away)), unix.EPERM)
		}
	}
	if r := s.Mount.Run(t, harness.Client{UID: s.UID, Argv: []string{"rm", "-rf", s.Dir}}); r.Code == 0 || !strings.Contains(r.Stderr, "not permitted") {
		t.Errorf("rm -rf of a session: %+v", r)
	}
	wantLog(t, s, messages, rec1)
}

func TestReadingNeedsAReadableHandle(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(messages, rec1)
	harness.WantErrno(t, "write on O_RDONLY", write(open(t, s, messages, unix.O_RDONLY), rec2), unix.EBADF)
	_, err := unix.Pread(open(t, s, messages, appendFlags), make([]byte, 8), 0)
	harness.WantErrno(t, "read on O_WRONLY", err, unix.EBADF)
	wantLog(t, s, messages, rec1)
}
