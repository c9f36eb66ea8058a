package verdicts

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/internal/coder"
)

// MaxVerdicts is how many verdicts a [State] holds; the oldest leave, those that are mended first.
const MaxVerdicts = 64

// Outcome is how a run ended.
type Outcome uint8

const (
	Unknown Outcome = iota // its output is cut or filtered, and says nothing of a failure
	Passed
	Failed
	Stopped
)

// Verdict is the newest result of one command.
type Verdict struct {
	What    string // the command, without what may differ when it is run again
	At      int    // the place of the result
	Runs    int    // how often it ran
	Outcome Outcome
	Exit    string // the exit status that is not 0, if it is named
	Report  Report
	Said    string // of a program that went well: the last line of what it put out, if that is short
	Mended  int    // the place of the result that made up for a failure; 0 for none
	By      string // the command that did
	Likely  bool   // of that command only no failure is seen
	Before  int    // the place of the failure that this run of the same command made up for
	Was     string // why that one failed, or this one before it was mended

	deed notes.Action
	code string // of a program that stands in the script itself: the script
}

// State are the verdicts of the records up to one place, the oldest first. The zero State has none. It is a
// value: Apply leaves the receiver as it is.
type State struct {
	open toolcall.Open
	list []*Verdict // neither is changed once it is in a State
}

// Verdicts returns them, the oldest first. The caller must not change them.
func (s State) Verdicts() []*Verdict { return s.list }

// Code writes s, or reads what was written.
func (s *State) Code(c *coder.Coder) {
	s.open.Code(c)
	coder.Pointers(c, &s.list, func(v *Verdict) {
		coder.Text(c, &v.What, &v.Exit, &v.Said, &v.By, &v.Was, &v.code, &v.Report.Why)
		coder.Number(c, &v.At, &v.Runs, &v.Mended, &v.Before)
		coder.Number(c, &v.Outcome)
		c.Flag(&v.Likely)
		r := &v.Report
		coder.Number(c, &r.Passed, &r.Failed, &r.Errors, &r.Skipped)
		c.Flag(&r.Counted, &r.Good, &r.Bad)
		coder.List(c, &r.Names, func(name *string) { coder.Text(c, name) })
		v.deed.Code(c)
	})
}

// Apply returns the state after a record. Records come in the order of their places.
func (s State) Apply(r toolcall.Record) State {
	if len(r.Calls) == 0 && len(r.Results) == 0 {
		return s
	}
	open, done := s.open.Next(r)
	s.open = open
	for i := range done {
		if !done[i].Open {
			s = s.after(&done[i])
		}
	}
	return s
}

// after returns the state after a call.
func (s State) after(d *toolcall.Done) State {
	deed := notes.ActionOf(d.Tool, d.Arguments)
	what := deed.What()
	if _, script := toolcall.Script(d.Tool, d.Arguments); !script && deed.Checks() {
		what = d.Tool // run_tests
	}
	code := ""
	if inline[what] { // another program each time
		script, _ := toolcall.Script(d.Tool, d.Arguments)
		code, what = script, what+" (inline)"
	}
	status := toolcall.StatusOf(d.Result)
	if what == "" || status == toolcall.NotRun {
		return s
	}
	v := verdictOf(d, deed, status)
	v.code = code
	if v.What = compress.Clip(what, 140); (v.Outcome == Passed || v.Outcome == Unknown) && !deed.Checks() && !v.Report.Counted && !v.Report.Good && v.Said == "" && !s.tried(&v) {
		return s // a command that went well, and decides nothing
	}
	return s.with(&v)
}

// inline are commands that run a program in the script itself: python - <<EOF, node -e.
var inline = compress.WordSet("python python3 python2 node perl ruby php bash sh deno lua Rscript")

// same reports whether v is of the same command as old.
func (v *Verdict) same(old *Verdict) bool { return v.What == old.What && v.code == old.code }

// includes reports whether v is of a command that old's is a part of.
func (v *Verdict) includes(old *Verdict) bool {
	return v.code == "" && old.code == "" && v.deed.Mends(old.deed)
}

// verdictOf returns how a call ended.
func verdictOf(d *toolcall.Done, deed notes.Action, status toolcall.Status) Verdict {
	text := toolcall.Body(d.Result.Text)
	v := Verdict{At: d.At, Runs: 1, deed: deed, Report: Read(text), Outcome: Unknown}
	failed := toolcall.HowEnded(ends(d.Result.Text), d.Result.Exit, d.Result.Failed).Failed(deed)
	switch {
	case status == toolcall.Stopped:
		v.Outcome = Stopped
	case status == toolcall.Failed && failed:
		v.Outcome, v.Exit = Failed, toolcall.ExitOf(d.Result)
	case v.Report.Bad && deed.Checks(), failed:
		v.Outcome = Failed
	case status == toolcall.Succeeded && deed.Shown(), v.Report.Good:
		v.Outcome = Passed
	case deed.Shown() && !d.Result.Cut && !v.Report.Bad:
		v.Outcome = Passed
	}
	if v.Outcome == Passed || v.Outcome == Unknown {
		if v.Report.Why = ""; v.Outcome == Passed && !deed.Checks() {
			v.Said = lastOfFew(text)
		}
	}
	return v
}

// Of an output of so few lines, and so few bytes, the last line is kept.
const (
	fewLines = 3
	fewBytes = 400
)

// lastOfFew returns the last line of a short output.
func lastOfFew(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > fewBytes || strings.Count(text, "\n") >= fewLines {
		return ""
	}
	if last := short(text[strings.LastIndexByte(text, '\n')+1:], 120); last != "(no output)" {
		return last
	}
	return ""
}

// tried reports whether there is a verdict that v takes the place of, or mends.
func (s State) tried(v *Verdict) bool {
	return slices.ContainsFunc(s.list, func(old *Verdict) bool {
		return v.same(old) || old.Outcome != Passed && old.Mended == 0 && v.includes(old)
	})
}

// with returns the state with one more verdict.
func (s State) with(v *Verdict) State {
	list := make([]*Verdict, 0, len(s.list)+1)
	for _, old := range s.list {
		includes := v.includes(old)
		switch {
		case v.same(old):
			v.Runs += old.Runs
			if v.Outcome != Failed && v.Outcome != Stopped && (old.Outcome == Failed || old.Outcome == Stopped) && old.Mended == 0 {
				v.Before, v.Was = old.At, old.Report.Why
			}
			continue
		case v.Outcome == Failed && includes && v.deed.Checks():
			continue // the newer one tells of it, too
		case (v.Outcome == Passed || v.Outcome == Unknown) && includes && (old.Outcome == Failed || old.Outcome == Stopped) && (old.Mended == 0 || old.Likely):
			m := *old
			m.Mended, m.By, m.Likely, m.Was = v.At, v.What, v.Outcome == Unknown, old.Report.Why
			old = &m
		}
		list = append(list, old)
	}
	list = append(list, v)
	if len(list) > MaxVerdicts {
		i := max(0, slices.IndexFunc(list, func(v *Verdict) bool { return v.Mended > 0 || v.Outcome == Passed && !v.deed.Checks() }))
		list = slices.Delete(list, i, i+1)
	}
	s.list = list
	return s
}

// short returns a command in one line of at most n bytes.
func short(what string, n int) string {
	return compress.Clip(strings.Join(strings.Fields(what), " "), n)
}
