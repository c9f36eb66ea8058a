package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/cluster/history"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// load is all that programs do on the mounts.
type load struct {
	f        *fleet
	h        *history.History
	sessions []*work
	rate     time.Duration // between two writes of a writer
	rare     time.Duration // the same, to sessions that are parked meanwhile
	stop     context.CancelFunc
	all      sync.WaitGroup

	ids     atomic.Int64
	longest atomic.Int64 // of the writes that were acknowledged

	mu     sync.Mutex      // guards all below
	odd    map[string]int  // what should not have happened, and how often
	errnos map[string]int  // what writes returned
	made   map[string]bool // sessions that somebody made
	packs  int
}

// work is one session, and who uses it.
type work struct {
	name    string
	hosts   []*machine // those that write
	rare    bool       // they do it rarely
	logs    map[string]*history.List
	setting *history.Register
}

// logNames are the logs of a session.
var logNames = []string{ctxabi.MessagesFile, ctxabi.EventsFile}

// newLoad returns programs that use sessions, which are made.
func newLoad(f *fleet, h *history.History, shared int) *load {
	l := &load{f: f, h: h, odd: map[string]int{}, errnos: map[string]int{}, made: map[string]bool{}}
	add := func(name string, hosts ...*machine) {
		w := &work{name: name, hosts: hosts, logs: map[string]*history.List{}, setting: h.Register(name + "/" + ctxabi.MetaFile)}
		for _, log := range logNames {
			w.logs[log] = h.List(name + "/" + log)
		}
		l.sessions = append(l.sessions, w)
	}
	for i := range shared {
		add(fmt.Sprint("shared-", i), f.hosts...)
	}
	for _, m := range f.hosts {
		add("of-"+m.Name, m)
	}
	for i := range 2 {
		add(fmt.Sprint("rare-", i), f.hosts...)
		l.sessions[len(l.sessions)-1].rare = true
	}
	return l
}

// between returns how long it is between two changes of a session of one kind, on average; usual is that of
// sessions that are changed often.
func (l *load) between(w *work, usual time.Duration) time.Duration {
	if w.rare {
		return l.rare
	}
	return usual
}

// start starts all programs.
func (l *load) start(parent context.Context) {
	ctx, cancel := context.WithCancel(parent)
	l.stop = cancel
	for _, w := range l.sessions {
		for _, m := range w.hosts {
			l.all.Go(func() { l.write(ctx, w, m, ctxabi.MessagesFile) })
			l.all.Go(func() { l.set(ctx, w, m) })
		}
		l.all.Go(func() { l.write(ctx, w, w.hosts[0], ctxabi.EventsFile) })
		for _, m := range l.f.hosts {
			for _, log := range logNames {
				l.all.Go(func() { l.follow(ctx, w, m, log) })
			}
		}
	}
	for _, m := range l.f.hosts {
		l.all.Go(func() { l.lookAtPacks(ctx, m) })
	}
	l.all.Go(func() { l.makeSessions(ctx) })
}

// strange notes what no fault explains.
func (l *load) strange(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := fmt.Sprintf(format, args...); l.odd[s] > 0 || len(l.odd) < 100 {
		l.odd[s]++
	}
}

// gone are the errors of a mount that was killed.
var gone = []error{unix.ENOTCONN, unix.ECONNABORTED}

// isGone reports whether an error is one of a mount that was killed, or is not there yet.
func isGone(err error) bool {
	return slices.ContainsFunc(gone, func(e error) bool { return errors.Is(err, e) })
}

// outcome returns what a client knows of a write that failed.
func (l *load) outcome(err error, what string) history.Result {
	if err == nil {
		return history.Stored
	}
	var errno unix.Errno
	errors.As(err, &errno)
	l.mu.Lock()
	l.errnos[errno.Error()]++
	l.mu.Unlock()
	switch errno {
	case unix.ETIMEDOUT, unix.ENOSPC, unix.EDQUOT:
		return history.Refused
	case unix.EIO, unix.ENOTCONN, unix.ECONNABORTED, unix.EINTR:
		return history.Unknown
	}
	l.strange("%s returned %v", what, err)
	return history.Unknown
}

// record returns a record of a log with a key.
func record(log, key string) string {
	if log == ctxabi.EventsFile {
		return `{"type":"test","content":"` + key + ` is an event"}` + "\n"
	}
	return `{"role":"user","content":"` + key + ` is one of many records that are written while all around them breaks"}` + "\n"
}

