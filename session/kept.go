package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Of derived content some cannot be made again in the same words, and stands in packs: what a
// summarizer said, what generators printed, what packs showed of a workspace. Where a session is on
// several hosts, such content is committed, so that all of them show the same; nothing else changes it
// there.

// Kept is one change of such content. It is made if the content is what it had to be, and else by
// nobody: of two that were made of the same content the first one counts.
type Kept struct {
	Name string            // as [Session.Derived] has it
	Was  [sha256.Size]byte // what [Session.KeptSum] must be
	Line bool              // Data is a line that is added; see [Session.AppendDerived]
	Drop bool              // the content is removed
	Data []byte            // else the content is Data and behind it the last Rest bytes of what was there
	Rest int
}

// KeptCommitter is a [ChangeCommitter] that orders such content, too. It makes the change durable and
// has it applied here by [Session.ApplyKept] before CommitKept returns. It returns the error of that:
// ctxabi.ErrConflict if the content is another one by now.
type KeptCommitter interface {
	CommitKept(ctx context.Context, x *Session, k Kept) error
}

// Keeps reports whether derived content that packs show is committed, by [Session.Keep]. In a store
// that is alone it is not: it is set and appended as other derived content.
func (x *Session) Keeps() bool { return x.store.kept != nil }

// Keep has a change committed. It may wait for other hosts. It returns ctxabi.ErrConflict if somebody
// else changed the content, and the other errors of the committer.
func (x *Session) Keep(ctx context.Context, k Kept) error { return x.store.kept.CommitKept(ctx, x, k) }

// KeptChanges returns a number that is another one once something was applied by [Session.ApplyKept].
func (x *Session) KeptChanges() uint64 { return x.keptChanges.Load() }

// IsKept reports whether derived content of that name may be committed.
func IsKept(name string) bool {
	switch name {
	case SummariesFile, ProjectFile, "epoch.json", "recipe.json":
		return true
	}
	out, ok := strings.CutPrefix(name, "outputs/")
	return ok && out != "" && !strings.Contains(out, "/")
}

// KeptSum returns what stands for the content called name: zeros if there is none. Of lines it is a hash
// of those that are whole. It returns the error of the disk.
func (x *Session) KeptSum(name string) (sum [sha256.Size]byte, err error) {
	sum, _, err = x.keptSums(name)
	return sum, err
}

// keptSums is KeptSum. before is, of lines, the same for all but the last one.
func (x *Session) keptSums(name string) (sum, before [sha256.Size]byte, err error) {
	if name != SummariesFile && name != ProjectFile {
		data, err := x.Derived(name)
		if errors.Is(err, fs.ErrNotExist) {
			return sum, before, nil
		}
		return sumOfKept(data), before, err
	}
	err = x.EachDerivedLine(name, func(line []byte) bool {
		before = sum
		sum = sha256.Sum256(append(sum[:], line...))
		return true
	})
	return sum, before, err
}

func sumOfKept(data []byte) [sha256.Size]byte {
	return sha256.Sum256(append(binary.AppendUvarint(nil, uint64(len(data))), data...))
}

// ApplyKept makes a change that was committed, durably. A change that was applied before is not applied
// again. It returns ctxabi.ErrConflict if the content is not what it had to be, ctxabi.ErrMalformed for
// what is no such change, and the error of the disk.
func (x *Session) ApplyKept(k Kept) error {
	lines := k.Name == SummariesFile || k.Name == ProjectFile
	if !IsKept(k.Name) || k.Line != lines || k.Line && (k.Drop || len(k.Data) == 0 || bytes.IndexByte(k.Data, '\n') >= 0) {
		return ctxabi.E("apply", k.Name, ctxabi.ErrMalformed, "it is not a change of what packs show")
	}
	sum, before, err := x.keptSums(k.Name)
	if err != nil {
		return err
	}
	switch {
	case k.Line && before == k.Was && sum == sha256.Sum256(append(k.Was[:], k.Data...)): // it stands there
		return x.syncLines(k.Name)
	case k.Drop && sum == ([sha256.Size]byte{}), !k.Drop && !k.Line && k.Rest == 0 && sum == sumOfKept(k.Data):
		return nil
	case sum != k.Was:
		return ctxabi.E("apply", k.Name, ctxabi.ErrConflict, "another host changed it")
	}
	defer x.keptChanges.Add(1)
	switch {
	case k.Line:
		if err := x.AppendDerived(k.Name, k.Data); err != nil {
			return err
		}
		return x.syncLines(k.Name)
	case k.Drop:
		return x.RemoveDerived(k.Name)
	}
	data := k.Data
	if k.Rest > 0 {
		was, err := x.Derived(k.Name)
		if err != nil || len(was) < k.Rest {
			return ctxabi.E("apply", k.Name, ctxabi.ErrConflict, "it has no %d bytes to be kept", k.Rest)
		}
		data = slices.Concat(data, was[len(was)-k.Rest:])
	}
	return x.setKept(k.Name, data)
}

// setKept replaces content, durably.
func (x *Session) setKept(name string, data []byte) error {
	d := x.derived()
	rel, err := d.change("set", name)
	if err != nil {
		return err
	}
	s := x.store.disk
	s.Move.RLock()
	defer s.Move.RUnlock()
	tmp := s.TmpName()
	err = vfs.WriteFile(s.FS, tmp, append(derivedLine(data), data...), 0o600)
	if err == nil {
		err = d.inDir(rel, func(file string) error { return s.FS.Rename(tmp, file) })
	}
	for dir := path.Dir(rel); err == nil; dir = path.Dir(dir) {
		if err = s.FS.SyncDir(x.dir.Path(dir)); dir == ctxabi.InternalDir {
			break
		}
	}
	if err != nil {
		s.FS.Remove(tmp)
		return vfs.Failed("set", rel, err, "it may not survive a loss of power")
	}
	return nil
}

// syncLines makes the lines of content survive the loss of power.
func (x *Session) syncLines(name string) error {
	rel, err := derivedName("append", name)
	if err != nil {
		return err
	}
	s := x.store.disk
	s.Move.RLock()
	defer s.Move.RUnlock()
	f, err := s.FS.OpenFile(x.dir.Path(rel), os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), s.FS.SyncDir(x.dir.Path(ctxabi.InternalDir)))
	}
	if err != nil {
		return vfs.Failed("append", rel, err, "it may not survive a loss of power")
	}
	return nil
}
