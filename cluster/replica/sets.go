package replica

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// maxRemoved is how many files that were removed are remembered: those that were removed last.
const maxRemoved = 512

// Sets are the last changes of control files, by the names of the files.
type Sets map[string]session.Revision

// ParseSets returns what [Sets.Encode] wrote, and nothing for no bytes. It returns ctxabi.ErrIO for any
// other bytes.
func ParseSets(b []byte) (Sets, error) {
	s := Sets{}
	damaged := ctxabi.E("read", log.SetsFile, ctxabi.ErrIO, "it is damaged; move the session's directory away, and it is fetched anew")
	if len(b) == 0 {
		return s, nil
	}
	for rest := b; ; {
		line, behind, whole := bytes.Cut(rest, []byte{'\n'})
		if !whole {
			return nil, damaged
		}
		if len(behind) == 0 {
			break // the checksum
		}
		f := strings.SplitN(string(line), " ", 6)
		if len(f) != 6 {
			return nil, damaged
		}
		var r session.Revision
		var err [5]error
		var at int64
		var uid uint64
		var name string
		r.Entry, err[0] = strconv.ParseUint(f[0], 10, 64)
		if at, err[1] = strconv.ParseInt(f[1], 10, 64); at != 0 {
			r.Time = time.Unix(0, at)
		}
		if f[2] != "-" {
			uid, err[2] = strconv.ParseUint(f[2], 10, 32)
			r.Known, r.UID = true, uint32(uid)
		}
		r.Host = f[3]
		r.Size, err[3] = strconv.ParseInt(f[4], 10, 64)
		name, err[4] = strconv.Unquote(f[5])
		if errors.Join(err[:]...) != nil {
			return nil, damaged
		}
		s[name], rest = r, behind
	}
	if !bytes.Equal(s.Encode(), b) {
		return nil, damaged
	}
	return s, nil
}

// Encode returns the file .ctxfs/sets for s. Equal ones have equal bytes.
func (s Sets) Encode() []byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(s)) {
		r := s[name]
		at, uid := int64(0), "-"
		if !r.Time.IsZero() {
			at = r.Time.UnixNano()
		}
		if r.Known {
			uid = strconv.FormatUint(uint64(r.UID), 10)
		}
		b = fmt.Appendf(b, "%d %d %s %s %d %s\n", r.Entry, at, uid, r.Host, r.Size, strconv.Quote(name))
	}
	return fmt.Appendf(b, "%08x\n", crc32.Checksum(b, vfs.Castagnoli))
}

