package sessiontest

import (
	"maps"
	"math/rand"
	"slices"
)

type opKind int

const (
	link opKind = iota
	unlink
	rename
)

// dirOp is one change of a directory, or of two.
type dirOp struct {
	kind   opKind
	dir    *node
	name   string
	to     *node // of a rename
	toName string
	node   *node
}

func (o *dirOp) apply(entries func(*node) map[string]*node) {
	switch o.kind {
	case link:
		entries(o.dir)[o.name] = o.node
	case unlink:
		delete(entries(o.dir), o.name)
	case rename:
		delete(entries(o.dir), o.name)
		entries(o.to)[o.toName] = o.node
	}
}

func durable(n *node) map[string]*node { return n.durable }

// change makes a change of a directory, for now only in memory.
func (d *Disk) change(o *dirOp) {
	o.apply(func(n *node) map[string]*node { return n.entries })
	d.journal = append(d.journal, o)
}

// syncDir brings to the platter what happened in dir, and what that rests on.
func (d *Disk) syncDir(dir *node) {
	touched := map[*node]bool{dir: true}
	keep := make([]bool, len(d.journal))
	for i := len(d.journal) - 1; i >= 0; i-- {
		o := d.journal[i]
		if touched[o.dir] || o.to != nil && touched[o.to] {
			keep[i], touched[o.dir] = true, true
			if o.to != nil {
				touched[o.to] = true
			}
		}
	}
	var rest []*dirOp
	for i, o := range d.journal {
		if keep[i] {
			o.apply(durable)
		} else {
			rest = append(rest, o)
		}
	}
	d.journal = rest
}

func (n *node) sync() {
	for _, r := range n.rewritten {
		if r.from <= n.lost.from {
			n.lost.from = max(n.lost.from, r.to)
		}
	}
	n.rewritten = nil
	n.synced = n.data[:len(n.data):len(n.data)] // data only grows in place, truncate cuts its capacity
	n.ops = nil
	if to := min(n.lost.to, int64(len(n.data))); n.lost.from < to {
		n.synced = slices.Clone(n.data)
		clear(n.synced[n.lost.from:to])
	} else {
		n.lost = span{}
	}
}

// failSync simulates a failed Sync. Readers see the data written since the last Sync until the
// power fails, but no later Sync writes it.
func (n *node) failSync() {
	same := int64(0)
	for same < int64(min(len(n.synced), len(n.data))) && n.synced[same] == n.data[same] {
		same++
	}
	if n.rewritten = nil; same < int64(len(n.data)) {
		n.lost = span{same, int64(len(n.data))}
		n.sync()
	}
}

// Kill ends the process that uses the disk: handles and locks are gone, all
// that was written is there.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.born++
	d.faults = faults{}
	each(d.root, func(n *node) { n.locked = false })
}

// Crash cuts the power: of what was not synced, seed decides how much is left.
func (d *Disk) Crash(seed int64) {
	d.Kill()
	d.mu.Lock()
	defer d.mu.Unlock()
	rng := rand.New(rand.NewSource(seed))
	stopped := map[*node]bool{}
	patience := rng.Float64()
	for _, o := range d.journal {
		if stopped[o.dir] || o.to != nil && stopped[o.to] || rng.Float64() > patience {
			stopped[o.dir] = true
			if o.to != nil {
				stopped[o.to] = true
			}
			continue
		}
		o.apply(durable)
	}
	d.journal = nil
	var restore func(n *node)
	seen := map[*node]bool{}
	restore = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.durable == nil {
			n.lose(rng)
			return
		}
		n.entries = maps.Clone(n.durable)
		for _, name := range sortedNames(n.entries) {
			restore(n.entries[name])
		}
	}
	restore(d.root)
}

// lose leaves a file as a power cut might.
func (n *node) lose(rng *rand.Rand) {
	data := append([]byte(nil), n.synced...)
	apply := func(o fileOp) {
		switch {
		case o.data != nil:
			data = append(data, o.data...)
		case o.size <= int64(len(data)):
			data = data[:o.size]
		default:
			data = append(data, make([]byte, o.size-int64(len(data)))...)
		}
	}
	kept := 0
	if len(n.ops) > 0 {
		kept = rng.Intn(len(n.ops) + 1)
	}
	for _, o := range n.ops[:kept] {
		apply(o)
	}
	if lost := n.ops[kept:]; len(lost) > 0 && lost[0].data != nil {
		half := rng.Intn(len(lost[0].data) + 1)
		switch rng.Intn(3) {
		case 0: // half of the next write
			data = append(data, lost[0].data[:half]...)
		case 1: // half of it, and its size
			data = append(data, lost[0].data[:half]...)
			data = append(data, make([]byte, len(lost[0].data)-half)...)
		case 2: // the size of several writes, and none of their data
			for _, o := range lost[:1+rng.Intn(len(lost))] {
				if o.data == nil {
					break
				}
				data = append(data, make([]byte, len(o.data))...)
			}
		}
	}
	n.data, n.lost, n.rewritten = data, span{}, nil
	n.sync()
}

// each visits every node that has a name.
func each(n *node, visit func(*node)) {
	visit(n)
	for _, name := range sortedNames(n.entries) {
		each(n.entries[name], visit)
	}
}

func sortedNames(m map[string]*node) []string {
	return slices.Sorted(maps.Keys(m))
}

func (n *node) truncate(size int64) {
	if size <= int64(len(n.data)) {
		n.data = n.data[:size:size]
	} else {
		n.data = append(n.data, make([]byte, size-int64(len(n.data)))...)
	}
	n.ops = append(n.ops, fileOp{size: size})
}
