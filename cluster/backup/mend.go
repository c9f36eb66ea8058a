package backup

import (
	"context"
	"time"
)

// Mend puts the objects of a backup, 0 the newest one, into a cluster again, so that what its servers have lost of them is
// there; what they have is compared and stays. Each file is held against its hash before. An object that nothing names any
// more goes again as others do. What is wrong with single objects is in the report. It returns ErrNoBackup, ErrDamaged if the
// lists of the backup are, the errors of an engine that cannot be reached or denies it, and that of the disk.
func Mend(ctx context.Context, dir string, number int, c Cluster) (*Report, error) {
	began := time.Now()
	d, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	m, err := d.manifest(number)
	if err != nil {
		return nil, err
	}
	r := &restorer{taker: taker{d: d, c: c}, m: m, lists: map[string][]object{}}
	for i := range m.Owners {
		o := &m.Owners[i]
		list, err := d.list(o)
		if err != nil {
			return nil, err
		}
		r.lists[o.Owner] = list
		err = r.objects(ctx, o, func(err error) error {
			if fatal(err) {
				return err
			}
			r.problem("%v", err)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return r.done(m, began), nil
}
