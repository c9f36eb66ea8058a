package source

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/session"
)

// trust decides what is done outside of the store as a session's owner. Files there are
// read, and generators run, by his rights; whoever may write the files that say so could act as him.
type trust struct {
	ref        ctxabi.Ref
	rel        string // the session's directory in the agent's home
	owner      uint32 // of the session
	mountpoint string // "": not known
	chosen     *Chosen
	cwd, env   *stocked
	rows       map[ctxabi.Trust]bool
	scripts    map[int]string // why the commands of a source must not run: a file that one names; by the source's index
	pinned     map[int][]pin  // what the commands of a source find of the files that they name in a shared space; by the source's index
}

func (gr *Gatherer) newTrust(x *session.Session, g *Gathered, rel string, cwd, env *stocked) *trust {
	t := &trust{ref: g.Ref, rel: rel, owner: g.Owner.UID, mountpoint: gr.Config.Mountpoint, chosen: g.Chosen, cwd: cwd, env: env, rows: map[ctxabi.Trust]bool{}}
	if t.needed() {
		data, err := x.Store().Trust(t.owner)
		rows, perr := ctxabi.ParseTrust(data)
		if err == nil && perr == nil {
			for _, row := range rows {
				t.rows[row] = true
			}
		}
	}
	return t
}

// needed reports whether anything depends on what the owner trusts.
func (t *trust) needed() bool {
	if t.ref.Space != "" {
		return true
	}
	for _, f := range t.chosen.Recipe.Files {
		if f.Imported || t.foreign(f.Path) {
			return true
		}
	}
	return false
}

// foreign reports whether a recipe file is not the session owner's, as far as is known.
func (t *trust) foreign(name string) bool {
	uid, known := t.chosen.owners[name]
	return !known || uid != t.owner
}

// ask returns why the file name (relative to the agent's home) with that content must be trusted first, or "".
func (t *trust) ask(name, sum string) string {
	if t.rows[ctxabi.Trust{Path: path.Join(t.ref.AgentHome(), name), SHA256: sum}] {
		return ""
	}
	return t.untrusted(name, "")
}

// untrusted returns what is to be done about a file that is not trusted; wrong is why it cannot be as it is.
func (t *trust) untrusted(name, wrong string) string {
	at := path.Join(t.mountpoint, t.ref.AgentHome(), name)
	if wrong != "" {
		return fmt.Sprintf("not trusted: %s%s, and run: ctxfs trust %s", name, wrong, at)
	}
	return fmt.Sprintf("not trusted; look at the file and run: ctxfs trust %s", at)
}

// noted reports whether a file was trusted once, whatever it held.
func (t *trust) noted(name string) bool {
	at := path.Join(t.ref.AgentHome(), name)
	for row := range t.rows {
		if row.Path == at {
			return true
		}
	}
	return false
}

// own returns why a file (by its path in the agent's home) in a shared space does not speak for the session's owner, or "".
func (t *trust) own(name string, f *stocked) string {
	says := len(bytes.TrimSpace(f.data)) > 0 || f.reason != ""
	if f.absent || !says || t.isOwn(f) {
		return ""
	}
	return t.ask(name, hex.EncodeToString(f.sum[:]))
}

// isOwn reports whether a file is the session owner's, and that nobody else can write it.
func (t *trust) isOwn(f *stocked) bool { return f.sign.UID == t.owner && f.sign.mode&0o022 == 0 }

// outside returns why files outside of the store are not read, or "".
func (t *trust) outside() string {
	if t.ref.Space == "" {
		return ""
	}
	for _, f := range t.chosen.Recipe.Files {
		if reason := t.ask(f.Path, f.SHA256); reason != "" {
			return reason
		}
	}
	if reason := t.own(path.Join(t.rel, ctxabi.CwdFile), t.cwd); reason != "" {
		return reason
	}
	if len(t.chosen.Recipe.Files) == 0 {
		return "" // the default recipe uses no variable of context/env
	}
	return t.own(path.Join(t.rel, ctxabi.EnvFile), t.env)
}

// check finds the files that the commands of the source at name, and that must be trusted as they are: those of a shared space,
// which others may write, and where a package says the commands, those of packages, which an update replaces.
func (t *trust) check(h *home, words *Variables, at int, s *recipe.Source) {
	space := t.ref.Space != ""
	if !space && !InPackage(s.Origin.File) {
		return
	}
	names, guessed, whole := words.named(s, t.rel)
	if !whole {
		t.refuse(at, "not trusted: the command has too many words to look for the scripts that it names; put them into a script")
	}
	guessed = slices.DeleteFunc(guessed, func(rel string) bool { return !t.noted(rel) && !h.dir(path.Dir(rel)).sign.exists() })
	for _, rel := range distinct(append(names, guessed...)) {
		if !space && !InPackage(rel) {
			continue
		}
		f := h.file(rel, maxFile)
		if space {
			t.pin(at, rel, f)
		}
		reason := ""
		switch {
		case f.reason == reasonLink && (!space || f.sign.UID != t.owner || !f.sign.exists()):
			reason = t.untrusted(rel, " leads out of the agent's home, where it may become anything; put the file itself there")
		case !f.sign.regular():
			if f.sign.exists() && t.noted(rel) { // some programs run what such a directory holds
				reason = t.untrusted(rel, " was a file when it was trusted; put one there")
			}
		case space:
			reason = t.own(rel, f)
		case f.big:
			reason = fmt.Sprintf("not trusted: %s is %s", rel, f.reason)
		default:
			reason = t.ask(rel, hex.EncodeToString(f.sum[:]))
		}
		if reason != "" {
			t.refuse(at, reason)
		}
	}
}

