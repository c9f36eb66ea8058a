package ledger

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

var (
	// readers are programs that change no file.
	readers = compress.WordSet("ls head tail less more bat nl grep egrep fgrep zgrep rg ag ack wc uniq cut tr od xxd hexdump strings file stat du df ps top env printenv date which type whereis whoami id uname hostname echo printf true false test [ [[ diff cmp comm md5sum sha1sum sha256sum sha512sum cksum base64 jq tree basename dirname realpath readlink seq sleep wait expr bc column fold fmt paste join rev tac man help history ulimit umask export alias declare local hash jobs bg fg disown ping nslookup dig host netstat ss lsof pgrep lsblk free uptime tput clear stty locale getent shasum cat pwd cd readelf objdump nm ldd size tsort nproc arch command numfmt factor yes true shellcheck exiftool identify ffprobe tokei cloc scc kill pkill killall code open xdg-open submit find_file search_file search_dir goto scroll_up scroll_down set_cursors state")
	// builders are programs that make new files, and hardly change what was written by hand.
	builders = compress.WordSet("go cargo npm yarn pnpm bun pytest jest vitest mocha tsc tsgo node python python3 python2 deno ruby php java javac gcc g++ cc clang clang++ rustc mvn mvnw gradle gradlew ctest ninja pip pip3 conda apt apt-get brew docker podman kubectl helm terraform gh ssh scp rsync curl wget mypy pylint flake8 pyright tox nox unittest nosetests phpunit rspec webpack vite rollup esbuild dotnet swift flutter dart mix rails psql mysql sqlite3 redis-cli systemctl service ts-node tsx lua perl Rscript julia ghc stack cabal zig bazel make cmake mkfs ar ld as nasm")
	// scripted are builders and others whose first operand is a script, which they only read.
	scripted = compress.WordSet("python python3 python2 node deno bun ruby php perl java lua Rscript julia bash sh zsh dash tsx ts-node pytest jest vitest mocha tsc tsgo gcc g++ cc clang clang++ rustc javac mypy pylint flake8 pyright shellcheck sqlite3 psql mysql go cargo curl")
	// outputs are options in which programs take the file that they write.
	outputs = map[string]bool{"-o": true, "-O": true, "-out": true, "--output": true, "--out": true, "--outfile": true, "--output-file": true, "--outFile": true, "--output-document": true, "--report": true, "-coverprofile": true}
	// rewriting are words that tell that a program writes files in place.
	rewriting = compress.WordSet("--fix --write -w --in-place -i --inplace fmt format --autofix --apply --fix-all codemod generate gen codegen migrate")
	// formatters are programs that write files in place.
	formatters = compress.WordSet("black isort autopep8 yapf rustfmt gofumpt goimports-reviser clang-format prettierd tar unzip 7z gunzip gzip bunzip2 xz unxz zip cpio patch ex ed vi vim nvim nano emacs rename install split csplit rsync scp shred pandoc")
)

// program follows a program that is not known better: it notes the files that it writes by its options,
// those in its arguments that it may change, and that it ran.
func (r *run) program(c *words) res {
	name := base(c.name)
	own := strings.Contains(c.name, "/")
	if readers[name] && !own {
		return ended(c.must)
	}
	rewrites := formatters[name] || name == "make" || own || slices.ContainsFunc(c.args, func(a arg) bool {
		return rewriting[a.text] && !(builders[name] && strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--"))
	})
	r.opaque(r.by, !rewrites && builders[name])
	rest := r.writtenBy(c, name)
	script := scripted[name] && !rewrites || own
	for _, a := range rest {
		switch {
		case strings.HasPrefix(a.text, "-") || a.text == "":
		case strings.ContainsAny(a.text, " \n;("):
			r.named(a.text)
		case script:
			if script = !interpreters[name] && scripted[name]; !own {
				r.runsScript(a)
			}
		default:
			r.given(a, rewrites, !builders[name])
		}
	}
	if own {
		r.runsScript(arg{text: c.name})
	}
	if r.in != nil && scripted[name] { // python - <<EOF
		r.named(*r.in)
	}
	return ended(c.must)
}

// interpreters are programs that run one script, and give it what follows.
var interpreters = compress.WordSet("python python3 node")

// writtenBy notes the files that a program writes by its options, and returns its other arguments.
func (r *run) writtenBy(c *words, name string) (rest []arg) {
	ok := c.must
	if r.hidden || r.killed {
		ok = min(ok, maybe)
	}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		flag, value, has := strings.Cut(a.text, "=")
		switch {
		case outputs[flag] && has && strings.HasPrefix(flag, "-"):
			r.output1(arg{value, a.glob}, ok)
		case outputs[a.text] && i+1 < len(c.args) && !(a.text == "-O" && name == "curl") && !(a.text == "-o" && !mayWrite(c.args[i+1])):
			i++
			r.output1(c.args[i], ok)
		default:
			rest = append(rest, a)
		}
	}
	return rest
}

// given notes that a program got a word that may name a file, which it may change: if it rewrites what it gets, or
// if it is not known to read only.
func (r *run) given(a arg, rewrites, unheard bool) {
	p, ok := r.target(a)
	switch {
	case !a.plain():
		r.spoilMatching(a)
	case ok:
		if i, known := r.find(p); known && (rewrites || unheard && r.files[i].Kind != Directory) {
			r.spoil(p)
		}
		if rewrites {
			r.spoilBelow(p)
		}
	}
}

