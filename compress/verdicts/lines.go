package verdicts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Options are how [State.Lines] shows verdicts.
type Options struct {
	Chars int                 // how many bytes the lines may take, newlines among them
	Where func(at int) string // how a place is called; nil: by its number
	Since int                 // only what ran or was mended behind this place is shown
}

// Bounds of a line, in bytes.
const (
	maxLine = 360
	maxWas  = 100 // of the reason of a failure that something made up for
)

// Lines returns a line for each verdict, the newest first: those that failed and are not mended, then those
// that went well, then those that are mended, as many as o.Chars bytes hold.
func (s State) Lines(o Options) (out []string) {
	if o.Where == nil {
		o.Where = strconv.Itoa
	}
	left := o.Chars
	for _, of := range []func(v *Verdict) bool{
		func(v *Verdict) bool { return v.Mended == 0 && (v.Outcome == Failed || v.Outcome == Stopped) },
		func(v *Verdict) bool { return v.Mended == 0 && (v.Outcome == Passed || v.Outcome == Unknown) },
		func(v *Verdict) bool { return v.Mended > 0 },
	} {
		for _, v := range slices.Backward(s.list) {
			if !of(v) || max(v.At, v.Mended) <= o.Since {
				continue
			}
			line := v.Line(o.Where)
			if len(line)+1 > left {
				return out
			}
			left -= len(line) + 1
			out = append(out, line)
		}
	}
	return out
}

// Line returns a verdict in one line.
func (v *Verdict) Line(where func(at int) string) string {
	var b strings.Builder
	b.WriteString(short(v.What, 140) + ": ")
	if v.Mended > 0 {
		how := "mended by"
		if v.Likely {
			how = "no failure seen since by"
		}
		fmt.Fprintf(&b, "failed (%s%s), %s %s (%s)", where(v.At), v.was(), how, short(v.By, 80), where(v.Mended))
		return b.String()
	}
	rep := &v.Report
	var counts []string
	add := func(n int, what string) {
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(rep.Passed, "passed")
	add(rep.Failed, "failed")
	if rep.Errors == 1 {
		add(1, "error")
	} else {
		add(rep.Errors, "errors")
	}
	add(rep.Skipped, "skipped")
	said := strings.Join(counts, ", ")
	switch v.Outcome {
	case Passed:
		if said == "" {
			said = "ok"
		}
	case Unknown:
		if said == "" {
			said = "no failure seen"
		}
	case Stopped:
		said = strings.TrimSuffix("stopped before its end, "+said, ", ")
	default:
		if rep.Failed+rep.Errors == 0 {
			said = strings.TrimPrefix(said+", failed", ", ")
			if v.Exit != "" {
				said = strings.TrimSuffix(said, "failed") + "exit " + v.Exit
			}
		}
	}
	b.WriteString(said + " (" + where(v.At) + ")")
	if v.Before > 0 {
		b.WriteString(", failed before (" + where(v.Before) + v.was() + ")")
	}
	if v.Outcome != Failed && v.Outcome != Stopped {
		if v.Said != "" {
			b.WriteString(": " + v.Said)
		}
		return b.String()
	}
	names := rep.leaves()
	if len(names) > 0 {
		b.WriteString(": " + strings.Join(names, ", "))
		if more := rep.Failed - len(names); more > 0 && len(names) >= maxNames-1 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	if rep.Why != "" && b.Len() < maxLine-40 {
		sep := ": "
		if len(names) > 0 {
			sep = "; "
		}
		b.WriteString(sep + rep.Why)
	}
	return compress.Clip(b.String(), maxLine)
}

// was returns the reason of a failure that something made up for, as it follows the place.
func (v *Verdict) was() string {
	if v.Was == "" {
		return ""
	}
	return ": " + compress.Clip(v.Was, maxWas)
}
