package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

func TestMain(m *testing.M) { suite.Main(m) }

var ctx = context.Background()

// liar is a store of objects that does not keep its word.
type liar struct {
	engine.Objects
	lie   string
	about string // prefix of the names of objects that it lies about
}

// lies are all that a liar does.
var lies = []string{"lost", "old", "wrong", "short", "long", "empty", "unreachable"}

func (l *liar) lies(key engine.Key) bool {
	return l.lie != "" && strings.HasPrefix(key.Name, l.about)
}

func (l *liar) Get(ctx context.Context, key engine.Key, off, n int64) ([]byte, error) {
	data, err := l.Objects.Get(ctx, key, off, n)
	if err != nil || !l.lies(key) {
		return data, err
	}
	switch l.lie {
	case "lost":
		return nil, fmt.Errorf("%w: %s", engine.ErrNotFound, key.Name)
	case "unreachable":
		return nil, engine.ErrUnreachable
	case "old":
		return bytes.Repeat([]byte("o"), len(data)), nil
	case "wrong":
		data[len(data)/2] ^= 1
	case "short":
		data = data[:len(data)-1]
	case "long":
		data = append(data, 0)
	case "empty":
		data = nil
	}
	return data, nil
}

func (l *liar) Stat(ctx context.Context, key engine.Key) (engine.ObjectInfo, error) {
	info, err := l.Objects.Stat(ctx, key)
	if err != nil || !l.lies(key) {
		return info, err
	}
	switch l.lie {
	case "lost":
		return engine.ObjectInfo{}, fmt.Errorf("%w: %s", engine.ErrNotFound, key.Name)
	case "unreachable":
		return engine.ObjectInfo{}, engine.ErrUnreachable
	case "short", "empty":
		info.Size--
	case "long":
		info.Size++
	default:
		info.SHA[0] ^= 1
	}
	return info, nil
}

// wantLie fails the test unless err is what a lie has to lead to.
func wantLie(t testing.TB, lie string, err error) {
	t.Helper()
	want := engine.ErrDiffers
	switch lie {
	case "lost":
		want = engine.ErrNotFound
	case "unreachable":
		want = engine.ErrUnreachable
	}
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", lie, err, want)
	}
}

// newObjects returns an empty store of objects, and one that may delete.
func newObjects() (objects, maintenance engine.Objects) {
	s := fake.New()
	return s.Host("a").Objects(), s.Maintenance().Objects()
}

var (
	refA   = ctxabi.Ref{UID: 1000, Agent: "coder", Session: "s1"}
	ownerA = disk.Owner{UID: 1000, GID: 1000, Mode: 0o700}
)

const idA = "00112233445566778899aabbccddeeff"

// quick is a disk whose files are not synced, for random tests.
type quick struct{ vfs.FS }

func (q quick) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := q.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return quickFile{f}, nil
}

func (quick) SyncDir(string) error { return nil }

type quickFile struct{ vfs.File }

func (quickFile) Sync() error { return nil }

func (f quickFile) WriteAt(b []byte, off int64) (int, error) {
	return f.File.(io.WriterAt).WriteAt(b, off)
}

// tester is what tests and random tests have in common.
type tester interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// openStore opens a store on a disk.
func openStore(t tester, v vfs.FS, dir string, o session.Options) *session.Store {
	t.Helper()
	o.VFS = v
	s, err := session.Open(dir, o)
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	return s
}

// create makes the session refA with the id idA.
func create(t tester, s *session.Store) *session.Session {
	t.Helper()
	if err := s.ApplyName(session.NameChange{Kind: session.CreateSession, Ref: refA, Owner: ownerA, ID: idA}); err != nil {
		t.Fatalf("create: %v", err)
	}
	x, err := s.Session(refA)
	if err != nil {
		t.Fatalf("session: %v", err)
	}
	return x
}

// talk returns n messages of about size bytes each, the first of them with a number.
func talk(first, n, size int) []byte {
	var b bytes.Buffer
	for i := range n {
		role := []string{"user", "assistant"}[(first+i)%2]
		fmt.Fprintf(&b, `{"role":%q,"content":"%d: %s"}`+"\n", role, first+i, strings.Repeat(fmt.Sprint("word", (first+i)*7919%1000, " "), size/8+1))
	}
	return b.Bytes()
}

func appendTo(t tester, l *log.Log, data []byte) {
	t.Helper()
	if _, err := l.Append(ctx, log.Batch{Data: data, Writer: disk.Writer{UID: 1000, PID: 7}}); err != nil {
		t.Fatalf("append: %v", err)
	}
}

// contentOf returns all bytes of a log.
func contentOf(t tester, l *log.Log) []byte {
	t.Helper()
	if err := l.Open(); err != nil {
		t.Fatalf("open: %v", err)
	}
	b := make([]byte, l.Len())
	if n, err := l.ReadAt(b, 0); n != len(b) || err != nil && err != io.EOF {
		t.Fatalf("read %s: %d of %d bytes, %v", l.Name(), n, len(b), err)
	}
	return b
}

