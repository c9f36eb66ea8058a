package ledger

import (
	"path"
	"slices"
	"strings"
)

// desk changes a state. Its methods are the effects that calls have on files. While it is unsure, what
// they do may have been done: files are then neither here nor gone.
type desk struct {
	State
	at      int
	by      string
	unsure  bool
	written bool // files is a slice of its own
	links   int  // links in links that are followed
}

// own makes the slice of files one that may be changed.
func (d *desk) own() {
	if !d.written {
		d.files, d.written = slices.Clone(d.files), true
	}
}

// edit returns a copy of what is known of a path, in the state; of a path that is not known a new one.
func (d *desk) edit(p string) *File {
	d.own()
	i, ok := d.find(p)
	if ok {
		f := *d.files[i]
		d.files[i] = &f
		return &f
	}
	f := &File{Path: strings.Clone(p)}
	d.files = slices.Insert(d.files, i, f)
	return f
}

// note writes down what happened to a file.
func (d *desk) note(f *File, act Act) {
	d.step++
	f.Act, f.By, f.At, f.From = act, d.by, d.at, ""
	if act == Created || act == Changed {
		f.Changes++
	}
	if !d.unsure {
		f.step = d.step
	} else {
		f.Exists, f.Kind, f.Text, f.Change = Unsure, AnyKind, nil, nil
	}
	if f.haunted && act != Deleted {
		f.Text, f.Change = nil, nil
		if act != Read {
			f.Exists = Unsure
		}
	}
}

// still keeps a file that was there where it is when it may have been written.
func (d *desk) still(f *File, was Presence, kind Kind) {
	if d.unsure && was == Present && !f.haunted {
		f.Exists, f.Kind = was, kind
	}
}

// write notes that a file has a content: text, or one that is not known if it is nil.
func (d *desk) write(p string, text *string, loose bool) *File {
	if d.behindLink(p) {
		return nil
	}
	f := d.edit(p)
	act := Changed
	if f.Exists == Absent || f.Exists == Unsure && f.Changes == 0 && f.Reads == 0 {
		act = Created
		if !d.unsure {
			f.Created = d.at
		}
	}
	d.unshare(f)
	was, kind := f.Exists, f.Kind
	f.Exists, f.Kind, f.Text, f.Change = Present, Regular, nil, nil
	d.note(f, act)
	d.still(f, was, kind)
	if text != nil && !d.unsure && !f.haunted {
		f.Text = newText(*text, d.at, d.step)
		f.Text.Loose = loose
	}
	if text != nil {
		f.Seen = d.at
	}
	d.here(p)
	d.aliases(p)
	return f
}

// unshare makes the contents of all files unknown that have another name, if f is one.
func (d *desk) unshare(f *File) {
	if !f.shared {
		return
	}
	for i, g := range d.files {
		if g.shared && g != f {
			h := *g
			h.Text, h.Change = nil, nil
			d.files[i] = &h
		}
	}
}

// here makes directories of what stands above a file that is there.
func (d *desk) here(p string) {
	if d.unsure {
		return
	}
	for dir := path.Dir(p); dir != "." && dir != "/" && dir != "~"; dir = path.Dir(dir) {
		if i, ok := d.find(dir); ok && d.files[i].Exists != Present {
			f := d.edit(dir)
			f.Exists, f.Kind = Present, Directory
			d.step++
			f.step = d.step
		}
		if strings.HasSuffix(dir, "..") {
			break
		}
	}
}

// change notes that a part of a file was replaced. What follows from it for the whole content is next,
// nil if that is not known.
func (d *desk) change(p string, c *Change, next func(t *Text) (body string, ok bool)) {
	if d.behindLink(p) {
		return
	}
	f := d.edit(p)
	text, was, kind := f.Text, f.Exists, f.Kind
	d.unshare(f)
	f.Exists, f.Kind, f.Change, f.Text = Present, Regular, c, nil
	d.note(f, Changed)
	d.still(f, was, kind)
	f.Seen = d.at
	if text != nil && text.Held && next != nil && !d.unsure && !f.haunted {
		if body, ok := next(text); ok {
			f.Text = newText(body, d.at, text.step)
			f.Text.Loose = text.Loose
			if d.current(text) {
				f.Text.step = d.step
			}
		}
	}
	d.here(p)
	d.aliases(p)
}

// current reports whether no program ran since a text was seen that may have changed it.
func (d *desk) current(t *Text) bool { return t.step > max(d.ranSoft, d.lastRun()) }

// renewed returns a text as one that is known to stand somewhere now, if it is current.
func (d *desk) renewed(t *Text) *Text {
	if t == nil || !d.current(t) {
		return t
	}
	now := *t
	now.step = d.step
	return &now
}

// spoil notes that a file was changed in a way that is not known. It stays where it is.
func (d *desk) spoil(p string) {
	i, ok := d.find(p)
	if !ok && (d.unsure || d.by == "") {
		return
	}
	if d.behindLink(p) {
		return
	}
	exists := Present
	if ok && d.unsure {
		exists = d.files[i].Exists
	}
	f := d.edit(p)
	d.unshare(f)
	kind := f.Kind
	d.note(f, Changed)
	f.Exists, f.Kind, f.Text, f.Change = exists, kind, nil, nil
	if f.haunted {
		f.Exists = Unsure
	}
	d.aliases(p)
}

// append_ notes that a text was added at the end of a file; nil for one that is not known.
func (d *desk) append_(p string, text *string) {
	i, ok := d.find(p)
	if ok && d.files[i].Exists == Absent {
		d.write(p, text, false)
		return
	}
	var c *Change
	if text != nil && *text != "" {
		c = newChange("", *text, d.at)
	}
	d.change(p, c, func(t *Text) (string, bool) {
		if text == nil || t.Loose {
			return "", false
		}
		return t.Body + *text, true
	})
}

