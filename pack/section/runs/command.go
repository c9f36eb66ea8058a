package runs

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// class is what a command is for.
type class uint8

const (
	reads class = iota // it only shows or prepares something
	moves              // it creates, moves, or deletes files
	acts               // everything else: it is a run
)

var (
	readers = compress.WordSet(`cd pushd popd echo printf export set unset source . alias true false : sleep wait pwd ls cat head tail less more bat nl sed awk cut sort uniq wc
		tr tee xargs column which type command trap read shopt ulimit umask clear date env printenv grep egrep fgrep zgrep rg ag ack find fd tree file stat du df test [ [[ diff cmp jq yq tput
		stty local declare return exit shift strings xxd od hexdump ps top whoami id uname hostname history man help expr basename dirname realpath readlink base64 md5sum sha256sum
		open create edit insert submit exit_forfeit goto scroll_up scroll_down search_file search_dir find_file set_cursors Get-Content Get-ChildItem Select-String Write-Output Write-Host Set-Location dir`)
	movers = compress.WordSet("cp mv rm rmdir ln chown chmod mkdir touch kill pkill killall code install truncate unzip tar zip gzip New-Item Remove-Item Copy-Item Move-Item Set-Content")

	// gitReaders and gitMovers are subcommands of git.
	gitReaders = compress.WordSet("status log show diff blame grep ls-files ls-tree rev-parse branch remote describe reflog config shortlog cat-file")
	gitMovers  = compress.WordSet("add mv rm init stash")

	// asking are commands that answer "no" with the exit status 1.
	asking = compress.WordSet("grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ pgrep which type command expr jq find")
)

// classOf returns what the commands of a step are for.
func classOf(s *toolcall.Step) (c class) {
	for _, words := range s.Commands {
		of := acts
		switch {
		case words[0] == "git" && len(words) > 1:
			sub := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "/") })
			if sub >= 0 && gitReaders[words[sub+1]] {
				of = reads
			} else if sub >= 0 && gitMovers[words[sub+1]] {
				of = moves
			}
		case readers[words[0]]:
			of = reads
			if words[0] == "sed" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") }) {
				of = moves
			}
		case movers[words[0]]:
			of = moves
		}
		c = max(c, of)
	}
	return c
}

// command is a command line, as far as it decides about other ones.
type command struct {
	dir   string
	words []string // of the command that the line is for; nil: it is compared with no other
}

// commandLine is the part of a script that a run is named after.
type commandLine struct {
	text    string // as written
	key     string
	command command
	class   class

	mixed   bool   // other commands of the script may also have written to the output
	several string // all lines of the script that run something, if there are more than this one
	trusted bool   // the exit status of the script is that of the line
	strict  bool   // a failure of an earlier command ends the script (set -e)
	piped   bool   // its output goes through another program
	asks    bool   // an exit status of 1 is an answer
	inline  bool   // it is a program in a here-document
}

// lineOf returns the main command line of a script: the last one that tests or builds, else the
// last one that runs a program. ok is false if the script is empty.
func lineOf(script string) (l commandLine, ok bool) {
	script, _, _ = strings.Cut(script, "\n"+"end_of_edit") // what precedes is the text of an edit
	if strings.HasPrefix(script, "edit ") {
		script, _, _ = strings.Cut(script, "\n")
	}
	steps := toolcall.Steps(script)
	main, rank := -1, -1
	for i := range steps {
		if r := rankOf(&steps[i]); r >= rank {
			main, rank = i, r
		}
	}
	if main < 0 {
		return l, false
	}

	of := &steps[main]
	l.class, l.inline = classOf(of), of.Inline
	l.nameBy(steps, main)
	l.judgeStatus(steps, main)
	for i := range steps {
		l.mixed = l.mixed || i != main && prints(&steps[i])
	}
	if !of.Group && !of.Inline {
		l.command = command{of.Dir, plain(of.Commands[0])}
	}
	return l, true
}

// silent lists the commands that print nothing, in addition to movers.
var silent = compress.WordSet("cd pushd popd export set unset source . alias true : sleep wait")

// prints reports whether a step may write to the output of its script. Steps that redirect their
// output do not.
func prints(s *toolcall.Step) bool {
	first := s.Commands[0][0]
	return !silent[first] && classOf(s) != moves && !strings.Contains(s.Head, "> ") && !strings.Contains(s.Head, " >")
}

// nameBy sets the text and the key of the command line of the step main. In the text, "…" replaces
// the steps of other lines. The key contains the steps that do more than read.
func (l *commandLine) nameBy(steps []toolcall.Step, main int) {
	of := &steps[main]
	var texts, keys, running []string
	others := false
	for i := range steps {
		s := &steps[i]
		runs := classOf(s) == acts && !s.Inline
		if running = append(running, gap); runs {
			running[i] = s.Text
		}

		if i == main || classOf(s) != reads && (s.Line == of.Line || !s.Inline) {
			keys = append(keys, core(s))
		}
		switch {
		case s.Line == of.Line:
			texts = append(texts, written(s, i > 0 && steps[i-1].Line == s.Line))
		case s.Commands[0][0] == "cd" && i < main:
			texts = append(texts, s.Text+";")
		default:
			others = others || runs
			texts = append(texts, gap)
		}
	}
	if others {
		l.several = joinSteps(running, "; ")
	}
	l.text = joinSteps(texts, " ")
	l.key = of.Dir + "\x00" + strings.Join(keys, " && ")
	if of.Body != "" {
		l.key += "\x00" + of.Body
	}
}

// gap replaces omitted steps of a script in the text of its command line.
const gap = "…"

// joinSteps joins texts and merges adjacent gaps.
func joinSteps(texts []string, separator string) string {
	merged := slices.CompactFunc(texts, func(a, b string) bool { return a == gap && b == gap })
	return strings.Join(merged, separator)
}

