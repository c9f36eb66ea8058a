package ledger

import (
	"path"
	"slices"
	"strings"
)

// transfer is what cp and mv have in common.
type transfer struct {
	from     []string
	to       arg
	operands []arg // all of them
	whole    bool  // the last operand is no directory to put things into
	into     bool  // it is one
	exact    bool
	many     bool
	glob     bool // there may be more than those that are known
}

// transferOf reads the operands of cp and mv; ok is false if they are not plain.
func (r *run) transferOf(flags map[byte]arg, operands []arg) (t transfer, ok bool) {
	t.operands = operands
	_, t.whole = flags['T']
	if dir, given := flags['t']; given {
		t.to, t.into = dir, true
	} else if len(operands) > 1 {
		t.to, operands = operands[len(operands)-1], operands[:len(operands)-1]
	} else {
		return t, false
	}
	if _, plain := r.target(t.to); !plain {
		return t, false
	}
	t.from, t.exact, t.many = r.paths(operands)
	for _, a := range operands { // what is in it, and not itself
		t.glob = t.glob || a.glob
		t.exact = t.exact && !strings.HasSuffix(a.text, "/.") && !strings.HasSuffix(a.text, "..") && a.text != "."
	}
	return t, true
}

// ends returns where the files of a transfer go; sure is false if it may be somewhere else, too.
func (r *run) ends(t transfer) (to []string, sure bool) {
	dir := r.resolve(t.to.text)
	into := t.into || strings.HasSuffix(t.to.text, "/") || t.to.text == "." || t.to.text == ".." || strings.HasSuffix(t.to.text, "/.") || strings.HasSuffix(t.to.text, "/..")
	sure = t.exact
	if !into && !t.whole {
		switch r.isDirectory(dir) {
		case Present:
			into = true
		case Unsure:
			if into = t.many; !into {
				_, heard := r.find(dir)
				sure = sure && !heard && !t.glob && strings.Contains(strings.TrimPrefix(path.Base(dir), "."), ".")
			}
		}
	}
	if into && !t.into && t.to.text != "" && r.isDirectory(dir) == Absent {
		sure = false
	}
	for _, p := range t.from {
		if into {
			to = append(to, in(dir, path.Base(p)))
		} else {
			to = append(to, dir)
		}
	}
	return to, sure && (into || len(t.from) <= 1 && !t.many && !t.glob)
}

// mv follows mv.
func (r *run) mv(c *words) res {
	flags, operands, ok := c.options("fvT", "t", map[string]byte{"force": 'f', "verbose": 'v', "no-target-directory": 'T', "target-directory": 't'})
	return r.carry(c, flags, operands, ok, false, r.move)
}

// cp follows cp.
func (r *run) cp(c *words) res {
	flags, operands, ok := c.options("rRafvpT", "t", map[string]byte{"recursive": 'r', "archive": 'a', "force": 'f', "verbose": 'v', "no-target-directory": 'T', "target-directory": 't'})
	tree := recursive(flags)
	return r.carry(c, flags, operands, ok, true, func(from, to string) { r.copyTo(from, to, tree) })
}

// recursive reports whether the options of cp take directories, too.
func recursive(flags map[byte]arg) bool {
	_, a := flags['a']
	_, b := flags['r']
	_, c := flags['R']
	return a || b || c
}

// carry follows cp and mv, of which one does what do says for each file.
func (r *run) carry(c *words, flags map[byte]arg, operands []arg, ok, copies bool, do func(from, to string)) res {
	went := r.went(c.name, c.must)
	if went == maybe && len(operands) == 2 && !recursive(flags) && !operands[0].glob && r.harmless(c.must) {
		return ended(no)
	}
	t, plain := r.transferOf(flags, operands)
	if !ok || !plain {
		r.may(c.args)
		for _, f := range flags {
			if f.text != "" {
				r.blurMatching(f)
			}
		}
		return ended(min(went, maybe))
	}
	to, sure := r.ends(t)
	if went == yes && sure && !clash(t.from, to) {
		for i, from := range t.from {
			if t.glob && !r.surelyHere(from) { // it may not have been among those that match
				r.unsurely(func() { r.carryUnsure(transfer{from: []string{from}, to: t.to}, to[i:i+1], copies) })
				continue
			}
			do(from, to[i])
		}
	} else if went != no {
		gone := went == yes && t.exact && !copies && !r.unsure && !clash(t.from, to)
		r.unsurely(func() { r.carryUnsure(t, to, copies) })
		for _, from := range t.from {
			if gone { // wherever it is now
				r.remove(from, true)
			}
		}
	}
	if _, verbose := flags['v']; verbose {
		return ended(went)
	}
	return silently(went)
}

// surelyHere reports whether a path is known to be there.
func (d *desk) surelyHere(p string) bool {
	if i, ok := d.find(p); ok {
		return d.Sure(d.files[i]) && d.files[i].Exists == Present
	}
	from, to := d.below(p)
	return slices.ContainsFunc(d.files[from:to], func(f *File) bool { return d.Sure(f) && f.Exists == Present })
}