// rowsOf returns the arrival rows of a log as the store has them.
func rowsOf(t tester, x *session.Session, l *log.Log) []byte {
	t.Helper()
	raw, err := vfs.ReadFile(x.Disk().Root.FS, x.Disk().Path(log.ArrivalsFile(l.Name())))
	if err != nil {
		t.Fatalf("rows: %v", err)
	}
	return raw
}

// sameSession fails the test unless two sessions hold the same, and both pass ctxfs verify.
func sameSession(t tester, a, b *session.Session) {
	t.Helper()
	if a.ID() != b.ID() || !a.Created().Equal(b.Created()) {
		t.Errorf("id %s of %v, and %s of %v", a.ID(), a.Created(), b.ID(), b.Created())
	}
	for i, l := range []*log.Log{a.Messages(), a.Events()} {
		m := []*log.Log{b.Messages(), b.Events()}[i]
		if !bytes.Equal(contentOf(t, l), contentOf(t, m)) {
			t.Errorf("%s holds other bytes", l.Name())
		}
		if !bytes.Equal(rowsOf(t, a, l), rowsOf(t, b, m)) {
			t.Errorf("%s has other arrival rows", l.Name())
		}
	}
	heads, err := a.Heads()
	again, failed := b.Heads()
	if err != nil || failed != nil || !slices.Equal(heads, again) {
		t.Errorf("heads: %v, %v, %v, %v", heads, again, err, failed)
	}
	ta, err := a.Timeline()
	tb, failed := b.Timeline()
	if err != nil || failed != nil || ta.Messages.Len() != tb.Messages.Len() || fmt.Sprint(ta.Tools) != fmt.Sprint(tb.Tools) {
		t.Errorf("timelines differ: %v, %v", err, failed)
	}
	sameBeside(t, a, b)
	for _, x := range []*session.Session{a, b} {
		if problems, err := check.Verify(ctx, x.Store(), x.Ref()); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
	}
}

// sameBeside fails the test unless two sessions have the same beside their logs.
func sameBeside(t tester, a, b *session.Session) {
	t.Helper()
	for _, name := range settings {
		if one, other := stateOf(a, name), stateOf(b, name); one != other {
			t.Errorf("%s: %q, and %q", name, one, other)
		}
	}
	if one, other := fmt.Sprint(a.Pins()), fmt.Sprint(b.Pins()); one != other {
		t.Errorf("pins: %s, and %s", one, other)
	}
	for _, pin := range a.Pins() {
		if name := ctxabi.PinnedDir + "/" + pin; stateOf(a, name) != stateOf(b, name) {
			t.Errorf("%s differs", name)
		}
	}
	ca, err := a.Children()
	cb, failed := b.Children()
	if err != nil || failed != nil || fmt.Sprintf("%+v", ca) != fmt.Sprintf("%+v", cb) {
		t.Errorf("children: %+v, %+v, %v, %v", ca, cb, err, failed)
	}
	for _, c := range ca {
		for _, file := range ctxabi.ChildFiles {
			if name := ctxabi.ChildPath(c.Name, file); stateOf(a, name) != stateOf(b, name) {
				t.Errorf("%s differs", name)
			}
		}
	}
	if one, other := fmt.Sprintf("%+v", a.Blobs()), fmt.Sprintf("%+v", b.Blobs()); one != other {
		t.Errorf("blobs: %s, and %s", one, other)
	}
	for _, name := range []string{session.SummariesFile, session.ProjectFile} {
		one, err := a.DerivedLines(name)
		other, failed := b.DerivedLines(name)
		if err != nil || failed != nil || fmt.Sprintf("%s", one) != fmt.Sprintf("%s", other) {
			t.Errorf("%s: %s, %s, %v, %v", name, one, other, err, failed)
		}
	}
}

// stateOf returns what a file holds and when it changed, as a text.
func stateOf(x *session.Session, name string) string {
	data, at, err := readFile(x, name)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(at, " ", string(data))
}

// shareAll shares all that a session has, in parts.
func shareAll(t tester, s *Store, x *session.Session) (shared [2][]Part) {
	t.Helper()
	for i, l := range []*log.Log{x.Messages(), x.Events()} {
		for {
			p, err := s.Share(ctx, x, l, shared[i])
			if err != nil {
				t.Fatalf("share: %v", err)
			}
			if p == nil {
				break
			}
			shared[i] = append(shared[i], *p)
		}
	}
	return shared
}

// smallParts makes parts and their frames small while a test runs.
func smallParts(t *testing.T) {
	most, frame, once := partMost, frameTarget, stride
	partMost, frameTarget, stride = 40000, 2000, 100
	t.Cleanup(func() { partMost, frameTarget, stride = most, frame, once })
}

// at is a place in a journal.
var at = journal.Position{I: 17, Chain: journal.Hash{1, 2, 3}}
