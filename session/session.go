package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Session is one session of an open store. It is cheap: its files are opened
// when they are first used and closed when they have been idle for a while.
// It is safe for concurrent use.
type Session struct {
	dir      disk.Dir
	store    *Store
	messages log.Log
	events   log.Log

	changes  atomic.Uint64 // counts calls of Touch
	children children

	touched atomic.Int64 // unix ns of the last change of a control file; 0: not known yet

	blobs

	servedMu sync.Mutex
	served   weak.Pointer[blob.Served] // while somebody holds it; guarded by servedMu

	notes sync.Mutex // held while a note changes

	versionsMu sync.Mutex
	versions   disk.Lazy[versions] // guarded by versionsMu

	askedMu sync.Mutex
	asked   *Asked // nil: not known yet; guarded by askedMu

	journal  disk.Lazy[journalPlaces]
	requests disk.Lazy[journalPlaces]

	opening atomic.Pointer[string] // see Opening

	mu     sync.Mutex
	latest struct { // guarded by mu
		length int64 // of messages.jsonl when text was found; -1: never
		text   string
	}
}

// Session returns the session at ref. It reads nothing but the session's id, and
// that once; ctxabi.ErrNotFound when there is none.
func (s *Store) Session(ref ctxabi.Ref) (*Session, error) {
	s.mu.Lock()
	x, ok := s.sessions[ref]
	s.mu.Unlock()
	if ok {
		return x, nil
	}
	s.disk.Move.RLock()
	defer s.disk.Move.RUnlock()
	x, err := s.load(ref)
	if err != nil {
		if ctxabi.KindOf(err) == ctxabi.ErrIO {
			s.noteDamage(ref, err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.damaged, ref)
	if first, ok := s.sessions[ref]; ok {
		return first, nil
	}
	s.sessions[ref] = x
	return x, nil
}

// noteDamage logs that a session cannot be opened. It logs each reason once, because every call for
// the session fails with the error and cannot record it in the session.
func (s *Store) noteDamage(ref ctxabi.Ref, err error) {
	s.mu.Lock()
	known := s.damaged[ref] == err.Error()
	if s.damaged == nil {
		s.damaged = map[ctxabi.Ref]string{}
	}
	s.damaged[ref] = err.Error()
	s.mu.Unlock()
	if known {
		return
	}
	dir, file := s.disk.Join(ref.Path()), ""
	if e := (*ctxabi.Error)(nil); errors.As(err, &e) {
		file = e.Path
	}
	s.disk.Logger.Error("the session cannot be opened", "session", ref.Path(), "file", path.Join(dir, file), "err", err,
		"remedy", "stop ctxfs, then: ctxfs fsck --repair --store "+s.disk.Dir)
}

func (s *Store) load(ref ctxabi.Ref) (*Session, error) {
	notFound := func() error { return ctxabi.E("open", "", ctxabi.ErrNotFound, "there is no session %s", ref) }
	if ctxabi.ValidName(ref.Agent) != nil || ctxabi.ValidName(ref.Session) != nil {
		return nil, notFound()
	}
	// A symbolic link that the owner planted must not lead the daemon elsewhere.
	for _, rel := range []string{ref.Owner(), path.Join(ref.Owner(), ctxabi.AgentDir), ref.AgentHome(),
		path.Join(ref.AgentHome(), ctxabi.SessionDir), ref.Path(), path.Join(ref.Path(), ctxabi.InternalDir)} {
		fi, err := s.disk.FS.Stat(s.disk.Join(rel))
		if err != nil || !fi.IsDir() {
			return nil, notFound()
		}
	}
	dir := s.disk.Join(ref.Path())
	fi, err := s.disk.FS.Stat(path.Join(dir, disk.IDFile))
	if errors.Is(err, fs.ErrNotExist) {
		s.noteDamage(ref, ctxabi.E("open", disk.IDFile, ctxabi.ErrIO, "the session's id is missing"))
		return nil, notFound()
	}
	if err != nil {
		return nil, vfs.Failed("open", disk.IDFile, err, "the session's id cannot be read")
	}
	raw, err := vfs.ReadFile(s.disk.FS, path.Join(dir, disk.IDFile))
	if err != nil {
		return nil, vfs.Failed("open", disk.IDFile, err, "the session's id cannot be read")
	}
	id := strings.TrimSpace(string(raw))
	if b, err := hex.DecodeString(id); err != nil || len(b) != 16 {
		return nil, ctxabi.E("open", disk.IDFile, ctxabi.ErrIO, "the file of %s does not contain an id of 32 hex digits", ref)
	}
	return s.newSession(ref, id, fi.ModTime()), nil
}

// newSession returns the session at ref, whose id was read.
func (s *Store) newSession(ref ctxabi.Ref, id string, created time.Time) *Session {
	x := &Session{store: s}
	x.dir.Init(s.disk, ref, id, created)
	x.events.Init(&x.dir, &s.open, nil, ctxabi.EventsFile)
	x.messages.Init(&x.dir, &s.open, &x.events, ctxabi.MessagesFile)
	x.blobs.Init(&x.dir)
	x.latest.length = -1
	return x
}

// ID returns the session's id: 32 hex digits, for life.
func (x *Session) ID() string { return x.dir.ID() }

// Ref returns where the session is now.
func (x *Session) Ref() ctxabi.Ref { return x.dir.Ref() }

// Dir returns the session's absolute directory in the store.
func (x *Session) Dir() string { return x.dir.Dir() }

// Disk returns the session's directory, for packages that read it beside the session.
func (x *Session) Disk() *disk.Dir { return &x.dir }

// Created returns when the session was made.
func (x *Session) Created() time.Time { return x.dir.Created() }

// Removed reports whether the session was taken out of the store since it was looked up.
func (x *Session) Removed() bool { return x.dir.Removed() }

// InPlace calls do with where the session is, while nobody moves it, and how often it was moved
// until now. do must ask nothing of the store.
func (x *Session) InPlace(do func(ref ctxabi.Ref, moves uint64)) { x.dir.InPlace(do) }

// Report adds a row to context/errors.jsonl, of which the last 100 are kept. It never fails.
func (x *Session) Report(row disk.ErrorRow) { x.dir.Report(row) }

// Errors returns context/errors.jsonl as it stands.
func (x *Session) Errors() []byte { return x.dir.Errors() }

// Store is the store the session belongs to.
func (x *Session) Store() *Store { return x.store }

// Messages is messages.jsonl.
func (x *Session) Messages() *log.Log { return &x.messages }

// Opening returns the SHA-256 of the first message in hexadecimal form, which a fork shares with its
// origin; "" if the session has no message or it cannot be read.
func (x *Session) Opening() string {
	if known := x.opening.Load(); known != nil {
		return *known
	}
	ix, err := x.messages.Index()
	if err != nil || ix.Len() == 0 {
		return ""
	}
	first, err := ix.Record(1)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(first)
	text := hex.EncodeToString(sum[:])
	x.opening.Store(&text)
	return text
}

// Events is events.jsonl.
func (x *Session) Events() *log.Log { return &x.events }

// Updated is when a log or a control file last changed.
func (x *Session) Updated() time.Time {
	if x.touched.Load() == 0 {
		last := x.Created()
		x.store.disk.Move.RLock()
		for _, name := range []string{ctxabi.StateFile, ctxabi.CwdFile, ctxabi.MetaFile, ctxabi.BudgetFile, ctxabi.PolicyFile} {
			if fi, err := x.store.disk.FS.Stat(x.dir.Path(name)); err == nil && fi.ModTime().After(last) {
				last = fi.ModTime()
			}
		}
		x.store.disk.Move.RUnlock()
		x.touched.CompareAndSwap(0, last.UnixNano())
	}
	t := time.Unix(0, x.touched.Load())
	for _, l := range []*log.Log{&x.messages, &x.events} {
		if m := l.ModTime(); m.After(t) {
			t = m
		}
	}
	return t
}

// maxEmptyAnswers is how many assistant records without text Latest looks behind.
const maxEmptyAnswers = 1000

// Latest is the text of the last assistant record that has any; "" when none of the last thousand
// assistant records has. It returns the error of a log that cannot be read.
func (x *Session) Latest() (string, error) {
	ix, err := x.messages.Index()
	if err != nil {
		return "", err
	}
	x.mu.Lock()
	known, text := x.latest.length == ix.Size(), x.latest.text
	x.mu.Unlock()
	if known {
		return text, nil
	}
	if text, err = x.latestOf(ix, x.store.o.Shown); err != nil {
		return "", err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ix.Size() >= x.latest.length {
		x.latest.length, x.latest.text = ix.Size(), text
	}
	return text, nil
}

// latestOf is Latest of the records of ix, each as shown gives it; nil: as it is.
func (x *Session) latestOf(ix *log.Index, shown func(*Session, int, []byte) ([]byte, error)) (text string, err error) {
	empty := 0
	for line := ix.Len(); line > 0 && text == "" && empty < maxEmptyAnswers; line-- {
		if ix.At(line).Role != ctxabi.Assistant {
			continue
		}
		rec, err := ix.Record(line)
		if err != nil {
			return "", err
		}
		if shown != nil {
			if rec, err = shown(x, line, rec); err != nil {
				return "", err
			}
		}
		text = ctxabi.DecodeMessage(rec).Text
		empty++
	}
	return text, nil
}

// LatestFile is what latest.md holds: the text of Latest as a file. It returns the errors of Latest.
func (x *Session) LatestFile() ([]byte, error) {
	text, err := x.Latest()
	return asFile(text), err
}

// asFile is a text that ends in a newline, where it is one.
func asFile(text string) []byte {
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	return []byte(text)
}

// Timeline brings both logs' indexes up to date and returns a snapshot of them in one order; see
// [Log.Timeline] of messages. It returns the errors of that.
func (x *Session) Timeline() (*log.Timeline, error) { return x.messages.Timeline() }

// TimelineWithin is Timeline with a context. If ctx ends, it returns the error of ctx; see
// [Log.TimelineWithin].
func (x *Session) TimelineWithin(ctx context.Context) (*log.Timeline, error) {
	return x.messages.TimelineWithin(ctx)
}

// MessagesAt returns how many messages the session had at a time; see [Log.LinesAt]. It returns the
// errors of that.
func (x *Session) MessagesAt(when time.Time) (int, error) { return x.messages.LinesAt(when) }

// Archive seals what both logs of the session have; see [Log.Seal]. It returns the errors of that;
// raw and packed count what was sealed before.
func (x *Session) Archive(ctx context.Context) (raw, packed int64, err error) {
	for _, l := range []*log.Log{&x.messages, &x.events} {
		r, p, err := l.Seal(ctx)
		if raw, packed = raw+r, packed+p; err != nil {
			return raw, packed, err
		}
	}
	return raw, packed, nil
}

// Served returns the packs that were read. It returns the error of the disk.
func (x *Session) Served() (*blob.Served, error) {
	x.servedMu.Lock()
	defer x.servedMu.Unlock()
	if s := x.served.Value(); s != nil {
		return s, nil
	}
	s, err := blob.LoadServed(&x.dir, func() time.Duration { return x.Policy().PackTTL })
	if err != nil {
		return nil, err
	}
	x.served = weak.Make(s)
	return s, nil
}

// blobs is what users stored in a session; its methods are the session's.
type blobs = blob.Store
