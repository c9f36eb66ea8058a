package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/cluster/history"
)

// block is how much of a log is remembered by one hash.
const block = 64 << 10

// reader is what one program has read of a log.
type reader struct {
	prefix history.Prefix
	offset int64  // of what was read
	rest   []byte // of it, what belongs to no whole record
	seed   maphash.Seed
	blocks []uint64 // hashes of whole blocks
	part   []byte   // of the block that is not whole yet
}

// take takes what was read behind the rest. It returns false if there is a record that nobody wrote.
func (r *reader) take(b []byte) bool {
	r.offset += int64(len(b))
	for r.part = append(r.part, b...); len(r.part) >= block; r.part = r.part[block:] {
		r.blocks = append(r.blocks, maphash.Bytes(r.seed, r.part[:block]))
	}
	r.rest = append(r.rest, b...)
	for {
		line, rest, whole := bytes.Cut(r.rest, []byte("\n"))
		if !whole {
			return true
		}
		r.rest = rest
		key := keyOf(string(line))
		if key == "" {
			return false
		}
		r.prefix.Add(key)
	}
}

// follow reads a log on a host until ctx ends: what is new, its size, and now and then a piece of what it
// has read before.
func (l *load) follow(ctx context.Context, w *work, m *machine, log string) {
	r, fd, buf := &reader{seed: maphash.MakeSeed()}, -1, make([]byte, 256<<10)
	defer func() {
		if fd >= 0 {
			unix.Close(fd)
		}
	}()
	failed := func(err error, what string) {
		if !isGone(err) {
			l.strange("%s of %s returned %v", what, log, err)
		}
		unix.Close(fd)
		fd = -1
	}
	for pause(ctx, time.Duration(100+rand.IntN(900))*time.Millisecond) {
		if fd < 0 {
			var err error
			if fd, err = unix.Open(filepath.Join(m.dir(w.name), log), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
				fd = -1
				l.openFailed(err, "an open of "+log)
				continue
			}
		}
		look := history.Look{Host: m.Name, Began: l.h.Now()}
		var st unix.Stat_t
		err := unix.Fstat(fd, &st)
		if err == nil && st.Size < r.offset {
			l.strange("%s has become shorter", log)
		}
		n := 0
		for err == nil {
			n, err = unix.Pread(fd, buf, r.offset)
			if err != nil || n == 0 {
				break
			}
			if !r.take(buf[:n]) {
				l.strange("%s has a record that nobody wrote", log)
			}
		}
		if err != nil {
			failed(err, "a read")
			continue
		}
		look.Ended, look.Prefix = l.h.Now(), r.prefix
		if len(r.rest) > 0 {
			l.strange("%s ends with half a record", log)
		}
		w.logs[log].Read(look)
		if len(r.blocks) > 0 && rand.IntN(10) == 0 {
			i := rand.IntN(len(r.blocks))
			if n, err = unix.Pread(fd, buf[:block], int64(i)*block); err != nil {
				failed(err, "a read of an old part")
			} else if n != block || maphash.Bytes(r.seed, buf[:block]) != r.blocks[i] {
				l.strange("%s has changed below its end", log)
			}
		}
		if log == ctxabi.MessagesFile {
			l.see(w, m)
		}
	}
}

// see reads the setting of a session.
func (l *load) see(w *work, m *machine) {
	s := history.Sight{Host: m.Name, Began: l.h.Now()}
	id, err := setting(m.dir(w.name))
	if err != nil {
		l.openFailed(err, "a read of a setting")
		return
	}
	s.Ended, s.ID = l.h.Now(), id
	w.setting.Read(s)
}

// setting returns the value of the setting of a session in dir, "" if it was never set.
func setting(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, ctxabi.MetaFile))
	if err != nil {
		return "", err
	}
	var x struct{ N string }
	if err := json.Unmarshal(b, &x); err != nil {
		return "", errors.New("it is no JSON")
	}
	return x.N, nil
}

// lookAtPacks reads packs on a host until ctx ends.
func (l *load) lookAtPacks(ctx context.Context, m *machine) {
	for pause(ctx, time.Duration(2+rand.IntN(20))*time.Second) {
		dir := m.dir(l.sessions[rand.IntN(len(l.sessions))].name)
		log, err := os.Stat(filepath.Join(dir, ctxabi.MessagesFile))
		if err != nil {
			l.openFailed(err, "a look at a log")
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, ctxabi.PackFile))
		if err != nil {
			l.openFailed(err, "a read of a pack")
			continue
		}
		if len(b) == 0 && log.Size() > 0 { // without a message there is nothing in it
			l.strange("a pack is empty")
		}
		l.mu.Lock()
		l.packs++
		l.mu.Unlock()
	}
}
