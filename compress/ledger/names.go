package ledger

import (
	"path"
	"strings"
)

// aliases makes unsure what may be the same as p under another name.
func (d *desk) aliases(p string) {
	root, _ := rootOf(p)
	for i, f := range d.files {
		if r, _ := rootOf(f.Path); r != root && (mayBeSame(p, f.Path) || d.holdsAlias(p, f.Path)) {
			d.own()
			g := *f
			d.files[i] = &g
			d.blur(&g, Changed)
		}
	}
}

// holdsAlias reports whether a directory above q may be the same as p.
func (d *desk) holdsAlias(p, q string) bool {
	for dir := path.Dir(q); dir != "." && dir != "/" && dir != "~" && dir != ".."; dir = path.Dir(dir) {
		if mayBeSame(p, dir) {
			return true
		}
	}
	return false
}

// blur makes a file unsure, and what a link names.
func (d *desk) blur(f *File, act Act) {
	was, link, to := d.unsure, f.Kind == Link, f.to
	d.unsure = true
	d.note(f, act)
	if link {
		if f.Kind = Link; to == "" || d.links > 3 {
			d.opaque(d.by, false)
		} else {
			if !rooted(to) {
				to = path.Join(path.Dir(f.Path), to)
			}
			d.links++
			d.blurAll(clean(to))
			d.links--
		}
	}
	d.unsure = was
}

// through returns the file that a path names if a link stands in it; linked reports that.
func (d *desk) through(p string) (target string, linked bool) {
	for dir := p; dir != "" && dir != "/" && dir != "." && dir != "~"; {
		if i, ok := d.find(dir); ok && d.files[i].Kind == Link {
			to := d.files[i].to
			if to == "" {
				return "", true
			}
			if !rooted(to) {
				to = path.Join(path.Dir(dir), to)
			}
			return clean(to + strings.TrimPrefix(p, dir)), true
		}
		next := path.Dir(dir)
		if next == dir {
			break
		}
		dir = next
	}
	return p, false
}

// behindLink makes unsure what an effect on p changes through a link. It reports whether there is one.
func (d *desk) behindLink(p string) bool {
	target, linked := d.through(p)
	if !linked {
		return false
	}
	if target != "" {
		d.blurAll(target)
	} else {
		d.opaque(d.by, false)
	}
	if i, ok := d.find(p); ok && d.files[i].Kind != Link {
		d.blurAll(p)
	}
	return true
}

// blurAll makes unsure a path and all below it.
func (d *desk) blurAll(p string) {
	if _, ok := d.find(p); ok {
		d.blur(d.edit(p), Changed)
	}
	from, to := d.below(p)
	d.own()
	for i := from; i < to; i++ {
		f := *d.files[i]
		d.files[i] = &f
		d.blur(&f, Changed)
	}
}

// isDirectory returns whether a path is one: Present, or Absent if it is not, or Unsure.
func (d *desk) isDirectory(p string) Presence {
	if p == "" || p == "/" || p == "~" || p == ".." {
		return Present
	}
	if i, ok := d.find(p); ok {
		switch f := d.files[i]; {
		case f.Kind == Link || f.Exists == Unsure:
			return Unsure
		case f.Exists == Absent:
			return Absent
		case f.Kind == Directory:
			return Present
		case f.Kind == Regular:
			return Absent
		}
		return Unsure
	}
	from, to := d.below(p)
	for _, f := range d.files[from:to] {
		if f.Exists == Present {
			return Present
		}
	}
	for _, s := range d.dirs {
		if s.at.known && (s.at.path == p || strings.HasPrefix(s.at.path, p+"/")) {
			return Present
		}
	}
	return Unsure
}

// behindParent reports whether a link stands above p, and makes unsure what is behind it.
func (d *desk) behindParent(p string) bool {
	if _, linked := d.through(path.Dir(p)); linked {
		d.behindLink(p)
		return true
	}
	return false
}

// behind reports whether links stand in the way of a transfer, and makes unsure what is behind them.
func (d *desk) linksBetween(from, to string) bool {
	a, b := d.behindParent(from), d.behindLink(to)
	if a || b {
		d.blurAll(from)
		d.blurAll(to)
	}
	return a || b
}
