package runs

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

var (
	testWords = compress.WordSet("check build vet jest mypy tsc")

	// narrowing are options that select a part of what a command tests, most with a value.
	narrowing = compress.WordSet(`-run --run -k -t --grep --filter --tests --testNamePattern -Dtest --only --testcase --case -m --test
		--testPathPattern`)

	// harmless are options that do not decide what a command does.
	harmless = compress.WordSet(`-v -vv -q -s -x -f -- --verbose --quiet --force --force-with-lease -count --count --no-cache --tb --color
		--watch --watchAll --ci --no-header -rA`)
)

// isTest reports whether a command tests, builds, or checks something.
func isTest(words []string) bool {
	return words[0] != "git" && slices.ContainsFunc(words, func(w string) bool {
		isName := strings.Contains(w, "test") && !strings.Contains(w, "latest") || strings.Contains(w, "lint")
		return testWords[w] || isName && !strings.Contains(w, " ")
	})
}

// checkOf returns the words of a step that is one command with filters behind it, without
// redirections; "" for any other step.
func checkOf(s *toolcall.Step) string {
	if s.Group || s.Inline || slices.ContainsFunc(s.Commands[1:], isLoud) {
		return ""
	}
	words := slices.DeleteFunc(slices.Clone(s.Commands[0]), func(w string) bool { return strings.ContainsAny(w, "<>") })
	return strings.Join(words, "\x00")
}

// ends reports whether r is a success that ends the failure of another script in the same directory:
// for each command of it, r has the same command or one that does more.
func (r *run) ends(other *run) bool {
	if r.outcome != passed && r.outcome != exitZero || other.outcome != failed || !sameDir(r.dir, other.dir) {
		return false
	}
	return len(other.checks) > 0 && !slices.ContainsFunc(other.checks, func(f string) bool {
		return !slices.ContainsFunc(r.checks, func(c string) bool { return covers(c, f) })
	})
}

// covers reports whether the success of the command c includes the one of f: the same program has
// the same options and the same targets, or targets that contain them.
func covers(c, f string) bool {
	if c == "" || f == "" {
		return false
	}
	words := strings.Split(c, "\x00")
	targets, options, narrow := operands(words)
	failed, failedOptions, failedNarrow := operands(strings.Split(f, "\x00"))
	isGo := words[0] == "go"
	all := slices.Contains(targets, "./...")
	switch {
	case words[0] != failed[0], !slices.Equal(options, failedOptions), len(narrow) > 0 && !slices.Equal(narrow, failedNarrow):
		return false
	case len(targets) < len(failed) && slices.Equal(targets, failed[:len(targets)]):
		return isTest(words) && !isGo && words[0] != "make" // without targets it tests all
	case len(targets) > len(failed) && !all, min(len(targets), len(failed)) > 1 && !contains(targets[1], failed[1], isGo):
		return false
	}
	return !slices.ContainsFunc(failed, func(target string) bool {
		return !slices.ContainsFunc(targets, func(t string) bool { return contains(t, target, isGo) })
	})
}

// contains reports whether a target is another one, or a pattern or a directory that contains it. A
// directory of go does not contain those below it.
func contains(a, b string, isGo bool) bool {
	if dir, ok := strings.CutSuffix(a, "/..."); ok {
		dir, b = path.Clean(dir), path.Clean(strings.TrimSuffix(b, "/..."))
		return dir == "." && !strings.HasPrefix(b, "../") && !path.IsAbs(b) || b == dir || strings.HasPrefix(b, dir+"/")
	}
	return a == b || !isGo && (strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/") || strings.HasPrefix(b, a+"::"))
}

// operands returns the program and the operands of a command, its options that are not harmless, and
// those that narrow it, with their values.
func operands(words []string) (targets, options, narrow []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, _, joined := strings.Cut(w, "=")
		switch {
		case narrowing[name] && words[0] != "git":
			if !joined && i+1 < len(words) {
				i++
				w += "=" + words[i]
			}
			narrow = append(narrow, w)
		case harmless[name]:
		case strings.HasPrefix(w, "-"):
			options = append(options, w)
		default:
			targets = append(targets, w)
		}
	}
	return targets, options, narrow
}

// isQuiet reports whether a command only shows, prepares, moves, or deletes something.
func isQuiet(words []string) bool {
	if words[0] != "git" {
		return quietCommands[words[0]]
	}
	sub := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "/") })
	return sub < 0 || quietGit[words[sub+1]]
}

func isLoud(words []string) bool { return !isQuiet(words) }

// sameDir reports whether two directories may be the same: an absolute one may be the unknown
// directory in which a script begins.
func sameDir(a, b string) bool {
	return a == b || a == "" && strings.HasPrefix(b, "/") || b == "" && strings.HasPrefix(a, "/")
}
