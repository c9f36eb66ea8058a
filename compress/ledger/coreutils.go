package ledger

import (
	"path"
	"strings"
)

// rm follows rm and unlink.
func (r *run) rm(c *words) res {
	flags, operands, ok := c.options("rRfvdiI", "", map[string]byte{"recursive": 'r', "force": 'f', "verbose": 'v', "dir": 'd'})
	_, lower := flags['r']
	_, upper := flags['R']
	tree := lower || upper
	_, asks := flags['i']
	_, once := flags['I']
	if !ok || asks || once {
		r.may(c.args)
		return ended(maybe)
	}
	went := r.went(c.name, c.must)
	if went == maybe && !tree && len(operands) == 1 && !operands[0].glob && r.harmless(c.must) {
		return ended(no)
	}
	r.settle(went, operands, func() {
		for _, a := range operands {
			list, exact, _ := r.paths([]arg{a})
			if !exact {
				r.blurMatching(a)
			}
			for _, p := range list {
				if !exact {
					r.blurAll(p)
				} else if tree || r.isDirectory(p) != Present {
					r.remove(p, tree)
				}
			}
		}
	})
	if _, verbose := flags['v']; verbose {
		return ended(went)
	}
	return silently(went)
}

func (r *run) rmdir(c *words) res {
	flags, operands, ok := c.options("v", "", nil)
	if !ok || len(flags) > 0 {
		r.may(c.args)
		return ended(maybe)
	}
	went := r.went("rmdir", c.must)
	if went == maybe && len(operands) == 1 && r.harmless(c.must) {
		return ended(no)
	}
	r.settle(went, operands, func() {
		for _, a := range operands {
			if p, ok := r.target(a); ok {
				r.remove(p, true)
			} else {
				r.blurMatching(a)
			}
		}
	})
	return silently(went)
}

func (r *run) mkdir(c *words) res {
	_, operands, ok := c.options("pv", "m", map[string]byte{"parents": 'p', "verbose": 'v', "mode": 'm'})
	went := r.went("mkdir", c.must)
	if !ok {
		went = maybe
	}
	if went == maybe && len(operands) == 1 && r.harmless(c.must) {
		return ended(no)
	}
	r.settle(went, nil, func() {
		for _, a := range operands {
			if p, ok := r.target(a); ok {
				r.directory(p)
			}
		}
	})
	return silently(went)
}

func (r *run) touch(c *words) res {
	flags, operands, ok := c.options("acmh", "dtr", map[string]byte{"no-create": 'c', "date": 'd', "reference": 'r'})
	went := r.went("touch", c.must)
	if _, none := flags['c']; none || went == maybe && len(operands) == 1 && r.harmless(c.must) {
		return silently(min(went, maybe))
	}
	if !ok {
		went = maybe
	}
	r.settle(went, nil, func() {
		for _, a := range operands {
			if p, ok := r.target(a); ok {
				r.touched(p)
			} else if a.glob {
				r.blurMatching(a)
			}
		}
	})
	return silently(went)
}

// ln follows ln.
func (r *run) ln(c *words) res {
	flags, operands, ok := c.options("sfnvT", "", map[string]byte{"symbolic": 's', "force": 'f', "no-dereference": 'n', "no-target-directory": 'T'})
	went := r.went("ln", c.must)
	if went == maybe && r.harmless(c.must) && len(operands) == 2 {
		return ended(no)
	}
	if !ok || len(operands) == 0 || len(operands) > 2 || went != yes {
		r.may(c.args)
		if len(operands) == 2 {
			if into, ok := r.target(operands[1]); ok {
				r.link(into, "", false)
				r.link(in(into, path.Base(operands[0].text)), "", false)
			}
		}
		return ended(went)
	}
	_, soft := flags['s']
	name := path.Base(operands[0].text)
	if len(operands) == 2 {
		name = operands[1].text
	}
	at, ok := r.target(arg{text: name})
	if !ok || !operands[0].plain() {
		r.may(operands)
		return ended(went)
	}
	targets := []string{at}
	_, whole := flags['T']
	switch inside := in(at, path.Base(operands[0].text)); {
	case whole || len(operands) == 1:
	case r.isDirectory(at) == Present || strings.HasSuffix(name, "/"):
		targets = []string{inside}
	case r.isDirectory(at) == Unsure:
		targets = append(targets, inside)
	}
	for _, p := range targets {
		if soft {
			r.link(p, operands[0].text, len(targets) == 1)
			continue
		}
		from := r.resolve(operands[0].text)
		f, g := r.edit(from), r.edit(p)
		f.shared, g.shared = true, true
		if len(targets) > 1 {
			r.blur(g, Created)
			continue
		}
		text := f.Text
		g.Exists, g.Kind, g.Text, g.Change = Present, f.Kind, nil, nil
		r.note(g, Copied)
		if g.From = from; !r.unsure {
			g.Text = text
		}
		r.aliases(p)
	}
	return silently(went)
}

func (r *run) truncate(c *words) res {
	flags, operands, ok := c.options("c", "s", map[string]byte{"size": 's', "no-create": 'c'})
	went := r.went("truncate", c.must)
	if !ok || went != yes {
		r.may(operands)
		return ended(went)
	}
	for _, a := range operands {
		p, ok := r.target(a)
		_, none := flags['c']
		switch {
		case !ok || none:
			r.blurMatching(a)
		case flags['s'].text == "0":
			r.write(p, &empty, false)
		default:
			r.spoil(p)
		}
	}
	return silently(went)
}

// chmod follows commands that change no content.
func (r *run) chmod(c *words) res { return ended(r.went(c.name, c.must)) }

// dd follows dd.
func (r *run) dd(c *words) res {
	for _, a := range c.args {
		if name, ok := strings.CutPrefix(a.text, "of="); ok {
			r.output1(arg{name, a.glob}, r.went("dd", c.must))
		}
	}
	return ended(r.went("dd", c.must))
}
