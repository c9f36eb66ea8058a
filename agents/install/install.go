package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Change is what is done to one file.
type Change struct {
	File   string
	Lines  []string // "+ entry" and "- entry"
	Made   bool     // the file is new
	Gone   bool     // the file goes
	Whole  bool     // the file is again what it was before ctxfs wrote into it, byte for byte
	Backup string   // where its text from before is; "": there is none
	ready  func() error
	do     func() error
	forget func() error
}

// wanted returns the pieces of a program that o is about, by file.
func (o Options) wanted(p Program) (files []string, of map[string][]target) {
	of = map[string][]target{}
	for _, t := range p.files(o) {
		if t.part == Hooks && !o.Hooks || t.part == Server && !o.Server {
			continue
		}
		if of[t.file] == nil {
			files = append(files, t.file)
		}
		of[t.file] = append(of[t.file], t)
	}
	return files, of
}

// Connect writes hooks and the MCP server into a program's settings. It returns what it changed, nothing if all of it is there. Nothing is
// written if one of the files cannot be read or changed as it should be. Files are replaced whole; their mode, their owner and links to them
// stay. The errors are those of the files, one for settings that do not parse, and one for a server of the same name that is not of ctxfs.
func Connect(p Program, o Options) (all []Change, next []string, err error) {
	files, of := o.wanted(p)
	for _, name := range files {
		f, err := readFile(name, o.stateDir())
		if err != nil {
			return nil, nil, err
		}
		text, clean := f.text, f.text
		for _, t := range of[name] {
			if !f.there && len(text) == 0 {
				text = []byte(t.fresh)
			}
			if text, err = t.put(text); err == nil {
				clean, err = t.take(clean)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w; nothing was changed", name, err)
			}
		}
		if f.there && bytes.Equal(text, f.text) {
			continue
		}
		c := Change{File: name, Made: !f.there, Lines: difference(of[name], f.text, text)}
		if f.there && (f.note == nil || !f.note.Made) {
			c.Backup = f.backup()
		}
		c.ready, c.do = f.ready, func() error { return f.install(text, clean) }
		all = append(all, c)
	}
	next = p.next(o)
	if s := Look(p, o); s.Off != "" {
		next = append(next, "Hooks are switched off: "+s.Off)
	}
	return all, next, o.run(all)
}

// Disconnect takes hooks and the MCP server out of a program's settings. A file that nobody changed since [Connect] gets back the bytes that it
// had; of another only the entries of ctxfs go. A file that Connect made goes, if nothing else is in it. The errors are those of Connect.
func Disconnect(p Program, o Options) (all []Change, err error) {
	files, of := o.wanted(p)
	for _, name := range files {
		f, err := readFile(name, o.stateDir())
		if err != nil {
			return nil, err
		}
		c, err := f.disconnect(of[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w; nothing was changed", name, err)
		}
		if c != nil {
			all = append(all, *c)
		}
	}
	if p.kept != "" && o.Hooks && !o.DryRun && len(all) > 0 { // copies that the plugin made for the import
		if err := os.RemoveAll(filepath.Join(o.stateDir(), "..", p.kept)); err != nil {
			return nil, err
		}
	}
	return all, o.run(all)
}

// disconnect returns the change that takes pieces out of the file; nil where there is nothing to do.
func (f *file) disconnect(parts []target) (*Change, error) {
	if !f.there {
		return nil, nil
	}
	text, err := without(parts, f.text)
	if err != nil || bytes.Equal(text, f.text) {
		return nil, err
	}
	c := &Change{File: f.name, Lines: difference(parts, f.text, text)}
	n := f.note
	as := n != nil && hashOf(f.text) == n.Written // it is as Connect wrote it
	switch {
	case len(text) == 0 && len(f.text) > 0 && (n == nil || n.Made): // all of it was of ctxfs
		c.Gone = true
	case n != nil && n.Made:
		c.Gone = nothingIn(text, parts)
	case as:
		before, err := without(parts, f.before)
		if c.Whole = err == nil && parts[0].same(text, before); c.Whole {
			text = before
		}
	}
	c.ready, c.do = f.ready, func() error {
		if c.Gone {
			return f.remove()
		}
		return f.write(text)
	}
	c.forget = func() error { // what is left of ctxfs is of another project, or of the other part
		if n == nil {
			return nil
		}
		if c.Gone || c.Whole || !as && !n.Made {
			f.forget()
			return nil
		}
		left := *n
		if left.Written = ""; as {
			left.Written = hashOf(text)
		}
		return f.keep(left)
	}
	return c, nil
}

// without returns a text without pieces.
func without(parts []target, text []byte) (_ []byte, err error) {
	for _, t := range parts {
		if text, err = t.take(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// nothingIn reports whether settings that Connect made have nothing left in them.
func nothingIn(text []byte, parts []target) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	d, err := parseJSON(text)
	if err != nil {
		return false
	}
	v, err := d.plain()
	if err == nil && parts[0].fresh != "" {
		delete(v, "$schema")
	}
	return err == nil && len(v) == 0
}

// run does what was planned.
func (o Options) run(all []Change) error {
	if o.DryRun {
		return nil
	}
	for _, c := range all {
		if err := c.ready(); err != nil {
			return fmt.Errorf("%w; nothing was changed", err)
		}
	}
	for _, c := range all {
		if err := c.do(); err != nil {
			return err
		}
		if c.forget != nil {
			if err := c.forget(); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries returns what ctxfs has in a file.
func entries(parts []target, text []byte) (all []entry, err error) {
	for _, t := range parts {
		more, err := t.own(text)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// difference returns what a change does to the entries of ctxfs in a file.
func difference(parts []target, before, after []byte) (lines []string) {
	var is []string
	now, _ := entries(parts, after)
	for _, e := range now {
		is = append(is, e.String())
	}
	old, _ := entries(parts, before)
	for _, e := range old {
		if n := slices.Index(is, e.String()); n >= 0 {
			is = slices.Delete(is, n, n+1)
		} else {
			lines = append(lines, "- "+e.String())
		}
	}
	for _, l := range is {
		lines = append(lines, "+ "+l)
	}
	return lines
}
