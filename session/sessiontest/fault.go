package sessiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Kind is a way in which an operation of the disk fails.
type Kind int

// The kinds of failure.
const (
	EIO     Kind = iota // nothing happens
	ENOSPC              // nothing happens; operations that need no space give EIO
	Short               // a write writes some of its bytes, then ENOSPC; others give EIO
	Stopped             // this and every later operation fail: the process is as good as dead
)

// ErrDisk is the failure of a disk that was told to fail.
var ErrDisk = errors.New("injected input/output error")

// Fault is which operations fail. Operations are counted from 1, from when
// the fault was set.
type Fault struct {
	Kind    Kind
	At      int  // the first one
	Count   int  // how many in a row; 0: one
	Every   int  // instead of At: each Every-th
	Changes bool // count only operations that change the disk
}

type faults struct {
	fault   Fault
	on      bool
	ops     int
	changes int
	hit     int
	last    string
}

type shortWrite struct {
	eighths int
	err     error
}

func (s *shortWrite) Error() string { return s.err.Error() }

// Fail sets the fault and starts counting anew.
func (d *Disk) Fail(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.Count = max(f.Count, 1)
	d.faults = faults{fault: f, on: true}
}

// Heal takes the fault away.
func (d *Disk) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults.on = false
}

// Ops is how many operations were counted since the last Fail, and how many of
// them change the disk.
func (d *Disk) Ops() (all, changes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.ops, d.faults.changes
}

// Hit returns how many operations failed, and which was the last one.
func (d *Disk) Hit() (int, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults.hit, d.faults.last
}

// step counts an operation and decides whether it fails.
func (f *faults) step(d *Disk, op, name string, changes bool) error {
	f.ops++
	if changes {
		f.changes++
	}
	if !f.on || f.fault.Changes && !changes {
		return nil
	}
	n := f.ops
	if f.fault.Changes {
		n = f.changes
	}
	failing := n >= f.fault.At && n < f.fault.At+f.fault.Count
	if f.fault.Kind == Stopped {
		failing = n >= f.fault.At
	}
	if f.fault.Every > 0 {
		failing = n%f.fault.Every == 0
	}
	if !failing {
		return nil
	}
	f.hit++
	f.last = op + " " + name
	full := fmt.Errorf("injected: %w", ctxabi.ErrNoSpace)
	switch needsSpace := op == "write" || op == "rewrite" || op == "sync" || op == "syncdir" || op == "mkdir" || op == "rename" || op == "link" || op == "open" && changes; {
	case f.fault.Kind == Short && op == "write":
		return &shortWrite{eighths: n % 8, err: full}
	case f.fault.Kind == ENOSPC && needsSpace:
		return full
	}
	return ErrDisk
}

func pathError(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// tick moves the clock and stamps n.
func (d *Disk) tick(n *node) {
	d.now = d.now.Add(time.Millisecond)
	n.mtime = d.now
}
