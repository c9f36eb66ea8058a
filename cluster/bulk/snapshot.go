package bulk

import (
	"math"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// inlineMost is how many bytes of a file stand in the snapshot itself. What is longer is an object.
const inlineMost = 64 << 10

// Content is what a file holds: the bytes, or the reference to them if there are more than 64 KiB.
type Content struct {
	Data []byte
	Ref  Ref // Size is 0 where Data is all
}

// File is a file of a session.
type File struct {
	Name    string // relative to the session
	Time    int64  // of its last change, in nanoseconds since 1970
	Content Content
}

// Blob is what a user stored under its hash.
type Blob struct {
	Ref
	UID  uint32
	Time int64 // in nanoseconds since 1970
}

// Log is what a session has of one log: the shared parts, and what stands behind them.
type Log struct {
	Parts []Part
	Time  int64        // when it grew last, in nanoseconds since 1970
	Size  int64        // of all
	Chain journal.Hash // behind all
	Rows  Content      // the arrival rows behind the parts
	Tail  Content      // the records behind the parts
}

// Base returns where the tail of the log begins.
func (l *Log) Base() int64 {
	if n := len(l.Parts); n > 0 {
		return l.Parts[n-1].End()
	}
	return 0
}

// Snapshot is a session as it is behind some entries of its journal. It has all that is true of the
// session, in itself or in the objects that it names; what each host derives is not in it.
type Snapshot struct {
	Session  string           // its id
	At       journal.Position // behind the last entry that is in it
	Created  int64            // in nanoseconds since 1970
	Logs     [2]Log           // messages and events
	Children []string         // in order
	Files    []File           // in the order of their names
	Blobs    []Blob           // in the order of their hashes
}

const snapshotMagic = "ctxfs snapshot\n"

// Encode returns the snapshot as an object. Equal snapshots have equal bytes.
func (s *Snapshot) Encode() []byte {
	b := append([]byte(snapshotMagic), version)
	b = appendBytes(b, s.Session)
	b = append(appendNumber(b, s.At.I), s.At.Chain[:]...)
	b = appendNumber(b, uint64(s.Created))
	for i := range s.Logs {
		l := &s.Logs[i]
		b = appendNumber(b, uint64(len(l.Parts)))
		for k := range l.Parts {
			b = l.Parts[k].append(b)
		}
		b = appendNumber(appendNumber(b, uint64(l.Time)), uint64(l.Size))
		b = append(b, l.Chain[:]...)
		b = appendContent(appendContent(b, l.Rows), l.Tail)
	}
	b = appendNumber(b, uint64(len(s.Children)))
	for _, name := range s.Children {
		b = appendBytes(b, name)
	}
	b = appendNumber(b, uint64(len(s.Files)))
	for _, f := range s.Files {
		b = appendContent(appendNumber(appendBytes(b, f.Name), uint64(f.Time)), f.Content)
	}
	b = appendNumber(b, uint64(len(s.Blobs)))
	for _, f := range s.Blobs {
		b = appendNumber(appendNumber(appendRef(b, f.Ref), uint64(f.UID)), uint64(f.Time))
	}
	return b
}

func appendContent(b []byte, c Content) []byte {
	if c.Ref.Size > 0 {
		return appendRef(append(b, 1), c.Ref)
	}
	return appendBytes(append(b, 0), c.Data)
}

// ParseSnapshot returns the snapshot that [Snapshot.Encode] wrote; its bytes are parts of b. It returns
// [ErrDamaged] for any other bytes, for names of files that no snapshot has, and for logs that do not
// fit together, and journal.ErrVersion for those of a later version.
func ParseSnapshot(b []byte) (*Snapshot, error) {
	d := decode("a snapshot", snapshotMagic, b)
	s := &Snapshot{Session: d.text(), At: journal.Position{I: d.number(math.MaxUint64), Chain: d.hash()}, Created: d.size()}
	d.want(isSession(s.Session), "%q is not the id of a session", s.Session)
	for i := range s.Logs {
		s.Logs[i] = d.log(logNumbers[i])
	}
	d.each(func(i int) {
		s.Children = append(s.Children, d.text())
		d.want(isChild(s.Children[i]) && (i == 0 || s.Children[i-1] < s.Children[i]), "child %q", s.Children[i])
	})
	d.each(func(i int) {
		s.Files = append(s.Files, File{Name: d.text(), Time: d.size(), Content: d.content()})
		d.want(i == 0 || s.Files[i-1].Name < s.Files[i].Name, "file %q is not behind the one before it", s.Files[i].Name)
	})
	d.each(func(i int) {
		s.Blobs = append(s.Blobs, Blob{Ref: d.ref(), UID: uint32(d.number(math.MaxUint32)), Time: d.size()})
		d.want(s.Blobs[i].Size <= engine.MaxObject && (i == 0 || slices.Compare(s.Blobs[i-1].SHA[:], s.Blobs[i].SHA[:]) < 0), "blob %d", i+1)
	})
	for _, f := range s.Files {
		child, ok := isFile(f.Name)
		d.want(ok && (child == "" || slices.Contains(s.Children, child)), "file %q", f.Name)
	}
	if err := d.end(); err != nil {
		return nil, err
	}
	return s, nil
}

func (d *decoder) log(name string) (l Log) {
	d.each(func(i int) {
		end := l.Base()
		l.Parts = append(l.Parts, d.part())
		d.want(l.Parts[i].Log == name && l.Parts[i].Off == end, "part %d of %s does not follow the one before it", i+1, name)
	})
	l.Time, l.Size, l.Chain = d.size(), d.size(), d.hash()
	l.Rows, l.Tail = d.content(), d.content()
	d.want(l.Size == l.Base()+l.Tail.Len(), "%s has %d bytes, not %d", name, l.Base()+l.Tail.Len(), l.Size)
	return l
}

func (d *decoder) content() (c Content) {
	if d.number(1) == 0 {
		c.Data = d.bytes()
		d.want(len(c.Data) <= inlineMost, "%d bytes that should be an object", len(c.Data))
	} else {
		c.Ref = d.ref()
		d.want(c.Ref.Size > inlineMost && c.Ref.Size <= engine.MaxObject, "an object of %d bytes", c.Ref.Size)
	}
	return c
}

// Len returns how many bytes the content has.
func (c *Content) Len() int64 {
	if c.Ref.Size > 0 {
		return c.Ref.Size
	}
	return int64(len(c.Data))
}

// Object is an object that a snapshot or a row names.
type Object struct {
	Name Name
	Size int64
}

// Objects returns the objects that the snapshot names, without itself.
func (s *Snapshot) Objects() (list []Object) {
	add := func(c Content) {
		if c.Ref.Size > 0 {
			list = append(list, Object{BlobName(c.Ref.SHA), c.Ref.Size})
		}
	}
	for i := range s.Logs {
		l := &s.Logs[i]
		for k := range l.Parts {
			list = append(list, l.Parts[k].Objects(s.Session)...)
		}
		add(l.Rows)
		add(l.Tail)
	}
	for _, f := range s.Files {
		add(f.Content)
	}
	for _, f := range s.Blobs {
		list = append(list, Object{BlobName(f.SHA), f.Size})
	}
	return list
}

// Objects returns the objects that the row of a part names, in a session.
func (p *Part) Objects(session string) []Object {
	return []Object{{p.Name(session), p.File.Size}, {p.IndexName(session), p.Index.Size}}
}
