package bulk

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// hashOf returns a hash that is easy to recognise.
func hashOf(b byte) journal.Hash { return journal.Hash(bytes.Repeat([]byte{b}, 32)) }

// samples of all that is encoded.
var (
	samplePart = Part{Log: ctxabi.EventsFile, Off: 300, Size: 70000, Records: 12, Chain: hashOf(1), SHA: hashOf(2), Sums: bytes.Repeat([]byte{3}, 16),
		File: Ref{hashOf(4), 20000}, Trailer: Ref{hashOf(5), 900}, Index: Ref{hashOf(6), 4000}}
	sampleSaved    = Saved{At: journal.Position{I: 1000, Chain: hashOf(7)}, Object: Ref{hashOf(8), 12345}}
	sampleRef      = Ref{hashOf(9), 300 << 10}
	sampleIndex    = Index{Rows: []byte("row\nrow\n"), Index: []byte("index"), Counts: nil}
	sampleEnd      = Index{Rows: []byte("row\n"), Index: []byte("index"), Counts: []byte("counts"), Trailer: []byte("end")}
	sampleSnapshot = Snapshot{Session: idA, At: journal.Position{I: 5, Chain: hashOf(10)}, Created: 1760000000123456789,
		Logs: [2]Log{
			{Parts: []Part{{Log: ctxabi.MessagesFile, Size: 5000, Records: 2, Sums: make([]byte, 8), File: Ref{hashOf(11), 700}, Trailer: Ref{hashOf(12), 300}, Index: Ref{hashOf(13), 400}}},
				Time: 7, Size: 5004, Chain: hashOf(14), Rows: Content{Data: []byte("r\n")}, Tail: Content{Data: []byte("{ }\n")}},
			{Size: 100000, Chain: hashOf(15), Rows: Content{Data: []byte("r\n")}, Tail: Content{Ref: Ref{hashOf(16), 100000}}},
		},
		Children: []string{"a", "b"},
		Files: []File{{".ctxfs/outputs/x", 1, Content{Data: []byte("o")}}, {"context/child/a/artifact/d/f", 2, Content{}}, {"context/child/a/status", 2, Content{Data: []byte("done\n")}},
			{"context/pinned/p.md", 3, Content{Ref: Ref{hashOf(17), 65537}}}, {"state", 4, Content{Data: []byte("idle\n")}}},
		Blobs: []Blob{{Ref{hashOf(18), 0}, 1000, 5}, {Ref{hashOf(19), 1 << 20}, 0, 6}}}
	sampleUnnamed = Unnamed{BlobName(hashOf(20)): time.Unix(0, 99), SnapshotName(idA, 4, hashOf(21)): time.Unix(1760000000, 0)}
)

// form is something that is encoded.
type form struct {
	name    string
	encoded []byte
	again   func([]byte) ([]byte, error) // parses, and encodes what it got
	newest  byte                         // version; 0: version
}

func forms() []form {
	index := func(b []byte) ([]byte, error) {
		x, err := ParseIndex(b)
		if err != nil {
			return nil, err
		}
		return x.Encode(), nil
	}
	list := []form{
		{"part", samplePart.Encode(), func(b []byte) ([]byte, error) { p, err := ParsePart(b); return p.Encode(), err }, 0},
		{"saved", sampleSaved.Encode(), func(b []byte) ([]byte, error) { s, err := ParseSaved(b); return s.Encode(), err }, 0},
		{"reference", sampleRef.Encode(), func(b []byte) ([]byte, error) { r, err := ParseRef(b); return r.Encode(), err }, 0},
		{"index", sampleIndex.Encode(), index, indexVersion},
		{"snapshot", sampleSnapshot.Encode(), func(b []byte) ([]byte, error) {
			s, err := ParseSnapshot(b)
			if err != nil {
				return nil, err
			}
			return s.Encode(), nil
		}, 0},
		{"unnamed", sampleUnnamed.Encode(), func(b []byte) ([]byte, error) { u, err := ParseUnnamed(b); return u.Encode(), err }, 0},
		{"index with an end", sampleEnd.Encode(), index, indexVersion},
	}
	for i := range list {
		list[i].newest = max(list[i].newest, version)
	}
	return list
}

// What is stored stays readable.
func TestTheFormsStay(t *testing.T) {
	var b strings.Builder
	for _, f := range forms() {
		fmt.Fprintf(&b, "%s %s\n", f.name, hex.EncodeToString(f.encoded))
	}
	for _, n := range names {
		fmt.Fprintf(&b, "%s\n", n)
	}
	const name = "testdata/forms.golden"
	if os.Getenv("CTXFS_UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, b.String(), want)
	}
}

