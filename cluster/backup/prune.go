package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Keep is which backups stay: the newest Last of them, and those that ended within the last For. The newest one
// always does.
type Keep struct {
	Last int
	For  time.Duration
}

// Pruned is what Prune has removed.
type Pruned struct {
	Numbers []int `json:"numbers"` // of backups
	Files   int   `json:"files"`   // that no backup names any more
	Bytes   int64 `json:"bytes"`   // of these
}

// Prune removes backups from a directory, and then the files that none of those that stay names. The backups go
// first: what is cut short, the next Prune removes. It returns ErrDamaged, and has removed nothing, if a backup
// that stays cannot be read or is not whole: then it is not known which files may go. It returns ErrBusy if somebody
// makes a backup, fs.ErrNotExist if dir is no directory of backups, journal.ErrVersion, and the errors of ctx and the disk.
func Prune(ctx context.Context, dir string, keep Keep, now time.Time) (*Pruned, error) {
	if _, err := openDir(dir); err != nil {
		return nil, err
	}
	d, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	numbers, err := d.numbers()
	if err != nil {
		return nil, err
	}
	var all []int
	for n := range numbers {
		all = append(all, n)
	}
	slices.Sort(all)
	slices.Reverse(all)
	p, named := &Pruned{Numbers: []int{}}, map[string]bool{}
	for i, n := range all {
		stays := i < max(keep.Last, 1)
		if !stays && keep.For <= 0 {
			p.Numbers = append(p.Numbers, n)
			continue
		}
		m, err := d.manifest(n)
		if err == nil && !stays && now.Sub(time.Unix(0, m.Ended)) > keep.For {
			p.Numbers = append(p.Numbers, n)
			continue
		}
		if err == nil {
			err = d.name(m, named)
		}
		if err != nil {
			return nil, fmt.Errorf("backup %d, so nothing is removed; ctxfs cluster backup --verify --number %d has more: %w", n, n, err)
		}
	}
	for _, n := range p.Numbers {
		if err := os.Remove(d.file(filepath.Join(manifestDir, numbers[n]))); err != nil {
			return nil, err
		}
	}
	if len(p.Numbers) > 0 {
		d.mu.Lock()
		d.news[d.file(manifestDir)] = true
		d.mu.Unlock()
		if err := d.settle(); err != nil { // before what they name
			return nil, err
		}
	}
	for _, sub := range []string{objectsDir, entriesDir, listsDir} {
		if err := d.sweep(ctx, sub, named, p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// name notes the files that a backup names, by their paths in the directory. It returns ErrDamaged if one of them is
// not there, or a list of objects cannot be read.
func (d *directory) name(m *manifest, named map[string]bool) error {
	add := func(file string) error {
		file = filepath.FromSlash(file)
		if named[file] {
			return nil
		}
		if fi, err := os.Lstat(d.file(file)); err != nil || !fi.Mode().IsRegular() {
			return errors.Join(fmt.Errorf("%w: %s is not there", ErrDamaged, file), err)
		}
		named[file] = true
		return nil
	}
	for i := range m.Owners {
		o := &m.Owners[i]
		for _, of := range append([]saved{o.Names}, o.Sessions...) {
			s := engine.Subject{Owner: o.Owner, Session: of.ID}
			for _, c := range of.Chunks {
				if err := add(c.path(s)); err != nil {
					return err
				}
			}
		}
		list, err := d.list(o)
		if err != nil {
			return err
		}
		if o.Objects != "" {
			named[filepath.FromSlash(listPath(o.Objects))] = true
		}
		for _, x := range list {
			file, err := x.path(o.Owner)
			if err == nil {
				err = add(file)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sweep removes the regular files of a folder that are not named, and then the folders below it that are empty. It
// returns the errors of ctx and of the disk.
func (d *directory) sweep(ctx context.Context, sub string, named map[string]bool, p *Pruned) error {
	var folders []string
	err := filepath.WalkDir(d.file(sub), func(file string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			folders = append(folders, file)
			return nil
		}
		name, err := filepath.Rel(d.path, file)
		if err != nil || named[name] || !e.Type().IsRegular() {
			return err
		}
		fi, err := e.Info()
		if err == nil {
			err = os.Remove(file)
		}
		if err == nil {
			p.Files, p.Bytes = p.Files+1, p.Bytes+fi.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, dir := range slices.Backward(folders) {
		os.Remove(dir) // what is not empty stays
	}
	return err
}
