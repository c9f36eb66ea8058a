package names

import (
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// WriteFile makes the content and the attributes that a file has on this host those of all. The content is an object
// already. Base is the hash of the content that the writer had opened, "" if there was none; to change
// attributes alone, it is the hash itself.
type WriteFile struct{ File }

// Plan returns the row of the file, of one with a name of its own if another host changed it, too, or no row
// if it has that content and those attributes already. With the first file of a user it makes his home. It returns no error.
func (o WriteFile) Plan(s *State, host string) ([]journal.Row, error) {
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
	if old.Kind != "" && old.Kind != Regular || old.Hash == f.Base || old.Hash == f.Hash {
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

// MoveFile is a rename of which only one side may be shared.
type MoveFile struct {
	From, To string
	Dir      bool  // a directory is moved
	File     *File // what is moved, if it is a regular file that is small enough to be shared
}

// Plan returns the rows of the rename; none if it does not concern other hosts. It returns ErrCrosses if a
// directory would come to be shared or not: who moves it copies it instead.
func (o MoveFile) Plan(s *State, host string) ([]journal.Row, error) {
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
