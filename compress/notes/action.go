package notes

import (
	"encoding/json"
	"maps"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
)

// Action is what one call of a tool does, as far as it is needed to know whether the success of
// another call makes up for its failure.
type Action struct {
	acts  []act // of a script those that it is for, in their order
	asks  bool  // an exit status of 1 is an answer: nothing was found, something differs
	reads bool  // it only shows what is there, which may tell of failures
}

// act is one command, or one call of a tool that runs none.
type act struct {
	name    string   // the program with its subcommand, or the tool
	targets []string // what it works on
	narrow  string   // which of that alone: a test's name
	kind    actKind
	spared  bool
	decides bool // the exit status of the script may be its own
	whole   bool // it works on all that there is
}

// actKind is what a command finds out.
type actKind uint8

const (
	actOther actKind = iota
	actBuild
	actLint
	actTest
	actCheck // all of these
)

// Code writes a, or reads what was written.
func (a *Action) Code(c *coder.Coder) {
	coder.List(c, &a.acts, func(one *act) {
		coder.Text(c, &one.name, &one.narrow)
		coder.List(c, &one.targets, func(target *string) { coder.Text(c, target) })
		coder.Number(c, &one.kind)
		c.Flag(&one.spared, &one.decides, &one.whole)
	})
	c.Flag(&a.asks, &a.reads)
}

// maxTargets is how many targets of one command are looked at.
const maxTargets = 32

// ActionOf returns what a call of a tool with these arguments does.
func ActionOf(tool, arguments string) Action {
	if script, ok := toolcall.Script(tool, arguments); ok {
		return actionOfScript(script)
	}
	name := compress.PlainName(tool)
	a := act{name: "\x00" + name}
	for _, f := range fileCall(Call{Name: tool, Arguments: arguments}) {
		a.targets = append(a.targets, f.Path)
		if a.name = "\x00" + fileChanged; f.State == fileRead {
			a.name = "\x00" + fileRead
		}
	}
	reads := a.name == "\x00"+fileRead || compress.IsFileTool(name) || compress.IsMatchTool(name) || compress.IsListTool(name)
	if a.targets == nil {
		a.targets = identities(arguments)
	}
	if strings.Contains(name, "test") {
		a.kind, a.whole = actTest, len(a.targets) == 0
	}
	return Action{acts: []act{a}, asks: compress.IsMatchTool(name), reads: reads}
}

// identityKeys are arguments that name what a call works on, beside those that end in "id".
var identityKeys = compress.WordSet("url uri to target host hostname service env environment branch table database namespace pod container key name order user account")

// identities returns the arguments at the top of a call that name what it works on.
func identities(arguments string) (out []string) {
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		value, ok := args[key].(string)
		low := strings.ToLower(key)
		// What is paid with, or who asked, is no target: another one may be the remedy.
		pays := strings.Contains(low, "payment") || strings.Contains(low, "request") || strings.Contains(low, "call") || strings.Contains(low, "message")
		if !ok || value == "" || pays || len(out) == maxTargets {
			continue
		}
		if identityKeys[low] || slices.Contains(compress.PathKeys, key) || low == "id" || strings.HasSuffix(low, "_id") || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") {
			out = append(out, low+"="+value)
		}
	}
	return out
}

var (
	// preparing are commands that a script is not for, unless it has no other.
	preparing = compress.WordSet("cd pushd popd echo printf export set unset source . alias true false : sleep wait pwd ls cat head tail less more sed awk cut sort uniq wc tr tee xargs column mkdir touch chmod which type trap read shopt ulimit umask clear date env grep rg ag ack egrep fgrep find test [ [[ diff cmp jq tput stty local declare return exit shift")
	// asking are commands whose exit status of 1 is an answer.
	asking = compress.WordSet("grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ pgrep which type expr jq find")
	// showing are commands that only show what is there.
	showing = compress.WordSet("cat head tail less more bat nl sed awk grep egrep fgrep zgrep rg ag ack find ls tree wc sort uniq cut jq cd echo printf strings xxd file stat du")

	// families are programs whose first operand is what they do.
	families = compress.WordSet("git go npm yarn pnpm bun cargo docker podman kubectl helm pip pip3 conda apt apt-get brew dnf gh terraform systemctl dotnet gradle gradlew mvn mvnw poetry uv bundle rails django-admin manage.py composer flutter dart deno mix stack cabal swift zig bazel buck")
	// scripted are families that run a script of the project by its name.
	scripted = compress.WordSet("npm yarn pnpm bun")
	// makers are programs whose operands name what they bring about.
	makers = compress.WordSet("make gmake just task rake mage ninja invoke tox nox earthly gradle gradlew mvn mvnw")

	narrowing = []string{"-run", "--run", "-k", "-t", "--grep", "--filter", "--tests", "--testNamePattern", "-Dtest", "--only", "--testcase", "--case"}
	says      = []string{"-m", "--message", "-c", "-e", "--eval"} // what follows is no target
)