// keyOf returns the key of a record, "" of one that is none of ours.
func keyOf(line string) string {
	_, rest, _ := strings.Cut(line, `"content":"`)
	key, _, ok := strings.Cut(rest, " ")
	if !ok {
		return ""
	}
	return key
}

// sizes are how many records a write has, at random.
var sizes = []int{1, 1, 1, 16, 48, 64, 64}

// write appends to a log until ctx ends.
func (l *load) write(ctx context.Context, w *work, m *machine, log string) {
	fd := -1
	defer func() {
		if fd >= 0 {
			unix.Close(fd)
		}
	}()
	for pause(ctx, time.Duration(rand.Int64N(2*int64(l.between(w, l.rate))+1))) {
		if fd < 0 {
			var err error
			if fd, err = unix.Open(filepath.Join(m.dir(w.name), log), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0); err != nil {
				fd = -1
				l.openFailed(err, "an open of "+log+" for writing")
				pause(ctx, 100*time.Millisecond)
				continue
			}
		}
		x := history.Write{ID: fmt.Sprint(m.Name, l.ids.Add(1)), Parts: sizes[rand.IntN(len(sizes))], Host: m.Name}
		var data strings.Builder
		for part := range x.Parts {
			data.WriteString(record(log, history.Key(x.ID, part)))
		}
		x.Began = l.h.Now()
		n, err := unix.Write(fd, []byte(data.String()))
		x.Ended = l.h.Now()
		if err == nil && n < data.Len() {
			l.strange("a write returned %d of %d bytes and no error", n, data.Len())
			err = unix.EIO
		}
		x.Result = l.outcome(err, "a write to "+log)
		w.logs[log].Wrote(x)
		if took := int64(x.Ended - x.Began); err == nil && took > l.longest.Load() {
			l.longest.Store(took)
		}
		if err == nil {
			m.acked.Add(1)
		} else {
			unix.Close(fd)
			fd = -1
			pause(ctx, 50*time.Millisecond)
		}
	}
}

// openFailed notes an open that failed for another reason than a mount that does not run.
func (l *load) openFailed(err error, what string) {
	if !isGone(err) && !errors.Is(err, unix.ENOENT) { // the mountpoint is empty for a moment when a mount is started again
		l.strange("%s returned %v", what, err)
	}
}

// set changes the setting of a session until ctx ends.
func (l *load) set(ctx context.Context, w *work, m *machine) {
	for pause(ctx, time.Duration(rand.Int64N(int64(l.between(w, 2*time.Second)*2)))) {
		x := history.Write{ID: fmt.Sprint(m.Name, l.ids.Add(1)), Host: m.Name, Began: l.h.Now()}
		f, err := os.OpenFile(filepath.Join(m.dir(w.name), ctxabi.MetaFile), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			l.openFailed(err, "an open of a setting for writing")
			continue
		}
		_, err = fmt.Fprintf(f, `{"n":%q}`+"\n", x.ID)
		if closed := f.Close(); err == nil {
			err = closed
		}
		x.Ended, x.Result = l.h.Now(), l.outcome(err, "the close of a setting")
		w.setting.Wrote(x)
	}
}

// makeSessions has all hosts make the same session at a time, again and again.
func (l *load) makeSessions(ctx context.Context) {
	for n := 0; pause(ctx, 7*time.Second); n++ {
		name := fmt.Sprint("made-", n)
		var made atomic.Int64
		var all sync.WaitGroup
		for _, m := range l.f.hosts {
			all.Go(func() {
				switch err := unix.Mkdir(m.dir(name), 0o700); {
				case err == nil:
					made.Add(1)
				case isGone(err), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ETIMEDOUT), errors.Is(err, unix.EIO), errors.Is(err, unix.ENOENT):
				default:
					l.strange("mkdir of a session returned %v", err)
				}
			})
		}
		all.Wait()
		if made.Load() > 1 {
			l.strange("%d hosts made the same session", made.Load())
		}
		l.mu.Lock()
		l.made[name] = made.Load() > 0
		l.mu.Unlock()
	}
}

// prepare makes the sessions on the first host and waits until all hosts have them.
func (l *load) prepare(t *testing.T) {
	t.Helper()
	for _, w := range l.sessions {
		if err := os.MkdirAll(l.f.hosts[0].dir(w.name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range l.sessions {
		for _, m := range l.f.hosts {
			harness.Eventually(t, w.name+" to be on "+m.Name, func() bool {
				_, err := os.Stat(filepath.Join(m.dir(w.name), ctxabi.MessagesFile))
				return err == nil
			})
		}
	}
}