// remove notes that a path is gone, with all below it if tree.
func (d *desk) remove(p string, tree bool) {
	if target, linked := d.through(path.Dir(p)); linked {
		if target != "" {
			d.blurAll(clean(target + "/" + path.Base(p)))
		} else {
			d.opaque(d.by, false)
		}
		d.blurAll(p)
		return
	}
	if _, ok := d.find(p); d.unsure {
		if ok {
			d.note(d.edit(p), Deleted)
		}
	} else {
		f := d.edit(p)
		d.note(f, Deleted)
		*f = File{Path: f.Path, Exists: Absent, Act: Deleted, By: f.By, At: f.At, Created: f.Created, Changes: f.Changes, Reads: f.Reads, step: f.step, haunted: f.haunted}
		if f.haunted {
			f.Exists = Unsure
		}
	}
	if tree {
		from, to := d.below(p)
		d.own()
		for i := from; i < to; i++ {
			f := *d.files[i]
			d.files[i] = &f
			d.note(&f, Deleted)
			if f.Text, f.Change = nil, nil; !d.unsure && !f.haunted {
				f.Exists, f.Kind = Absent, AnyKind
			} else {
				f.Exists = Unsure
			}
		}
	}
	d.aliases(p)
}

// directory notes that a path is a directory.
func (d *desk) directory(p string) {
	if p == "" || p == "/" || d.behindLink(p) {
		return
	}
	if i, ok := d.find(p); ok && d.files[i].Exists == Present && d.files[i].Kind == Directory && !d.unsure {
		f := d.edit(p)
		d.step++
		f.step = d.step
		return
	}
	if d.unsure {
		if i, ok := d.find(p); ok && d.files[i].Exists != Present {
			d.note(d.edit(p), Created)
		}
		return
	}
	f := d.edit(p)
	f.Exists, f.Kind, f.Text, f.Change = Present, Directory, nil, nil
	d.note(f, Created)
	d.here(p)
	d.aliases(p)
}

// opaque notes that a program ran whose effects do not show. A soft one hardly changes what others wrote.
func (d *desk) opaque(by string, soft bool) {
	d.step++
	if soft {
		d.ranSoft = d.step
		return
	}
	d.ran = append(slices.Clone(d.ran[max(0, len(d.ran)-maxOlder+1):]), Run{At: d.at, By: by, step: d.step})
}

// shown notes that a file was read as a whole.
func (d *desk) shown(p, body string, loose bool) {
	if target, linked := d.through(p); linked {
		if target == "" || target == p {
			return
		}
		p = target
	}
	f := d.edit(p)
	f.Reads++
	if d.unsure || f.haunted {
		return
	}
	if f.Text != nil && f.Text.Held && (f.Text.Body == body || loose && strings.TrimRight(f.Text.Body, " \t\r\n") == strings.TrimRight(body, " \t\r\n")) {
		t := *f.Text
		d.step++
		t.At, t.step, f.step = d.at, d.step, d.step
		f.Text, f.Exists, f.Seen = &t, Present, d.at
		return
	}
	d.step++
	f.Text = newText(body, d.at, d.step)
	f.Text.Loose = loose
	f.Exists, f.Kind, f.Change, f.Seen, f.step = Present, Regular, nil, d.at, d.step
	if f.Act == "" || f.Act == Deleted {
		f.Act, f.By, f.At, f.From = Read, d.by, d.at, ""
	}
	d.here(p)
}

// seen notes that a file was read in part.
func (d *desk) seen(p string) {
	if _, linked := d.through(p); linked || d.unsure {
		return
	}
	f := d.edit(p)
	f.Reads++
	if f.haunted {
		return
	}
	d.step++
	f.step = d.step
	if f.Exists != Present {
		f.Exists, f.Kind, f.Text, f.Change = Present, AnyKind, nil, nil
	}
	if f.Act == "" || f.Act == Deleted {
		f.Act, f.By, f.At, f.From = Read, d.by, d.at, ""
	}
	d.here(p)
}

// isHere notes that a directory is there.
func (d *desk) isHere(p string) {
	if p == "" || p == "/" || p == "~" || strings.HasSuffix(p, "..") || d.unsure {
		return
	}
	f := d.edit(p)
	d.step++
	f.Exists, f.Kind, f.Text, f.Change, f.step = Present, Directory, nil, nil, d.step
	if f.Act == "" || f.Act == Deleted {
		f.Act, f.By, f.At = Read, d.by, d.at
	}
	d.here(p)
}

// touched notes that a file is there, and new if it was not.
func (d *desk) touched(p string) {
	i, known := d.find(p)
	switch {
	case known && d.files[i].Exists == Absent:
		d.write(p, &empty, false)
	case known && d.files[i].Kind == Link:
		d.behindLink(p)
	case known:
		f := d.edit(p)
		if f.Exists == Unsure && !d.unsure {
			f.Text, f.Change = nil, nil
		}
		if !d.unsure && !f.haunted {
			d.step++
			f.Exists, f.step = Present, d.step
		}
		d.aliases(p)
	default:
		if f := d.write(p, nil, false); f != nil {
			g := d.edit(p)
			g.Kind, g.Act = AnyKind, Changed
			g.Created = 0
		}
	}
}

// link notes a link. One that may be there counts as one whose target is not known.
func (d *desk) link(p, to string, sure bool) {
	if sure && d.behindParent(p) {
		return
	}
	f := d.edit(p)
	f.Text, f.Change = nil, nil
	d.note(f, Created)
	if f.Exists, f.Kind, f.to = Present, Link, to; !sure || d.unsure {
		f.Exists = Unsure
	}
	d.aliases(p)
}
