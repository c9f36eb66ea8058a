package keeper

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Read returns a file of the owner of ref as it is on this host, with its content. ok is false if it is not
// shared: because of its path, or its size, or because it is no regular file. It returns fs.ErrNotExist if
// there is none, and the error of the disk.
func (k *Keeper) Read(ref ctxabi.Ref, name string) (f names.File, data []byte, ok bool, err error) {
	n, data, ok, err := k.disk.read(path.Join(ref.Owner(), name))
	if err != nil || !ok || n.Kind != names.Regular || !names.Shared(names.SubjectOf(ref), name) {
		return f, nil, false, err
	}
	return fileOf(name, n), data, true, nil
}

// Opened returns the file that is open as f, to be read, as Read does: the row of a file called name, if it is
// small enough. It returns the error of the disk.
func (k *Keeper) Opened(name string, f *os.File) (row names.File, data []byte, ok bool, err error) {
	n, data, ok, err := readOpen(f)
	return fileOf(name, n), data, ok, err
}

// Rename commits a rename of what the owner of ref has, of which hosts need share only one name, and makes it
// true as Commit does. Where keep is set, what has the new name already stays. It returns names.ErrCrosses for
// what has to be copied instead, and the errors of Commit and of engine.Objects.Put.
func (k *Keeper) Rename(ctx context.Context, ref ctxabi.Ref, from, to string, keep bool, local func() error) error {
	o, err := k.owner(ref)
	if err != nil {
		return err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	n, data, ok, err := o.k.disk.read(o.stored(from))
	if err != nil {
		return err
	}
	op := names.MoveFile{From: from, To: to, Keep: keep, Dir: ok && n.Kind == names.Directory}
	if old, _ := o.copy.want.Node(from); ok && n.Kind == names.Regular && old.Kind == "" && names.Shared(o.subject, to) {
		f := fileOf(to, n)
		if err := o.put(ctx, f, data); err != nil {
			return err
		}
		op.File = &f
	}
	o.writing = to
	defer func() { o.writing = "" }()
	_, err = o.commit(ctx, op, local)
	return err
}

// WriteFile commits a file that was changed here, whose Base is the hash of what its writer had opened. Where
// another host changed it, too, that content gets the name, and kept is the path that this one has now; else it
// is the file's own. What could not be committed is committed later, as it is on the disk then. WriteFile
// returns the errors of Commit and of engine.Objects.Put.
func (k *Keeper) WriteFile(ctx context.Context, ref ctxabi.Ref, f names.File, data []byte) (kept string, err error) {
	o, err := k.owner(ref)
	if err != nil {
		return f.Path, err
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	kept, err = o.writeFile(ctx, f, data)
	if later(err) {
		o.unsaved[f.Path] = true
	} else {
		delete(o.unsaved, f.Path)
	}
	return kept, err
}

// writeFile is WriteFile with the turn.
func (o *owner) writeFile(ctx context.Context, f names.File, data []byte) (kept string, err error) {
	if hash := Hash(data); f.Hash != hash {
		return f.Path, fmt.Errorf("%w: %s has %s, not %s", engine.ErrDiffers, f.Path, hash, f.Hash)
	}
	if err := o.put(ctx, f, data); err != nil {
		return f.Path, err
	}
	o.writing, o.wrote = f.Path, f.Hash
	defer func() { o.writing, o.wrote = "", "" }()
	a, err := o.commit(ctx, names.WriteFile{File: f}, nil)
	kept = names.KeptAs(a, f.Path)
	if err == nil && kept != f.Path { // the name may have this content still, if both had the same before
		err = o.makeAgain(ctx, o.fileTouched(f.Path))
	}
	return kept, err
}

// put stores the content of a file among the objects. It returns the errors of engine.Objects.Put.
func (o *owner) put(ctx context.Context, f names.File, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, o.k.o.Timeout)
	defer cancel()
	return o.k.o.Engine.Objects().Put(ctx, names.ContentKey(o.subject, f.Hash), data)
}