// carryUnsure notes what cp or mv may have done.
func (r *run) carryUnsure(t transfer, to []string, copies bool) {
	touched := t.operands
	if copies && len(touched) > 0 && !t.into {
		touched = touched[len(touched)-1:]
	}
	r.may(touched)
	dir := r.resolve(t.to.text)
	if t.into {
		r.blurAll(dir)
	}
	for i, from := range t.from {
		r.blurAll(to[i])
		r.blurAll(in(dir, path.Base(from)))
		if !copies {
			r.blurAll(from)
		}
		if f := r.edit(to[i]); f.Act == "" { // it may be new
			r.note(f, Created)
		}
	}
}

// clash reports whether files of one transfer go to one place, or into themselves.
func clash(from, to []string) bool {
	for i, p := range to {
		if slices.Contains(to[:i], p) || under(p, from[i]) || under(from[i], p) {
			return true
		}
	}
	return false
}

// move notes that a path was moved, with all below it.
func (d *desk) move(from, to string) {
	if d.linksBetween(from, to) {
		return
	}
	old := File{Path: from}
	if i, ok := d.find(from); ok {
		old = *d.files[i]
	}
	i, j := d.below(from)
	inside := slices.Clone(d.files[i:j])
	// What was there is gone.
	d.remove(to, true)
	for _, f := range inside {
		d.carryOne(*f, clean(to+strings.TrimPrefix(f.Path, from)), Moved, f.Exists)
	}
	d.carryOne(old, to, Moved, Present)
	if len(inside) > 0 && slices.ContainsFunc(inside, func(f *File) bool { return f.Exists == Present }) {
		d.edit(to).Kind = Directory
	}
	d.remove(from, true)
	if g := d.edit(from); !d.unsure {
		g.Act, g.From = Moved, to
	}
	d.aliases(to)
	d.here(to)
}

// carryOne notes that a file is at another path now.
func (d *desk) carryOne(old File, to string, act Act, exists Presence) {
	d.own()
	g := d.edit(to)
	seen := g.step
	*g = old
	g.Path = strings.Clone(to)
	g.step = max(seen, old.step)
	if g.Exists == Unsure && exists == Present {
		g.Text, g.Change = nil, nil
	}
	if exists == Absent {
		g.Exists = Absent
		return
	}
	if g.Kind == Link {
		g.to = ""
	}
	g.Exists = exists
	d.note(g, act)
	g.Text = d.renewed(g.Text)
	if exists == Unsure {
		g.Exists = Unsure
	}
	if g.haunted && !d.unsure {
		g.Exists = Unsure
	}
	g.From = old.Path
}

// copyTo notes that a path was copied, with all below it if tree.
func (d *desk) copyTo(from, to string, tree bool) {
	if target, linked := d.through(from); linked || d.behindLink(to) {
		_ = target
		d.blurAll(to)
		if f := d.edit(to); f.Act == "" {
			d.blur(f, Copied)
		}
		return
	}
	var old *File
	if i, ok := d.find(from); ok {
		old = d.files[i]
	}
	i, j := d.below(from)
	inside := slices.Clone(d.files[i:j])
	directory := d.isDirectory(from)
	if tree && directory != Absent {
		a, b := d.below(to)
		d.own()
		for k := a; k < b; k++ { // what is not known of the tree may be one of these
			f := *d.files[k]
			d.files[k] = &f
			f.Text, f.Change = nil, nil
			if f.Exists != Present {
				d.blur(&f, Copied)
			}
		}
		for _, f := range inside {
			p := clean(to + strings.TrimPrefix(f.Path, from))
			switch {
			case f.Exists == Present && f.Kind != Link:
				d.copyOne(f, p)
			case f.Exists != Absent:
				d.blur(d.edit(p), Copied)
			}
		}
	}
	if directory == Present && tree {
		d.directory(to)
		d.edit(to).From = from
		return
	}
	d.copyOne(old, to)
	f := d.edit(to)
	f.From = from
	if tree && directory != Absent { // it may be one
		f.Kind, f.Text = AnyKind, nil
	}
}

// copyOne notes that a file is a copy of another one; old is nil if that is not known.
func (d *desk) copyOne(old *File, to string) {
	f := d.edit(to)
	created := f.Created
	if f.Exists != Present {
		created = d.at
	}
	d.unshare(f)
	f.Exists, f.Kind, f.Text, f.Change = Present, Regular, nil, nil
	d.note(f, Copied)
	f.Created, f.Changes = created, f.Changes+1
	if old != nil {
		f.From = old.Path
		if old.Kind == Directory {
			f.Kind = Directory
		}
		if old.Exists == Present && !old.haunted && !d.unsure && !f.haunted {
			f.Text = d.renewed(old.Text)
			f.Seen = d.at
		}
	}
	d.here(to)
	d.aliases(to)
}
