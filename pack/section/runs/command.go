package runs

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

var (
	// quietCommands only show, prepare, move, or delete something: they are listed only if they fail.
	quietCommands = compress.WordSet(`cd pushd popd echo printf export set unset source . alias true false : sleep wait pwd ls
		cat head tail less more bat nl sed awk cut sort uniq wc tr tee xargs column which type command trap read shopt ulimit
		umask clear date env printenv grep egrep fgrep zgrep rg ag ack find fd tree file stat du df test [ [[ diff cmp jq yq
		tput stty local declare return exit shift strings xxd od hexdump ps top whoami id uname hostname history man help expr
		basename dirname realpath readlink base64 md5sum sha256sum Get-Content Get-ChildItem Select-String Write-Output
		Write-Host Set-Location dir cp mv rm rmdir ln chown chmod mkdir touch kill pkill killall code install truncate unzip
		tar zip gzip New-Item Remove-Item Copy-Item Move-Item Set-Content open create edit insert submit exit_forfeit goto
		scroll_up scroll_down search_file search_dir find_file set_cursors`)
	quietGit = compress.WordSet(`status log show diff blame grep ls-files ls-tree rev-parse branch remote describe reflog config
		shortlog cat-file add mv rm init stash`)

	// askingCommands answer "no" with the exit status 1.
	askingCommands = compress.WordSet(`grep egrep fgrep zgrep rg ag ack diff cmp test [ [[ pgrep which type command expr jq find`)
)

// script is what decides about the run of a shell script, or of a part of it.
type script struct {
	name, key, dir string
	quiet          bool     // no command does more than isQuiet says
	checks         []string // its commands that are not quiet; their words are separated by "\x00"

	chained bool // a command runs only if those before it succeeded
	trusted bool // the exit status 0 means that all commands succeeded
	asks    bool // an exit status of 1 is an answer
}

// stepsOf returns the steps of a script without the text of an edit.
func stepsOf(text string) []toolcall.Step {
	text, _, _ = strings.Cut(text, "\nend_of_edit") // what precedes is the text of an edit
	if strings.HasPrefix(text, "edit ") {
		text, _, _ = strings.Cut(text, "\n")
	}
	return toolcall.Steps(text)
}

func isLoudStep(s *toolcall.Step) bool { return slices.ContainsFunc(s.Commands, isLoud) }

// isMain reports whether a step does more than isQuiet says, and is no edit by a here-document.
func isMain(s *toolcall.Step) bool { return isLoudStep(s) && !s.Inline }

// testLines returns the command lines of a script that test, build, or check something, with the cd
// commands before them, or the whole script if there is none. others is true if the rest of the script
// does more than isQuiet says.
func testLines(steps []toolcall.Step) (part []toolcall.Step, others bool) {
	isTestLine := map[int]bool{}
	last := -1
	for i := range steps {
		if s := &steps[i]; isMain(s) && !s.Group && isTest(s.Commands[0]) {
			isTestLine[s.Line] = true
			last = i
		}
	}
	if last < 0 {
		return steps, false
	}
	for i := range steps {
		switch s := &steps[i]; {
		case isTestLine[s.Line], i < last && s.Commands[0][0] == "cd":
			part = append(part, *s)
		default:
			others = others || isMain(s)
		}
	}
	return part, others
}

// scriptOf returns what decides about the run of steps. Its key consists of the commands that are
// not quiet, without filters of their output and without edits by here-documents; it is text if
// there are none.
func scriptOf(steps []toolcall.Step, text string) script {
	s := script{name: toolcall.CommandLine(steps), quiet: true, chained: true, trusted: true}
	whole := true
	for i := range steps {
		s.quiet = s.quiet && !isLoudStep(&steps[i])
		whole = whole && !isMain(&steps[i])
	}

	var keys []string
	for _, one := range steps {
		s.asks = s.asks || slices.ContainsFunc(one.Commands, func(words []string) bool { return askingCommands[words[0]] })
		follows := len(keys) > 0
		s.trusted = s.trusted && (!follows || one.Before == "&&")
		if !whole && !isMain(&one) {
			continue
		}
		if !follows {
			s.dir = one.Dir
		}
		keys = append(keys, withoutFilter(&one))
		s.checks = append(s.checks, checkOf(&one))
		s.chained = s.chained && (!follows || one.Before == "&&")
		s.trusted = s.trusted && len(one.Commands) == 1 && !one.Group && one.After != "&"
	}
	if s.key = "$" + strings.Join(keys, " && "); whole {
		s.key, s.checks = "$"+text, nil
	}
	return s
}

// withoutFilter returns the text of a step without the programs that only show its output and
// without redirections of its messages.
func withoutFilter(s *toolcall.Step) string {
	text := s.Text
	if !s.Group && !slices.ContainsFunc(s.Commands[1:], isLoud) {
		text = s.Head
	}
	return strings.NewReplacer(" 2>&1", "", " 2>/dev/null", "", " 2> /dev/null", "").Replace(text)
}

// shellRun returns the run of a shell script, or nil if the script has no command.
func shellRun(d *toolcall.Done, text string, status toolcall.Status) *run {
	steps := stepsOf(text)
	s := scriptOf(steps, text)
	if s.name == "" {
		return nil
	}
	part, others := testLines(steps)
	test := scriptOf(part, text)
	r := &run{key: test.key, dir: test.dir, name: s.name, checks: test.checks, quiet: s.quiet}
	output := toolcall.Body(d)
	lines := informative(output)
	says, quote := silent, ""
	if !s.quiet {
		says, quote = judge(lines, s.name)
	}
	r.exit = toolcall.ExitOf(d)
	answersNo := s.asks && (r.exit == "1" || r.exit == "" && len(lines) == 0)
	switch {
	case status == toolcall.Failed && !answersNo, says == fails,
		says == errs && !(status == toolcall.Succeeded && s.trusted):
		r.outcome = failed
	case says == passes && test.chained && !d.Result.Cut:
		r.outcome = passed
	case status == toolcall.Succeeded && s.trusted:
		r.outcome = exitZero
	}
	switch {
	case says == fails, r.outcome == passed:
		r.name = test.name
	case others && (says != errs || status == toolcall.Failed || slices.ContainsFunc(lines, saysPass)):
		// another command may have failed
		r.key, r.dir, r.checks = s.key, s.dir, s.checks
	}
	r.said = saidBy(r.outcome, output, lines, quote)
	return r
}

// saysPass reports whether a line says that tests passed.
func saysPass(line string) bool {
	says, _ := summaryOf(line)
	return says == passes || line == "OK" || sayingOf(line, false) == passes
}
