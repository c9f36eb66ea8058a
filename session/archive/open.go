package archive

import (
	"errors"
	"io/fs"

	"github.com/ctxfs/ctxfs/internal/vfs"
)

// Open returns the log whose records are those of its sealed parts and of tail, an open file that
// belongs to it from then on. raw is the list of parts as [Location.ReadList] returned it. It
// returns the error of the disk; tail is closed then.
func Open(at *Location, tail vfs.File, raw []byte, rows Rows) (*Data, error) {
	d := &Data{at: at, tail: tail, tailNameless: vfs.NamelessFunc(tail)}
	if err := d.open(raw, rows); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// open finds out which sealed parts d has.
func (d *Data) open(raw []byte, rows Rows) error {
	fi, err := d.tail.Stat()
	if err != nil {
		return err
	}
	total, err := rows.End()
	if err != nil {
		return err
	}
	list := new(List)
	lost := false
	if raw != nil {
		if list, err = ParseList(raw); err != nil {
			list, lost = nil, true
		}
	} else {
		list, lost = nil, true
	}
	if lost {
		if list, err = d.at.findParts(); err != nil {
			return err
		}
		if list == nil {
			return nil
		}
	} else if list.Base()+fi.Size() != total {
		newer, err := d.newerList(list, fi.Size())
		if err != nil {
			return err
		}
		if newer != nil {
			list, lost = newer, true
		}
	}
	for i := range list.Parts {
		p := &Part{Entry: list.Parts[i], at: d.at}
		p.find()
		d.parts = append(d.parts, p)
	}
	d.base = list.Base()
	return d.settle(list, rows, fi.Size(), total, lost)
}

// ReadList returns the list as it is in the store; nil when there is none. It returns the error of
// the disk.
func (at *Location) ReadList() ([]byte, error) {
	data, err := vfs.ReadFile(at.Dir.Root.FS, at.Dir.Path(ListFile(at.Log)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