// mayWrite reports whether a word after -o may be a file: pytest -o x=y, ssh -o Option.
func mayWrite(a arg) bool { return !strings.Contains(a.text, "=") }

// writing are words of programs that write files, and opens the call of one that may.
var (
	writing = []string{"write", "unlink", "remove", "rename", "rmtree", "shutil", "dump(", "save", "to_csv", "to_json", "copyFile", "os.replace", "truncate", "mkdir", "system(", "subprocess", "exec", "sed -i", "tee ", ">>", " > ", "rm ", "mv ", "cp ", "touch "}
	opens   = lazy.Regexp(`\bopen\([^)]*,\s*['"][rwaxb+]*[wax+]`)
)

// writes reports whether the text of a program seems to write files.
func writes(text string) bool {
	return slices.ContainsFunc(writing, func(word string) bool { return strings.Contains(text, word) }) || strings.Contains(text, "open(") && opens().MatchString(text)
}

// runsScript follows a script that a program runs, by what is known of its text.
func (r *run) runsScript(a arg) {
	p, ok := r.target(a)
	if !ok {
		return
	}
	if i, known := r.find(p); known && r.files[i].Text != nil && r.files[i].Text.Held {
		r.named(r.files[i].Text.Body)
	}
}

// named makes unsure the known files that the text of a program names, if the program seems to write files.
func (r *run) named(text string) {
	if len(text) > maxScript || !writes(text) {
		return
	}
	for _, f := range slices.Clone(r.files) {
		name := path.Base(f.Path)
		if f.Exists != Absent && len(name) > 2 && f.Kind != Directory && strings.Contains(text, name) {
			r.unsurely(func() { r.blurAll(f.Path) })
		}
	}
}

// sed follows sed.
func (r *run) sed(c *words) res {
	inPlace := slices.ContainsFunc(c.args, func(a arg) bool {
		return strings.HasPrefix(a.text, "-i") || strings.HasPrefix(a.text, "--in-place") || a.text == "-Ei" || a.text == "-ri" || a.text == "-ni"
	})
	return r.inPlace(c, inPlace)
}

// perl follows perl.
func (r *run) perl(c *words) res {
	edits := slices.ContainsFunc(c.args, func(a arg) bool {
		return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && len(a.text) < 8 && strings.Contains(a.text, "i")
	})
	if !edits {
		return r.program(c)
	}
	return r.inPlace(c, edits)
}

// inPlace follows a command that changes its operands if edits.
func (r *run) inPlace(c *words, edits bool) res {
	if !edits {
		for _, a := range c.args {
			if writesInSed().MatchString(a.text) {
				r.opaque(r.by, false)
			}
		}
		return ended(c.must)
	}
	went := r.went(c.name, c.must)
	if went == maybe && r.harmless(c.must) {
		return ended(no)
	}
	change := func() {
		for _, a := range c.args {
			if p, ok := r.target(a); ok {
				if _, known := r.find(p); known || went == yes && strings.ContainsAny(a.text, "./") && !strings.ContainsAny(a.text, " '\";$^|,\\") && !strings.HasPrefix(a.text, "s/") && !strings.HasPrefix(a.text, "/") && !strings.HasPrefix(a.text, "-") {
					r.spoil(p)
				}
			} else if !strings.HasPrefix(a.text, "-") {
				r.spoilMatching(a)
			}
		}
	}
	if went == yes {
		change()
	} else {
		r.unsurely(change)
	}
	return ended(went)
}

// writesInSed matches a command of sed that writes a file.
var writesInSed = lazy.Regexp(`/[gp0-9]*w |^w |;w |\}w `)

// sort follows sort.
func (r *run) sort(c *words) res {
	for i, a := range c.args {
		if a.text == "-o" && i+1 < len(c.args) {
			r.output1(c.args[i+1], r.went("sort", c.must))
		} else if name, ok := strings.CutPrefix(a.text, "--output="); ok {
			r.output1(arg{name, a.glob}, r.went("sort", c.must))
		}
	}
	return ended(c.must)
}

// awk follows awk, which may write files of its own.
func (r *run) awk(c *words) res {
	for _, a := range c.args {
		if strings.Contains(a.text, ">") && strings.Contains(a.text, "print") || strings.Contains(a.text, "system(") || a.text == "inplace" {
			r.opaque(r.by, false)
			r.named("write " + a.text)
		}
	}
	return ended(c.must)
}

// find_ follows find and fd, which may run commands on what they find.
func (r *run) find_(c *words) res {
	acts := func(w string) bool {
		switch w {
		case "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls", "-x", "-X", "--exec", "--exec-batch":
			return true
		}
		return false
	}
	i := slices.IndexFunc(c.args, func(a arg) bool { return acts(a.text) })
	if i < 0 {
		return ended(c.must)
	}
	if i+1 < len(c.args) && strings.HasPrefix(c.args[i].text, "-exec") && (readers[base(c.args[i+1].text)] || c.args[i+1].text == "sed" && i+2 < len(c.args) && !strings.HasPrefix(c.args[i+2].text, "-i")) {
		return ended(c.must)
	}
	if c.args[i].text != "-delete" || c.name != "find" {
		r.opaque(r.by, false)
		return ended(c.must)
	}
	roots := 0
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "-") || a.text == "(" || a.text == "!" {
			break
		}
		roots++
		r.unsurely(func() { r.blurMatching(a) })
	}
	if roots == 0 {
		r.unsurely(func() { r.blurMatching(arg{text: "."}) })
	}
	return ended(c.must)
}
