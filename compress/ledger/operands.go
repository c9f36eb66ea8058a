package ledger

import (
	"strings"
)

// options reads the options of a command: letters without an argument in plain, letters with one in
// valued, long names that stand for letters in long. ok is false if there are others, or words that are
// known only when it runs.
func (c *words) options(plain, valued string, long map[string]byte) (flags map[byte]arg, operands []arg, ok bool) {
	flags = map[byte]arg{}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		w := a.text
		switch {
		case strings.HasPrefix(w, unknown) && !a.glob:
			operands = append(operands, a)
		case w == "--":
			return flags, append(operands, c.args[i+1:]...), true
		case strings.HasPrefix(w, "--"):
			name, value, has := strings.Cut(w[2:], "=")
			letter, known := long[name]
			if !known {
				return flags, operands, false
			}
			flags[letter] = arg{text: value}
			if strings.IndexByte(valued, letter) >= 0 && !has {
				if i++; i == len(c.args) {
					return flags, operands, false
				}
				flags[letter] = c.args[i]
			}
		case len(w) > 1 && w[0] == '-':
			for j := 1; j < len(w); j++ {
				if strings.IndexByte(plain, w[j]) >= 0 {
					flags[w[j]] = arg{}
					continue
				}
				if strings.IndexByte(valued, w[j]) < 0 {
					return flags, operands, false
				}
				if flags[w[j]] = (arg{text: w[j+1:]}); j+1 == len(w) {
					if i++; i == len(c.args) {
						return flags, operands, false
					}
					flags[w[j]] = c.args[i]
				}
				break
			}
		default:
			operands = append(operands, a)
		}
	}
	return flags, operands, true
}

// may makes unsure all that the operands of a command name.
func (r *run) may(operands []arg) {
	for _, a := range operands {
		if !strings.HasPrefix(a.text, "-") {
			r.blurMatching(a)
		}
	}
}

// paths returns the files that operands name. exact is false if they may name others, many is true
// if there is more than one.
func (r *run) paths(operands []arg) (out []string, exact, many bool) {
	exact = true
	for _, a := range operands {
		switch p, ok := r.target(a); {
		case ok:
			out = append(out, p)
		case a.glob:
			list, all := r.matching(a)
			out = append(out, list...)
			exact = exact && all
			here := 0
			for _, p := range list {
				if i, ok := r.find(p); ok && r.Sure(r.files[i]) {
					here++
				}
			}
			many = many || here > 1
		default:
			exact = false
		}
	}
	return out, exact, many || len(operands) > 1
}

// settle runs what a command does by how it went: as it says, as something that may have been, or not at all.
func (r *run) settle(went tri, operands []arg, f func()) {
	switch {
	case went == no:
	case went == yes:
		f()
	default:
		r.unsurely(func() {
			r.may(operands)
			f()
		})
	}
}

// output1 notes that a program wrote a file, in a way that is not known.
func (r *run) output1(a arg, went tri) {
	p, ok := r.target(a)
	if !ok {
		r.blurMatching(a)
		return
	}
	if went == yes && r.isDirectory(p) != Present {
		r.write(p, nil, false)
		return
	}
	r.unsurely(func() { r.blurAll(p) })
}

// target returns the path of a word that names a file; ok is false if it is not known, or a device.
func (r *run) target(a arg) (p string, ok bool) {
	if !a.plain() || a.text == "" || !r.dir.known && !rooted(a.text) || strings.HasPrefix(a.text, "/dev/") {
		return "", false
	}
	return r.resolve(a.text), true
}