// written returns a step with the operators around it.
func written(s *toolcall.Step, follows bool) string {
	text := s.Text
	if follows && (s.Before == "||" || s.Before == "&&") {
		text = s.Before + " " + text
	}
	if s.After == "&" {
		text += " &"
	}
	return text
}

// judgeStatus decides what the exit status of a script says about its step main.
func (l *commandLine) judgeStatus(steps []toolcall.Step, main int) {
	of := &steps[main]
	l.piped = len(of.Commands) > 1 && !of.Group
	l.trusted = !l.piped && !of.Group && of.After != "&"
	for i := range main {
		sets := steps[i].Commands[0]
		l.strict = l.strict || sets[0] == "set" && len(sets) > 1 && strings.Contains(sets[1], "e")
	}
	for i := main + 1; i < len(steps); i++ {
		l.trusted = l.trusted && steps[i].Before == "&&" && steps[i].Line == of.Line
	}
	for i := range of.Commands {
		l.asks = l.asks || asking[of.Commands[i][0]]
	}
}

// rankOf returns how much a step looks like what its script is for.
func rankOf(s *toolcall.Step) int {
	switch c := classOf(s); {
	case c != acts:
		return int(c)
	case s.Inline:
		return int(acts)
	case isTest(s.Commands[0]):
		return int(acts) + 2
	}
	return int(acts) + 1
}

// core returns the text of a step without the filters behind it and without redirections of its
// messages.
func core(s *toolcall.Step) string {
	text := s.Text
	if len(s.Commands) > 1 && !slices.ContainsFunc(s.Commands[1:], func(words []string) bool { return !readers[words[0]] }) {
		text = s.Head
	}
	for _, redirection := range []string{" 2>&1", " 2>/dev/null", " 2> /dev/null"} {
		text = strings.ReplaceAll(text, redirection, "")
	}
	return text
}

// plain returns the words of a command without redirections.
func plain(words []string) (out []string) {
	for _, w := range words {
		if !strings.Contains(w, ">") && w != "<" {
			out = append(out, w)
		}
	}
	return out
}

// narrowing are options that select a part of what a command does. Their value follows them, or
// follows "=".
var narrowing = compress.WordSet("-run --run -k -t --grep --filter --tests --testNamePattern -Dtest --only --testcase --case -m --test --testPathPattern")

// valued are options whose next word is text that says nothing about the targets.
var valued = compress.WordSet("-m --message -c -e --eval -C -n -o --output")

// families are programs whose first operand says what they do.
var families = compress.WordSet(`git go npm yarn pnpm bun cargo docker podman kubectl helm pip pip3 conda apt apt-get brew dnf gh terraform systemctl dotnet gradle gradlew mvn mvnw poetry
	uv bundle rails manage.py composer flutter dart deno mix swift zig bazel make just task python python3 node ruby perl php bash sh`)

// covers reports whether the success of c ends the failure of f: the same program does the same,
// in the same directory, with the same targets or with all that contain them.
func (c *command) covers(f *command) bool {
	if len(c.words) == 0 || len(f.words) == 0 || c.words[0] != f.words[0] || !sameDir(c.dir, f.dir) {
		return false
	}
	targets, narrow := operands(c.words)
	failed, failedNarrow := operands(f.words)
	if narrow != "" && narrow != failedNarrow {
		return false
	}
	if families[c.words[0]] {
		if len(targets) == 0 || len(failed) == 0 {
			return len(targets) == len(failed)
		}
		if targets[0] != failed[0] && !(c.words[0] == "go" && targets[0] == "test" && failed[0] == "build") {
			return false
		}
		targets, failed = targets[1:], failed[1:]
	}
	if len(targets) == 0 {
		return len(failed) == 0 || c.words[0] != "go" && narrow == "" && isTest(c.words)
	}
	if len(failed) == 0 {
		return slices.Contains(targets, "./...")
	}
	for _, target := range failed {
		if !slices.ContainsFunc(targets, func(t string) bool { return contains(t, target) }) {
			return false
		}
	}
	return true
}

// isTest reports whether a command without targets checks everything.
func isTest(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "test") || w == "check" || w == "build" || w == "lint" || w == "jest" || w == "mypy" || w == "tsc"
	})
}

// sameDir reports whether two directories may be the same: an absolute one may be the unknown
// directory in which a script begins.
func sameDir(a, b string) bool {
	return a == b || a == "" && strings.HasPrefix(b, "/") || b == "" && strings.HasPrefix(a, "/")
}

// contains reports whether a target is another one, or a directory, a pattern, or a file of tests
// that contains it.
func contains(a, b string) bool {
	if a == b || a == "./..." || a == "." {
		return true
	}
	if dir, ok := strings.CutSuffix(a, "/..."); ok {
		return path.Clean(b) == path.Clean(dir) || strings.HasPrefix(path.Clean(b), path.Clean(dir)+"/")
	}
	return path.Clean(a) == path.Clean(b) || strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/") && !strings.HasSuffix(b, "...") || strings.HasPrefix(b, a+"::")
}

// operands returns the words of a command that are no options, and the value of a narrowing option.
func operands(words []string) (targets []string, narrow string) {
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, value, joined := strings.Cut(w, "=")
		switch {
		case narrowing[name] && !(words[0] == "git" && name == "-m"):
			if !joined && i+1 < len(words) {
				i++
				value = words[i]
			}
			narrow = value
		case valued[w]:
			i++
		case strings.HasPrefix(w, "-") || w == "" || strings.Contains(w, " ") || joined && !strings.Contains(name, "/"):
		default:
			targets = append(targets, w)
		}
	}
	return targets, narrow
}