// actionOfScript returns what a script does.
func actionOfScript(script string) (d Action) {
	commands := Commands(script)
	d.reads = len(commands) > 0
	decided, all := false, true
	for _, c := range commands {
		d.reads = d.reads && showing[c.Words[0]] || d.reads && c.Words[0] == "git" && len(c.Words) > 1 && slices.Contains([]string{"log", "show", "diff", "grep", "blame"}, c.Words[1])
		if c.Decides && !(preparing[c.Words[0]] && !asking[c.Words[0]]) {
			decided = true
			all = all && (asking[c.Words[0]] || c.Words[0] == "git" && len(c.Words) > 1 && (c.Words[1] == "grep" || c.Words[1] == "diff"))
		}
	}
	d.asks = decided && all
	for _, only := range []bool{true, false} {
		for _, c := range commands {
			if preparing[c.Words[0]] && only {
				continue
			}
			d.acts = append(d.acts, actOf(c))
		}
		if len(d.acts) > 0 {
			break
		}
	}
	return d
}

// actOf returns what a command of a script does.
func actOf(c Command) act {
	a := act{name: c.Words[0], spared: c.Spared, decides: c.Decides}
	rest := c.Words[1:]
	if families[a.name] {
		if sub, args, ok := subcommand(a.name, rest); ok {
			a.name, rest = a.name+" "+sub, args
		}
	}
	a.operands(rest)
	program := programOf(a.name)
	if makers[program] && len(a.targets) == 0 {
		a.targets = []string{"default"}
	}
	if a.kind = kindOfAct(&a); a.kind != actOther {
		all := slices.Contains(a.targets, "...") || program != "go" && (len(a.targets) == 0 || slices.Contains(a.targets, "."))
		a.whole = makers[program] || scripted[program] || all
	}
	return a
}

// subcommand takes the first operand, which says what a program of families does, off its
// arguments; ok is false if there is none.
func subcommand(program string, args []string) (sub string, rest []string, ok bool) {
	for i, w := range args {
		if strings.HasPrefix(w, "-") || i > 0 && (args[i-1] == "-C" || args[i-1] == "--prefix") {
			continue
		}
		rest = append(slices.Clone(args[:i]), args[i+1:]...)
		if scripted[program] && (w == "run" || w == "run-script") && i < len(rest) {
			return rest[i], append(rest[:i:i], rest[i+1:]...), true
		}
		return w, rest, true
	}
	return "", nil, false
}

// operands notes what the arguments of a command name: targets, and which part of them.
func (a *act) operands(args []string) {
	after := ""
	for _, w := range args {
		before := after
		after = w
		if name, value, ok := strings.Cut(w, "="); ok && slices.Contains(narrowing, name) {
			a.narrow = value
		}
		switch {
		case slices.Contains(narrowing, before):
			a.narrow = w
			after = ""
		case w == "" || strings.HasPrefix(w, "-") || slices.Contains(says, before) || len(a.targets) == maxTargets:
		case strings.ContainsAny(w, " \n"):
		case strings.ContainsAny(w, "/.") || !strings.HasPrefix(before, "-") && !strings.Contains(w, "="):
			a.targets = append(a.targets, pathpkg.Clean(w))
		}
	}
}

func programOf(name string) string {
	program, _, _ := strings.Cut(name, " ")
	return program
}

var (
	buildActs = compress.WordSet("tsc tsgo gcc cc g++ clang javac cmake webpack vite rollup esbuild")
	lintActs  = compress.WordSet("eslint biome prettier black ruff flake8 pylint mypy pyright golangci-lint staticcheck gofmt goimports shellcheck rubocop stylelint tslint")
	testActs  = compress.WordSet("pytest jest vitest mocha rspec ctest phpunit unittest nose2 tap ava bats")
)

