package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// mostLog is how large a log file becomes, in bytes, before it is moved aside.
const mostLog = 4 << 20

// Log is where a daemon's log goes: to standard error, with a priority at
// the beginning of each line where that is the journal, or to a bounded file.
type Log struct {
	Background bool // it will go to a file, whatever standard error is until then

	mu    sync.Mutex
	file  string // guarded by mu; "": standard error stays what it is
	ofOwn bool   // guarded by mu: the file must be this daemon's own
}

// Journal reports whether standard error goes to the journal of systemd: what
// JOURNAL_STREAM says is true of whoever inherits it only while the file is the same.
func (d *Log) Journal() bool {
	var st unix.Stat_t
	return !d.Background && unix.Fstat(2, &st) == nil && os.Getenv("JOURNAL_STREAM") == fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}

// Handler returns the handler of a logger whose records of level and above go where d says.
func (d *Log) Handler(level slog.Level) slog.Handler {
	if d.Journal() {
		return newJournalHandler(os.Stderr, level)
	}
	return slog.NewTextHandler(d, &slog.HandlerOptions{Level: level})
}

// ToFile sends everything this process prints from now on, a panic too, to the file name. When it
// has grown beyond mostLog it is kept once under another name. With ofOwn so is whatever else
// stands there than a file of this user's: a store may have had another owner, who put a link
// there. It returns the error of opening the file, or of making it standard output and error.
func (d *Log) ToFile(name string, ofOwn bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.file, d.ofOwn = name, ofOwn
	return d.open()
}

const logFlags = os.O_CREATE | os.O_APPEND | os.O_WRONLY

// openOwn opens a log that nobody else has a hand in.
func openOwn(name string) (*os.File, error) {
	file, err := os.OpenFile(name, logFlags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err == nil {
		var st unix.Stat_t
		if err = unix.Fstat(int(file.Fd()), &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && int(st.Uid) == os.Geteuid() && st.Nlink == 1 {
			return file, nil
		}
		file.Close()
	}
	if _, there := os.Lstat(name); there != nil {
		return nil, err
	}
	if err := os.Rename(name, olderLog(name)); err != nil {
		return nil, err
	}
	return os.OpenFile(name, logFlags|os.O_EXCL, 0o600)
}

// open makes the file standard output and error. The caller holds mu.
func (d *Log) open() error {
	open := openOwn
	if !d.ofOwn {
		open = func(name string) (*os.File, error) { return os.OpenFile(name, logFlags, 0o600) }
	}
	file, err := open(d.file)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(file.Fd()), fd, 0); err != nil {
			return fmt.Errorf("log to %s: %w", d.file, err)
		}
	}
	return nil
}

// Write writes one record of the log.
func (d *Log) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file != "" {
		if st, err := os.Stderr.Stat(); err == nil && st.Size()+int64(len(p)) > mostLog {
			err := os.Rename(d.file, olderLog(d.file))
			if err == nil {
				err = d.open()
			}
			if err != nil { // rather lose what is old than grow without bound
				os.Stderr.Truncate(0)
			}
		}
	}
	return os.Stderr.Write(p)
}

// olderLog is the name under which a full log is kept: ctxfs.log becomes ctxfs.1.log.
func olderLog(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".1" + ext
}

// journalHandler writes records as the journal takes them from a stream: the
// priority first (sd-daemon(3)), and no time, which the journal has by itself.
type journalHandler struct {
	slog.Handler // writes to line
	line         *journalLine
}

type journalLine struct {
	mu       sync.Mutex
	out      io.Writer
	priority int // of the record being written; guarded by mu
}

func newJournalHandler(out io.Writer, level slog.Level) slog.Handler {
	line := &journalLine{out: out}
	return journalHandler{slog.NewTextHandler(line, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
				return slog.Attr{}
			}
			return a
		},
	}), line}
}

func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	h.line.mu.Lock()
	defer h.line.mu.Unlock()
	h.line.priority = priority(r.Level)
	return h.Handler.Handle(ctx, r)
}

func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return journalHandler{h.Handler.WithAttrs(attrs), h.line}
}

func (h journalHandler) WithGroup(name string) slog.Handler {
	return journalHandler{h.Handler.WithGroup(name), h.line}
}

// Write is called once for each record, by Handle, with mu held.
func (l *journalLine) Write(p []byte) (int, error) {
	_, err := fmt.Fprintf(l.out, "<%d>%s", l.priority, p)
	return len(p), err
}

// priority is the syslog(3) level of a record.
func priority(l slog.Level) int {
	switch {
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}
