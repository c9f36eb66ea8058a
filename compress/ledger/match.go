package ledger

import (
	"slices"
	"strings"
)

// content returns what stands in a file now; nil if that is not known to the byte.
func (r *run) content(name string) *string {
	if !r.dir.known && !rooted(name) {
		return nil
	}
	if i, ok := r.find(r.resolve(name)); ok {
		if f := r.files[i]; f.Exists == Present && f.Text != nil && f.Text.Held && !f.Text.Loose && r.SureText(f) && !r.unsure {
			return &f.Text.Body
		}
	}
	return nil
}

// mention notes that a command before a pipe's last one names a file.
func (r *run) mention(a arg) {
	if r.listing && a.plain() && len(r.mentioned) < maxSteps {
		r.mentioned = append(r.mentioned, r.resolve(a.text))
	}
}

// blurMatching makes unsure all files that a word may name, and all below these.
func (r *run) blurMatching(a arg) {
	if a.plain() && (r.dir.known || rooted(a.text)) {
		r.blurAll(r.resolve(a.text))
		r.aliases(r.resolve(a.text))
		return
	}
	re, _ := r.matcher(a)
	r.own()
	for i, f := range r.files {
		for p := f.Path; ; {
			if re.MatchString(p) {
				g := *f
				r.files[i] = &g
				r.blur(&g, Changed)
				break
			}
			j := strings.LastIndexByte(p, '/')
			if j <= 0 {
				break
			}
			p = p[:j]
		}
	}
}

// matching returns the known paths that a pattern names. exact reports whether it names no other known one
// and all of these.
func (r *run) matching(a arg) (paths []string, exact bool) {
	re, exact := r.matcher(a)
	seen := map[string]bool{}
	for _, f := range r.files {
		if f.Exists == Absent {
			continue
		}
		for p := f.Path; ; {
			if re.MatchString(p) && !seen[p] {
				seen[p] = true
				paths = append(paths, p)
			}
			j := strings.LastIndexByte(p, '/')
			if j <= 0 {
				break
			}
			p = p[:j]
		}
	}
	return paths, exact
}

// spoilMatching makes the contents of known files unknown that a word may name.
func (r *run) spoilMatching(a arg) {
	list, _ := r.matching(a)
	r.unsurely(func() { // of those that match some may be missing
		for _, p := range list {
			r.spoil(p)
			r.spoilBelow(p)
		}
	})
}

// spoilBelow makes the contents of known files below a directory unknown.
func (r *run) spoilBelow(dir string) {
	from, to := r.below(dir)
	for _, f := range slices.Clone(r.files[from:to]) {
		if f.Exists == Present && f.Kind != Directory && f.Kind != Link {
			r.spoil(f.Path)
		}
	}
}