func TestFormsAreStrict(t *testing.T) {
	for _, f := range forms() {
		got, err := f.again(f.encoded)
		if err != nil || !bytes.Equal(got, f.encoded) {
			t.Errorf("%s: %x becomes %x, %v", f.name, f.encoded, got, err)
		}
		for n := range f.encoded {
			if got, err := f.again(f.encoded[:n]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: its first %d bytes are %x, %v", f.name, n, got, err)
			}
		}
		if _, err := f.again(append(bytes.Clone(f.encoded), 0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s with a byte more: %v", f.name, err)
		}
		at := max(bytes.IndexByte(f.encoded, '\n')+1, 0) // where the version is, of what has a magic text
		if !bytes.HasPrefix(f.encoded, []byte("ctxfs")) {
			at = 0
		}
		later := bytes.Clone(f.encoded)
		later[at] = f.newest + 1
		if _, err := f.again(later); !errors.Is(err, journal.ErrVersion) {
			t.Errorf("%s of a later version: %v", f.name, err)
		}
	}
}

// A snapshot with a name that leads out of the session, or to what a host keeps for itself, is none.
func TestASnapshotHasNoOtherFiles(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "messages.jsonl", "events.jsonl", ".ctxfs/id", ".ctxfs/arrivals", ".ctxfs/segments",
		".ctxfs/outputs/../id", ".ctxfs/outputs", "context/pinned/../state", "context/pinned/a/b", "context/child/a/x", "context/child/a/artifact/../status",
		"context/child/zz/status", "context/child/../x", "context//state", "other", "context/errors.jsonl", "context/pinned/\x00"} {
		s := sampleSnapshot
		s.Files = []File{{Name: name}}
		if got, err := ParseSnapshot(s.Encode()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	for what, change := range map[string]func(s *Snapshot){
		"no session":         func(s *Snapshot) { s.Session = "x" },
		"a gap of parts":     func(s *Snapshot) { s.Logs[0].Parts[0].Off = 1 },
		"a part of a log":    func(s *Snapshot) { s.Logs[0].Parts[0].Log = ctxabi.EventsFile },
		"a size":             func(s *Snapshot) { s.Logs[0].Size++ },
		"order of files":     func(s *Snapshot) { s.Files[0], s.Files[1] = s.Files[1], s.Files[0] },
		"a file twice":       func(s *Snapshot) { s.Files[1] = s.Files[0] },
		"order of children":  func(s *Snapshot) { s.Children[0], s.Children[1] = "b", "a" },
		"a name of a child":  func(s *Snapshot) { s.Children[0] = ".." },
		"a blob twice":       func(s *Snapshot) { s.Blobs[1].SHA = s.Blobs[0].SHA },
		"a short object":     func(s *Snapshot) { s.Files[3].Content.Ref.Size = inlineMost },
		"a long inline text": func(s *Snapshot) { s.Files[0].Content.Data = make([]byte, inlineMost+1) },
	} {
		got, err := ParseSnapshot(sampleSnapshot.Encode()) // a copy
		if err != nil {
			t.Fatal(err)
		}
		change(got)
		if _, err := ParseSnapshot(got.Encode()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

var names = []Name{BlobName(hashOf(1)), PartName(idA, ctxabi.MessagesFile, 0, hashOf(2)), PartName(idA, ctxabi.EventsFile, 1<<40, hashOf(3)),
	IndexName(idA, ctxabi.EventsFile, 7, hashOf(4)), SnapshotName(idA, 1<<63, hashOf(5))}

func TestNames(t *testing.T) {
	for _, n := range names {
		if got, err := ParseName(n.String()); err != nil || got != n {
			t.Errorf("%s is %+v, %v, want %+v", n, got, err, n)
		}
		if err := (engine.Key{Owner: "u1", Name: n.String()}).Check(); err != nil {
			t.Error(err)
		}
	}
	sha := strings.Repeat("01", 32)
	for _, s := range []string{"", "b", "b/", "b/" + sha[1:], "b/" + sha + "0", "b/" + strings.ToUpper(names[0].String()[2:]) + "F", "b/x/" + sha, "c/" + sha, "p/" + sha,
		"p/" + idA + "/messages.jsonl/0-" + sha, "p/" + idA + "/messages/00-" + sha, "p/" + idA + "/messages/-1-" + sha, "p/" + idA + "/messages/9223372036854775808-" + sha,
		"p/" + idA + "x/messages/0-" + sha, "p/" + idA + "/messages/0" + sha, "x/" + idA + "//0-" + sha, "s/" + idA + "/18446744073709551616-" + sha, "s/" + idA + "/+1-" + sha,
		"h/1/0-" + sha, "/b/" + sha, "b/" + sha + "/"} {
		if n, err := ParseName(s); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%q is %+v, %v", s, n, err)
		}
	}
	for _, n := range []Name{{}, {Kind: 'z'}, PartName("x", ctxabi.EventsFile, 0, hashOf(1)), PartName(idA, "state", 0, hashOf(1)), PartName(idA, ctxabi.EventsFile, -1, hashOf(1)),
		{Kind: BlobObject, Session: idA}} {
		if err := n.check(); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// fuzz checks that parsing whatever bytes ends, and that what is accepted has one form.
func fuzz(f *testing.F, which string) {
	for _, one := range forms() {
		if one.name != which {
			continue
		}
		f.Add(one.encoded)
		f.Add(one.encoded[:len(one.encoded)/2])
		f.Add(append([]byte(nil), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1))
		f.Fuzz(func(t *testing.T, b []byte) {
			if got, err := one.again(b); err == nil && !bytes.Equal(got, b) {
				t.Fatalf("%x is encoded as %x", b, got)
			}
		})
	}
}

func FuzzPart(f *testing.F)     { fuzz(f, "part") }
func FuzzSaved(f *testing.F)    { fuzz(f, "saved") }
func FuzzRef(f *testing.F)      { fuzz(f, "reference") }
func FuzzIndex(f *testing.F)    { fuzz(f, "index") }
func FuzzSnapshot(f *testing.F) { fuzz(f, "snapshot") }
func FuzzUnnamed(f *testing.F)  { fuzz(f, "unnamed") }

func FuzzName(f *testing.F) {
	for _, n := range names {
		f.Add(n.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseName(s); err == nil && n.String() != s {
			t.Fatalf("%q is encoded as %q", s, n)
		}
	})
}