// ReadSets returns what the copy in dir has in its file, whether or not it is open. It returns the errors
// of ParseSets, and that of the disk.
func ReadSets(dir *disk.Dir) (Sets, error) {
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	b, err := vfs.ReadFile(dir.Root.FS, dir.Path(log.SetsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, vfs.Failed("read", log.SetsFile, err, "nobody knows which entries have set the session's files")
	}
	return ParseSets(b)
}

// Stale returns ctxabi.ErrStale if the change, which stands in entry i, is not to be made because its
// writer has not seen what was set last.
func (s Sets) Stale(c *Change, i uint64) error {
	last, ok := s[c.Name]
	if !ok || !c.Edit.Only || last.Entry < c.Edit.Seen || last.Entry == i {
		return nil
	}
	expected := "none"
	if c.Edit.Seen > 0 {
		expected = fmt.Sprint("entry ", c.Edit.Seen-1)
	}
	return ctxabi.E(string(c.Kind), c.Name, ctxabi.ErrStale, "host %s has set it in entry %d of the journal, and %s was expected; "+
		"nothing was changed: read user.ctx.index and the file again, and then write", last.Host, last.Entry, expected)
}

// Revision returns the change as one of entry i.
func (c *Change) Revision(i uint64) session.Revision {
	r := session.Revision{Entry: i, Host: cmp.Or(c.Host, "-"), Known: c.Edit.Known, Size: int64(c.Len)}
	if r.Known {
		r.UID = c.Edit.UID
	}
	if c.At != 0 {
		r.Time = time.Unix(0, c.At)
	}
	removes := c.Kind == session.RemoveFile || c.Kind == session.DropFile || c.Retracts()
	if removes || c.Kind == session.SetNote && c.To == ctxabi.OriginDerived {
		r.Size = -1
	}
	return r
}

// set notes the last change of a file.
func (s Sets) set(name string, r session.Revision) {
	s[name] = r
	if r.Size >= 0 {
		return
	}
	removed, oldest := 0, name
	for n, r := range s {
		if r.Size < 0 {
			if removed++; r.Entry < s[oldest].Entry || r.Entry == s[oldest].Entry && n < oldest {
				oldest = n
			}
		}
	}
	if removed > maxRemoved {
		delete(s, oldest)
	}
}

// move notes that a child is gone: what was set of its files is that of the child to, if that is there.
func (s Sets) move(child, to string) (changed bool) {
	dir := ctxabi.ChildPath(child) + "/"
	for name, r := range maps.Clone(s) {
		if file, in := strings.CutPrefix(name, dir); in {
			delete(s, name)
			if changed = true; to != "" {
				s[path.Join(ctxabi.ChildPath(to), file)] = r
			}
		}
	}
	return changed
}

// sets is the file .ctxfs/sets of a copy that is open.
type sets struct {
	mu    sync.Mutex
	all   Sets // guarded by mu; changed by the holder of the turns alone
	dirty bool // the file is to be written; for the holder of the turns
}

// load reads the file. It returns the errors of ReadSets.
func (s *sets) load(dir *disk.Dir) error {
	all, err := ReadSets(dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.dirty = all, false
	return nil
}

// save writes the file if it is to be written. It returns the error of the disk.
func (s *sets) save(dir *disk.Dir) error {
	if !s.dirty {
		return nil
	}
	dir.Root.Move.RLock()
	defer dir.Root.Move.RUnlock()
	if err := dir.Replace(log.SetsFile, s.all.Encode(), true); err != nil {
		return vfs.Failed("set", log.SetsFile, err, "the entry is applied again")
	}
	s.dirty = false
	return nil
}

// LastSet returns the last change of a control file that was applied; ok is false if there was none. It may
// be called by anybody.
func (c *Copy) LastSet(name string) (r session.Revision, ok bool) {
	c.sets.mu.Lock()
	defer c.sets.mu.Unlock()
	r, ok = c.sets.all[name]
	return r, ok
}

// noteSet notes a change that was applied to the session, or refused with err, in entry i. It returns what
// another host had set before that its writer had not seen; nil: nothing. It returns the error of the disk.
func (c *Copy) noteSet(change *Change, i uint64, err error) (over *session.Revision, failed error) {
	s := &c.sets
	s.mu.Lock()
	defer s.mu.Unlock()
	switch change.Kind {
	case session.RenameChild, session.RemoveChild:
		return nil, c.moveSets(change)
	case session.MakeChild, session.SetTime:
		return nil, nil
	}
	if !c.counts(change, err) {
		return nil, nil
	}
	last, ok := s.all[change.Name]
	if ok && change.Edit.Known && last.Entry >= change.Edit.Seen && last.Host != change.Host && change.Revision(i).Size >= 0 && len(change.Was) == 0 {
		over = &last
	}
	s.all.set(change.Name, change.Revision(i))
	s.dirty = true
	return over, nil
}

// moveSets follows a child that got another name, or none. Whether it did is seen from what is there: this
// may not be the first time that the change is applied. It returns the error of the disk.
func (c *Copy) moveSets(change *Change) error {
	children, err := c.x.Children()
	if err != nil {
		return err
	}
	to := ""
	for _, child := range children {
		switch child.Name {
		case change.Name:
			return nil // it is still there
		case change.To:
			to = change.To
		}
	}
	if c.sets.all.move(change.Name, to) {
		c.sets.dirty = true
	}
	return nil
}

// counts reports whether a change of a control file has set it. One that is applied a second time has, if
// what it makes of the file is there.
func (c *Copy) counts(change *Change, err error) bool {
	switch {
	case change.Kind == session.RemoveFile && err == nil, change.Kind == session.DropFile && (err == nil || errors.Is(err, fs.ErrNotExist)):
		_, gone := c.x.Control(change.Name)
		last, ok := c.sets.all[change.Name]
		return errors.Is(gone, fs.ErrNotExist) && !(ok && last.Size < 0)
	case change.Kind == session.SetSummary && errors.Is(err, ctxabi.ErrConflict):
		now, failed := c.x.Note(change.Name)
		return failed == nil && !change.Retracts() && bytes.Equal(now.Own, change.Data)
	case change.Kind == session.SetNote && errors.Is(err, ctxabi.ErrConflict):
		now, failed := c.x.Note(change.Name)
		return failed == nil && now.Origin == change.To && bytes.Equal(now.Own, change.Data)
	}
	return err == nil
}
