package names

import (
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// WriteFile makes the content and the attributes that a file has on this host those of all. The content is an object
// already. Base is the hash of the content that the writer had opened, "" if there was none; to change
// attributes alone, it is the hash itself.
type WriteFile struct{ File }

// Plan returns the row of the file, of one with a name of its own if another host changed it, too, or made
// something else of the name, or no row
// if it has that content and those attributes already. With the first file of a user it makes his home, and
// where another host has removed directories above the file, those. It returns no error.
func (o WriteFile) Plan(s *State, host string) ([]journal.Row, error) {
	rows, err := o.plan(s, host)
	if err != nil || len(rows) == 0 {
		return rows, err
	}
	return append(above(s, o.File), rows...), nil
}

// above returns the rows that make the directories above a file that are shared and not there.
func above(s *State, f File) (rows []journal.Row) {
	owner, _ := s.Home()
	if agent, _, ok := SplitHome(f.Path); ok {
		owner, _, _ = s.Agent(agent)
	}
	for dir := path.Dir(f.Path); dir != "." && Shared(s.subject, dir); dir = path.Dir(dir) {
		if _, ok := s.Node(dir); ok || owner.Mode == 0 {
			break
		}
		rows = append(rows, Link{Op: Mkdir, Path: dir, Mode: owner.Mode, UID: f.UID, GID: f.GID, MTime: f.MTime}.Row())
	}
	slices.Reverse(rows)
	return rows
}

// plan returns the row of the file.
func (o WriteFile) plan(s *State, host string) ([]journal.Row, error) {
	f := o.File
	if _, ok := s.Home(); !ok && s.subject.Owner[0] == 'u' {
		return rowsOf(Name{Op: MakeHome, Owner: Owner{UID: f.UID, GID: f.GID, Mode: 0o700}}, f), nil
	}
	old, _ := s.Node(f.Path)
	if old.Equal(f.node()) {
		return nil, nil
	}
	if f.Path == ctxabi.TrustFile {
		f.Base = old.Hash
	}
	other := old.Kind != "" && old.Kind != Regular
	if !other && (old.Hash == f.Base || old.Hash == f.Hash) {
		return rowsOf(f), nil
	}
	for n := 1; ; n++ {
		f.Path, f.Base = ConflictName(o.Path, host, n), ""
		other, taken := s.Node(f.Path)
		if !taken {
			return rowsOf(f), nil
		}
		if other.Equal(f.node()) {
			return nil, nil
		}
	}
}

// node returns what the state has of a file.
func (f File) node() Node {
	return Node{Kind: Regular, Hash: f.Hash, Size: f.Size, Mode: f.Mode, UID: f.UID, GID: f.GID, MTime: f.MTime, Xattrs: f.Xattrs}
}

// KeptAs returns the path under which an entry has the content that was written to a file, if that is another
// one because two hosts had changed the file; else the path itself.
func KeptAs(a Applied, name string) string {
	for _, r := range a.Rows {
		if f, ok := r.(File); ok && f.Path != name {
			return f.Path
		}
	}
	return name
}

// ChangeLink makes or removes a directory, a link or a file, or renames what lies between shared paths.
type ChangeLink struct{ Link }

// Plan returns the row; it returns no error.
func (o ChangeLink) Plan(*State, string) ([]journal.Row, error) { return rowsOf(o.Link), nil }

// RemoveFile removes a file, a link or an empty directory, if hosts share it.
type RemoveFile struct {
	Path string
	Dir  bool
}

// Plan returns the row, or none if the path is not in the journal. It returns ErrNotEmpty if there are files below it.
func (o RemoveFile) Plan(s *State, _ string) ([]journal.Row, error) {
	if _, ok := s.Node(o.Path); !ok {
		if o.Dir && len(below(s, o.Path)) > 0 {
			return nil, refuseFor(ErrNotEmpty, string(Rmdir), o.Path, ctxabi.ErrExists, "it is not empty")
		}
		return nil, nil
	}
	op := Unlink
	if o.Dir {
		op = Rmdir
	}
	return rowsOf(Link{Op: op, Path: o.Path}), nil
}

// MoveFile is a rename of which only one side may be shared.
type MoveFile struct {
	From, To string
	Dir      bool  // a directory is moved
	Keep     bool  // what is called To stays: the rename is refused with ctxabi.ErrExists
	File     *File // what is moved, if it is a regular file that is small enough to be shared
}

// Plan returns the rows of the rename; none if it does not concern other hosts. It returns ErrCrosses if a
// directory would come to be shared or not: who moves it copies it instead.
func (o MoveFile) Plan(s *State, host string) ([]journal.Row, error) {
	if o.Keep && has(s, o.To) {
		return nil, refuse("rename", o.To, ctxabi.ErrExists, "it exists already")
	}
	if has(s, o.From) {
		if Shared(s.subject, o.To) || len(below(s, o.From)) > 0 {
			return rowsOf(Link{Op: Move, Path: o.From, To: o.To}), nil
		}
		if o.Dir {
			return nil, refuseFor(ErrCrosses, "rename", o.From, ctxabi.ErrProtected, "hosts do not share %s", o.To)
		}
		return rowsOf(Link{Op: Unlink, Path: o.From}), nil
	}
	switch {
	case !Shared(s.subject, o.To):
		return nil, nil
	case o.Dir:
		return nil, refuseFor(ErrCrosses, "rename", o.From, ctxabi.ErrProtected, "hosts share %s, and not this directory", o.To)
	case o.File == nil:
		return nil, nil // too large, or no regular file: it stays with this host under its new name, too
	}
	f := *o.File
	old, _ := s.Node(o.To)
	f.Path, f.Base = o.To, old.Hash
	switch old.Kind {
	case Directory:
		return rowsOf(f), nil // which is refused
	case Symbolic:
		return rowsOf(Link{Op: Unlink, Path: o.To}, f), nil
	}
	return WriteFile{f}.Plan(s, host)
}

// has reports whether a path, or something below it, is in the state.
func has(s *State, name string) bool {
	_, ok := s.Node(name)
	return ok || len(below(s, name)) > 0
}

// below returns the paths in a tree that lie below a directory.
func below(s *State, name string) []string {
	t, rel, err := s.locate("look", name)
	if err != nil {
		return nil
	}
	return t.under(rel)
}