// refuse returns why the command of the source at is not run.
func (t *trust) refuse(at int, reason string) {
	if t.scripts == nil {
		t.scripts = map[int]string{}
	}
	t.scripts[at] = reason
}

// InPackage reports whether a file of an agent's home, by its path there, is one of a package.
func InPackage(rel string) bool {
	return strings.HasPrefix(rel, "node_modules/") || strings.HasPrefix(rel, "packages/")
}

// named lists what the words of a source's commands name in the agent's home, by the paths there: a word, what
// stands in it behind a =, or a word of the text that it is, as behind sh -c. A relative one counts below each of the others, too,
// since a shell can go there: those are guessed, and whole is false where they are too many. Commands run in the session's directory
// rel where there is no workspace.
func (x *Variables) named(s *recipe.Source, rel string) (names, guessed []string, whole bool) {
	whole = true
	for _, stage := range s.Stages {
		var relative, dirs []string
		for _, arg := range stage.Command {
			words := wordsOf(arg)
			for i, word := range words {
				loc := x.locate(word, s.Origin)
				below, ok := strings.CutPrefix(loc.path, x.Home+"/")
				switch {
				case loc.inHome:
					dirs = append(dirs, loc.rel)
				case ok:
					dirs = append(dirs, below)
				case x.Cwd == "" && !path.IsAbs(word):
					names = append(names, path.Join(rel, word))
					if i > 0 && words[i-1] == "cd" {
						dirs = append(dirs, path.Join(rel, word))
					}
				}
				if !path.IsAbs(word) && !strings.HasPrefix(word, "$") {
					relative = append(relative, word)
				}
			}
		}
		dirs, relative = distinct(dirs), distinct(relative)
		names = append(names, dirs...)
		if len(guessed)+len(dirs)*len(relative) > maxGuessed {
			whole = false
			continue
		}
		for _, dir := range dirs {
			for _, word := range relative {
				guessed = append(guessed, path.Join(dir, word))
			}
		}
	}
	return names, guessed, whole
}

// distinct sorts a list and leaves out what stands in it twice.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// maxGuessed bounds what relative words may name.
const maxGuessed = 4000

// wordsOf returns the words of an argument that may be paths: itself, what stands behind a =, and the words of a text, as a shell parts them.
func wordsOf(arg string) []string {
	words := []string{arg}
	if _, value, ok := strings.Cut(arg, "="); ok {
		words = append(words, value)
	}
	const between = " \t\r\n;|&()<>=`"
	if strings.ContainsAny(arg, between) {
		unquoted := strings.NewReplacer(`"`, "", "'", "").Replace(arg)
		words = append(words, strings.FieldsFunc(unquoted, func(r rune) bool { return strings.ContainsRune(between, r) })...)
	}
	return words
}

// Program is what a recipe lets run: the commands of a source, or the summarizer.
type Program struct {
	Name   string
	Origin recipe.Origin
	Stages []recipe.Stage
	// Files are those that the commands name, by their paths in the agent's home, where they must be trusted, too: of
	// packages, where a package says the commands, and all of them in a shared space. There may be none with such a name.
	Files []string
}

// Programs lists what a recipe lets run, for an agent whose home is mounted at home, in a shared space or not. Where a session
// runs a command is not known here: a file that is named relative to that is listed for none.
func Programs(r *recipe.Recipe, home string, space bool) (all []Program) {
	cwd := ""
	if space {
		cwd = "/"
	}
	words := newLexicon(r, nil, cwd, home, ".")
	add := func(name string, s *recipe.Source) {
		if len(s.Stages) == 0 {
			return
		}
		p := Program{Name: name, Origin: s.Origin, Stages: s.Stages}
		if space || InPackage(s.Origin.File) {
			names, guessed, _ := words.named(s, ".") // where they are too many, nothing is run
			p.Files = slices.DeleteFunc(distinct(append(names, guessed...)), func(rel string) bool { return !within(rel) || !space && !InPackage(rel) })
		}
		all = append(all, p)
	}
	for i := range r.Sources {
		add(r.Sources[i].Block, &r.Sources[i])
	}
	if s := SummarizerSource(r); s != nil {
		add("the summarizer", s)
	}
	return all
}

// generator returns why the generators of the source at are not run, or "".
func (t *trust) generator(at int, s *recipe.Source) string {
	if reason := t.outside(); reason != "" {
		return reason
	}
	speaks := map[string]bool{s.Origin.File: true} // for what is run: the command, and the environment it finds
	for key, at := range t.chosen.Recipe.Origins {
		if strings.HasPrefix(key, "env.") {
			speaks[at.File] = true
		}
	}
	for _, f := range t.chosen.Recipe.Files {
		if !speaks[f.Path] || !f.Imported && !t.foreign(f.Path) {
			continue
		}
		if reason := t.ask(f.Path, f.SHA256); reason != "" {
			return reason
		}
	}
	return t.scripts[at]
}