// kindOfAct returns what a command finds out, by the words that programs and people have for it.
func kindOfAct(a *act) actKind {
	program, sub, _ := strings.Cut(a.name, " ")
	switch {
	case buildActs[program]:
		return actBuild
	case lintActs[program]:
		return actLint
	case testActs[program]:
		return actTest
	case program == "tox" || program == "nox" || program == "pre-commit":
		return actCheck
	}
	words := []string{sub}
	if makers[program] {
		words = a.targets
	} else if !families[program] {
		words = []string{strings.TrimSuffix(strings.TrimSuffix(program, ".sh"), ".py")} // a script of the project: check.sh, run-tests
	}
	kind := actOther
	for _, w := range words {
		for _, w := range strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '/' || r == '.' }) {
			kind = max(kind, kindOfWord(program, w))
		}
	}
	return kind
}

// kindOfWord returns what a target, or a script, with a word in its name finds out.
func kindOfWord(program, w string) actKind {
	switch program {
	case "git", "apt", "apt-get", "pip", "pip3", "brew":
		return actOther
	}
	switch w {
	case "check", "ci", "verify", "validate", "precommit", "all":
		if scripted[program] || program == "cargo" || program == "deno" {
			return actLint // and builds; tests have a word of their own there
		}
		return actCheck
	case "test", "tests", "spec":
		return actTest
	case "install":
		if program != "go" {
			return actOther
		}
		return actBuild
	case "build", "compile", "vet", "typecheck", "tsc":
		return actBuild
	case "lint", "fmt", "format", "clippy":
		return actLint
	}
	return actOther
}

// Mends reports whether the success of d makes up for a failure of another action: it does the
// same, with the same or all of it, or it is a check that the other is a part of.
func (d Action) Mends(failed Action) bool {
	if len(failed.acts) == 0 || len(d.acts) == 0 {
		return false
	}
	f := &failed.acts[len(failed.acts)-1] // what the script was for
	return slices.ContainsFunc(d.acts, func(a act) bool { return !a.spared && a.includes(f) })
}

// Repeats reports whether d is another try of the same.
func (d Action) Repeats(other Action) bool {
	if len(d.acts) == 0 || len(other.acts) == 0 {
		return false
	}
	a, b := &d.acts[len(d.acts)-1], &other.acts[len(other.acts)-1]
	return a.name == b.name && a.narrow == b.narrow && slices.Equal(a.targets, b.targets)
}

// includes reports whether a finds out what f does.
func (a *act) includes(f *act) bool {
	if a.narrow != "" && a.narrow != f.narrow {
		return false
	}
	program := programOf(a.name)
	if a.name == f.name && (a.whole && !makers[program] || a.holds(f)) {
		return true
	}
	if f.kind == actOther || a.kind < f.kind {
		return false
	}
	family := program == programOf(f.name)
	switch {
	case !a.whole: // go test ./x, and go build ./x
		return a.kind == actTest && f.kind == actBuild && family && a.holds(f)
	case a.kind == actCheck:
		return true
	case makers[program] || scripted[program]:
		return a.kind == f.kind || f.kind == actBuild
	}
	return a.kind == actTest && f.kind == actBuild && family
}

// holds reports whether what f works on is among what a does.
func (a *act) holds(f *act) bool {
	if len(f.targets) == 0 {
		return len(a.targets) == 0 || strings.HasPrefix(a.name, "\x00")
	}
	for _, t := range f.targets {
		if !slices.ContainsFunc(a.targets, func(s string) bool { return covers(s, t) }) {
			return false
		}
	}
	return true
}

// covers reports whether a target is another one, or holds it: a directory, all packages below
// one, all tests of a file.
func covers(a, b string) bool {
	if a == b {
		return true
	}
	if dir, ok := strings.CutSuffix(a, "/..."); ok {
		return b == dir || strings.HasPrefix(b, dir+"/")
	}
	return strings.HasPrefix(b, a+"/") && !strings.HasSuffix(b, "...") || strings.HasPrefix(b, a+"::") || a == "..."
}

// Asks reports whether an exit status of 1 is an answer and no failure: grep found nothing, diff
// a difference.
func (d Action) Asks() bool { return d.asks }

// Reads reports whether the call only shows what is there, so that words for failures in its
// output may be anybody's.
func (d Action) Reads() bool { return d.reads }
