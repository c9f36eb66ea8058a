package ledger

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// keeping are the subcommands of git that change no file of the work tree.
var keeping = compress.WordSet("status diff log show blame add commit push fetch branch tag remote config rev-parse ls-files ls-tree grep describe shortlog reflog init cat-file rev-list merge-base count-objects gc fsck archive bisect-log help version name-rev for-each-ref symbolic-ref show-ref whatchanged check-ignore hash-object notes cherry diff-tree diff-files diff-index var")

// git follows git.
func (r *run) git(c *words) res {
	dir := r.dir
	defer func() { r.dir = dir }()
	args := r.gitArgs(c.args)
	if len(args) == 0 {
		return ended(c.must)
	}
	sub, args := args[0].text, args[1:]
	went := c.must
	if went == maybe && !r.hidden && !r.uncertain && !r.killed && !strings.Contains(r.output, "fatal:") && !strings.Contains(r.output, "error:") {
		went = yes
	}
	if keepsTree(sub, args) {
		return ended(c.must)
	}
	inner := &words{name: "git " + sub, args: args, must: went}
	switch {
	case sub == "mv" && went == yes:
		return r.mv(inner)
	case sub == "rm" && went == yes:
		flags, operands, ok := inner.options("rfqn", "", map[string]byte{"force": 'f', "quiet": 'q'})
		if !ok || slices.ContainsFunc(operands, func(a arg) bool { return !a.plain() }) {
			break
		}
		if _, tree := flags['r']; tree { // files that git does not know stay
			r.unsurely(func() { r.may(operands) })
			return ended(went)
		}
		return r.rm(&words{name: "rm", args: operands, must: yes})
	case sub == "checkout" || sub == "restore":
		if i := slices.IndexFunc(args, func(a arg) bool { return a.text == "--" }); i >= 0 || sub == "restore" {
			r.unsurely(func() { r.may(args[i+1:]) })
			r.opaque(r.by, !slices.ContainsFunc(args, func(a arg) bool { return a.text == "." || !a.plain() }))
			return ended(c.must)
		}
	}
	r.opaque(r.by, false)
	return ended(c.must)
}

// gitArgs returns the arguments of git from its subcommand on, and goes where -C says.
func (r *run) gitArgs(args []arg) []arg {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		n := 1
		switch {
		case args[0].text == "-C" && len(args) > 1:
			n = 2
			if p, ok := r.target(args[1]); ok {
				r.dir = cwd{p, true}
			} else {
				r.dir = cwd{}
			}
		case args[0].text == "-c":
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// keepsTree reports whether a subcommand of git changes no file of the work tree.
func keepsTree(sub string, args []arg) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a arg) bool { return slices.Contains(names, a.text) })
	}
	switch sub {
	case "rm":
		return has("--cached", "-n", "--dry-run")
	case "stash":
		return has("list", "show", "drop", "clear")
	case "worktree":
		return has("list", "prune")
	case "submodule":
		return has("status")
	case "apply":
		return has("--check", "--stat")
	case "clean":
		return has("-n", "--dry-run")
	case "reset":
		return !has("--hard", "--merge", "--keep")
	case "checkout":
		return has("-b", "-B") && len(args) == 2
	case "switch":
		return has("-c", "-C") && len(args) == 2
	case "restore":
		return has("--staged") && !has("--worktree", "-W")
	}
	return keeping[sub]
}

// patch follows patch.
func (r *run) patch(c *words) res {
	if r.in != nil && r.dir.known {
		for line := range strings.Lines(*r.in) {
			if name, ok := strings.CutPrefix(line, "+++ "); ok {
				name, _, _ = strings.Cut(strings.TrimSpace(name), "\t")
				r.unsurely(func() { r.blurAll(r.resolve(name)); r.blurAll(r.resolve(name[strings.IndexByte(name, '/')+1:])) })
			}
		}
	}
	r.opaque(r.by, false)
	return ended(c.must)
}

// applyPatch follows a call of apply_patch in a script.
func (r *run) applyPatch(c *words) res {
	text := r.in
	if len(c.args) > 0 && c.args[0].plain() {
		text = &c.args[0].text
	}
	if text == nil || !r.dir.known {
		r.opaque(r.by, false)
		return ended(c.must)
	}
	went := c.must
	if went == maybe && !r.uncertain && !r.hidden && strings.Contains(r.output, "Success. Updated") {
		went = yes
	}
	switch {
	case went == no:
	case went == yes:
		r.patched(*text)
	default:
		r.unsurely(func() { r.patched(*text) })
	}
	return ended(went)
}

// patched notes what a patch in the form of apply_patch does:
//
//	*** Update File: a.go
//	*** Move to: b.go
//	@@ func main
//	 context
//	-old
//	+new
func (r *run) patched(text string) {
	r.by = "apply_patch"
	var name, act, to string
	var hunks []hunk
	flush := func() {
		if name == "" {
			return
		}
		p := r.resolve(name)
		switch act {
		case "Add":
			body := ""
			if len(hunks) > 0 {
				body = hunks[0].new
			}
			r.write(p, &body, false)
		case "Delete":
			r.remove(p, false)
		case "Update":
			r.hunks(p, hunks)
			if to != "" {
				r.move(p, r.resolve(to))
			}
		}
		name, to, hunks = "", "", nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "*** "); ok {
			if to2, ok := strings.CutPrefix(head, "Move to: "); ok {
				to = strings.TrimSpace(to2)
				continue
			}
			if head == "End of File" {
				continue
			}
			flush()
			if verb, file, ok := strings.Cut(head, " File: "); ok {
				act, name = verb, strings.TrimSpace(file)
			}
			continue
		}
		if name == "" {
			continue
		}
		if strings.HasPrefix(line, "@@") {
			hunks = append(hunks, hunk{})
			continue
		}
		if len(hunks) == 0 {
			hunks = append(hunks, hunk{})
		}
		h := &hunks[len(hunks)-1]
		switch {
		case strings.HasPrefix(line, "+"):
			h.new += line[1:] + "\n"
		case strings.HasPrefix(line, "-"):
			h.old += line[1:] + "\n"
		default:
			line = strings.TrimPrefix(line, " ")
			h.old += line + "\n"
			h.new += line + "\n"
		}
	}
	flush()
}

// hunk is one place of a patch.
type hunk struct{ old, new string }

// hunks notes that places of a file were replaced.
func (r *run) hunks(p string, list []hunk) {
	if len(list) == 0 {
		return
	}
	last := list[len(list)-1]
	r.change(p, newChange(last.old, last.new, r.at), func(t *Text) (string, bool) {
		body := t.Body
		for _, h := range list {
			if strings.Count(body, h.old) != 1 || h.old == "" {
				return "", false
			}
			body = strings.Replace(body, h.old, h.new, 1)
		}
		return body, true
	})
}
