package ledger

import (
	"strings"
)

func (r *run) nothing(*words) res { return res{ok: yes, out: &empty, quiet: true} }

func (r *run) shows(*words) res { return ended(yes) }

// leave notes that the shell ends here.
func (r *run) leave() {
	if r.alive = no; r.unsure {
		r.alive = maybe
	}
}

func (r *run) exit(c *words) res {
	if c.name == "exec" && len(c.args) == 0 { // it only redirects
		return silently(yes)
	}
	r.leave()
	return silently(maybe)
}

// cdTo returns the operands of cd, and where it goes.
func (r *run) cdTo(c *words) (operands []arg, to cwd) {
	_, operands, ok := c.options("LPe", "", nil)
	switch {
	case !ok || len(operands) > 1 || r.oddWords:
	case len(operands) == 0 && c.name == "cd":
		to = cwd{"~", true}
	case len(operands) == 1 && operands[0].plain() && operands[0].text != "" && operands[0].text != "-" && (r.dir.known || rooted(operands[0].text)):
		to = cwd{r.resolve(operands[0].text), true}
		if _, linked := r.through(to.path); linked {
			to.known = false
		}
	}
	return operands, to
}

// cd follows cd and pushd.
func (r *run) cd(c *words) res {
	operands, to := r.cdTo(c)
	went := r.went("cd", c.must)
	if went == yes && r.unsure && c.must != yes {
		went = maybe
	}
	if went == maybe && len(operands) == 1 && !r.hidden && !r.uncertain && !r.unsure && operands[0].plain() && strings.Contains(r.output, "cd: "+operands[0].text+": No such file") {
		return silently(no)
	}
	if went == yes {
		r.dir = to
		if to.known {
			r.isHere(to.path)
		}
	} else {
		r.dir = cwd{}
	}
	if c.name == "pushd" {
		return ended(went)
	}
	return silently(went)
}

func (r *run) popd(*words) res {
	r.dir = cwd{}
	return ended(maybe)
}

// echo returns what echo puts out, as far as all shells agree.
func (r *run) echo(c *words) res {
	var parts []string
	line := "\n"
	for i, a := range c.args {
		if i == 0 && a.text == "-n" {
			line = ""
			continue
		}
		if !a.plain() || strings.Contains(a.text, `\`) || i <= 1 && strings.HasPrefix(a.text, "-") && len(a.text) > 1 && strings.Trim(a.text[1:], "neE") == "" {
			return ended(yes)
		}
		parts = append(parts, a.text)
	}
	text := strings.Join(parts, " ") + line
	return res{ok: yes, out: &text, quiet: true}
}

// printf returns what printf puts out for formats of plain text, %s and the usual escapes.
func (r *run) printf(c *words) res {
	if len(c.args) == 0 || !c.args[0].plain() || strings.HasPrefix(c.args[0].text, "-") {
		r.unset(c)
		return ended(maybe)
	}
	var values []string
	for _, a := range c.args[1:] {
		if !a.plain() {
			return ended(yes)
		}
		values = append(values, a.text)
	}
	var b strings.Builder
	for first := true; first || len(values) > 0; first = false {
		rest, ok := formatted(&b, c.args[0].text, values)
		if !ok || b.Len() > maxText || !first && len(rest) == len(values) {
			return ended(yes)
		}
		if values = rest; first && len(rest) == len(c.args)-1 {
			break // it takes none
		}
	}
	text := b.String()
	return res{ok: yes, out: &text, quiet: true}
}

// formatted writes one turn of a format, and returns the values that are left.
func formatted(b *strings.Builder, format string, values []string) (rest []string, ok bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '\\' && format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i+1 == len(format) {
			return nil, false
		}
		i++
		switch format[i-1 : i+1] {
		case `\n`:
			b.WriteByte('\n')
		case `\t`:
			b.WriteByte('\t')
		case `\\`:
			b.WriteByte('\\')
		case `%%`:
			b.WriteByte('%')
		case `%s`:
			if len(values) > 0 {
				b.WriteString(values[0])
				values = values[1:]
			}
		default:
			return nil, false
		}
	}
	return values, true
}

// cat returns what cat puts out.
func (r *run) cat(c *words) res {
	flags, operands, ok := c.options("u", "", nil)
	if !ok || len(flags) > 0 {
		return ended(r.went("cat", c.must))
	}
	if len(operands) == 0 {
		return res{ok: yes, out: r.in, quiet: r.in != nil}
	}
	out, went := &empty, r.went("cat", c.must)
	for _, a := range operands {
		part := r.in
		if a.text != "-" {
			part = nil
			if a.plain() {
				part = r.content(a.text)
			}
		}
		out = joined(out, part)
	}
	return res{ok: went, out: out}
}

// tee follows tee.
func (r *run) tee(c *words) res {
	flags, operands, ok := c.options("aip", "", map[string]byte{"append": 'a'})
	if !ok {
		r.may(c.args)
		return ended(maybe)
	}
	went := r.went("tee", c.must)
	text := r.in
	if r.out == toPipe {
		text = nil // it may be stopped before it has written all
	}
	_, more := flags['a']
	for _, a := range operands {
		p, ok := r.target(a)
		if !ok || went != yes {
			r.may([]arg{a})
			continue
		}
		switch {
		case more && text != nil:
			if _, known := r.find(p); known {
				r.append_(p, text)
				break
			}
			fallthrough
		case more:
			r.spoil(p)
		default:
			r.write(p, text, false)
		}
	}
	return res{ok: went, out: r.in}
}

func (r *run) set(c *words) res {
	for i, a := range c.args {
		w := a.text
		switch {
		case strings.HasPrefix(w, "--") || !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "+"):
		case c.name == "shopt":
		case w == "-o" || strings.HasSuffix(w, "o"):
			name := ""
			if i+1 < len(c.args) {
				name = c.args[i+1].text
			}
			r.option(name == "errexit" || strings.Contains(w, "e"), name == "noglob" || strings.Contains(w, "f"), w[0] == '-')
		default:
			r.option(strings.Contains(w, "e"), strings.Contains(w, "f"), w[0] == '-')
		}
	}
	if c.name == "shopt" {
		r.oddWords = true
	}
	return silently(yes)
}

// option notes that an option of the shell is set, or not.
func (r *run) option(errexit, noglob, on bool) {
	if errexit && !r.unsure {
		r.errexit = on
	} else if errexit {
		r.alive = min(r.alive, maybe)
	}
	if noglob {
		r.oddWords = true
	}
}

// unset follows commands that set variables to what is not known.
func (r *run) unset(c *words) res {
	for _, a := range c.args {
		if r.vars[a.text] = unknown; !a.plain() {
			clear(r.vars)
		}
	}
	if c.name == "mapfile" || c.name == "readarray" || c.name == "getopts" {
		clear(r.vars)
	}
	return silently(maybe)
}

// trap follows what runs when the shell ends, or a signal comes.
func (r *run) trap(c *words) res {
	if len(c.args) > 0 && c.args[0].plain() {
		r.atEnd = append(r.atEnd, c.args[0].text)
	} else {
		r.atEnd = append(r.atEnd, unknown)
	}
	return silently(maybe)
}

// source follows a script that is read by this shell.
func (r *run) source(c *words) res {
	clear(r.vars)
	r.opaque(r.by, true)
	if len(c.args) == 0 || !strings.Contains(c.args[0].text, "activate") && !strings.Contains(c.args[0].text, "rc") && !strings.Contains(c.args[0].text, "env") {
		r.dir = cwd{}
		r.opaque(r.by, false)
	}
	return ended(c.must)
}
