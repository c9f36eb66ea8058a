package gc

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Report is the result of a plan or a sweep of one session, as context/gc.report shows it.
type Report struct {
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Run     string    `json:"run"` // RunPlan or RunSweep
	Policy  string    `json:"policy"`
	Removed Group     `json:"removed"` // what went
	Waiting Group     `json:"waiting"` // candidates: of a sweep those that it marked
	Failed  Group     `json:"failed"`  // what could not be removed
	Kept    Group     `json:"kept"`
}

// The kinds of run.
const (
	RunPlan  = "plan"
	RunSweep = "sweep"
)

// maxRows is how many rows a group shows at most.
const maxRows = 200

// Group is the rows of one verdict. Of more than [maxRows] it has the first, and that of the
// session itself.
type Group struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
	Rows  []Row `json:"rows"`
}

// Row is one item.
type Row struct {
	Kind   Kind   `json:"kind"`
	Bytes  int64  `json:"bytes"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func newReport(ref ctxabi.Ref, p *Plan) *Report {
	r := &Report{Session: ref.Path(), At: p.At.UTC().Truncate(time.Second), Run: RunSweep, Policy: policyText(p.Policy)}
	for _, g := range []*Group{&r.Removed, &r.Waiting, &r.Failed, &r.Kept} {
		g.Rows = []Row{}
	}
	for _, it := range p.Stay {
		r.add(&r.Kept, it.Item, it.Reason)
	}
	return r
}

func (r *Report) add(g *Group, it Item, reason string) {
	g.Count++
	g.Bytes += it.Size
	if len(g.Rows) < maxRows || it.Kind == Whole {
		g.Rows = append(g.Rows, Row{it.Kind, it.Size, plain(it.Path), plain(reason)})
	}
}

// plan makes r the report of a plan: what may go waits.
func (r *Report) plan(p *Plan) {
	r.Run = RunPlan
	for _, it := range p.Go {
		r.add(&r.Waiting, it.Item, it.Reason)
	}
}

// RemovedWhole turns the report of a plan into that of a sweep that removed the session.
func (r *Report) RemovedWhole() {
	r.Run = RunSweep
	var whole Group
	for _, g := range []*Group{&r.Waiting, &r.Kept} { // an age may have come since the plan
		for _, row := range g.Rows {
			if row.Kind == Whole {
				whole = Group{1, row.Bytes, []Row{row}}
			}
		}
		*g = Group{Rows: []Row{}}
	}
	r.Removed = whole
}

// plain returns s without control characters, so that a name which a user chose is one field of a
// row.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// quiet reports whether a sweep found nothing to do.
func (r *Report) quiet() bool { return r.Removed.Count+r.Waiting.Count+r.Failed.Count == 0 }

// groups returns the groups with the words that begin their rows.
func (r *Report) groups() []struct {
	word string
	g    *Group
} {
	return []struct {
		word string
		g    *Group
	}{{"removed", &r.Removed}, {"waiting", &r.Waiting}, {"failed", &r.Failed}, {"kept", &r.Kept}}
}

// Text returns the report as context/gc.report holds it: a line for each number, an empty line, and
// for each item a row of five fields with tabs between them.
func (r *Report) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "session %s\nrun %s %s\npolicy %s\n", r.Session, r.Run, r.At.Format(time.RFC3339), r.Policy)
	for _, g := range r.groups() {
		fmt.Fprintf(&b, "%s %d, %d bytes\n", g.word, g.g.Count, g.g.Bytes)
	}
	b.WriteByte('\n')
	for _, g := range r.groups() {
		for _, row := range g.g.Rows {
			fmt.Fprintf(&b, "%s\t%s\t%d\t%s\t%s\n", g.word, row.Kind, row.Bytes, row.Path, row.Reason)
		}
		if more := g.g.Count - len(g.g.Rows); more > 0 {
			fmt.Fprintf(&b, "%s\t...\t\t%d more\t\n", g.word, more)
		}
	}
	return b.Bytes()
}

// ParseReport parses what [Report.Text] returned. It returns ctxabi.ErrMalformed if text is nothing
// like that.
func ParseReport(text []byte) (*Report, error) {
	r := newReport(ctxabi.Ref{}, &Plan{})
	bad := func(line string) (*Report, error) {
		return nil, ctxabi.E("read", ctxabi.GCReportFile, ctxabi.ErrMalformed, "%.80q is not a line of a report", line)
	}
	head, rows, _ := strings.Cut(string(text), "\n\n")
	group := map[string]*Group{}
	for _, g := range r.groups() {
		group[g.word] = g.g
	}
	for _, line := range strings.Split(strings.TrimSuffix(head, "\n"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch {
		case word == "session":
			r.Session = rest
		case word == "policy":
			r.Policy = rest
		case word == "run":
			var at string
			r.Run, at, _ = strings.Cut(rest, " ")
			r.At, err = time.Parse(time.RFC3339, at)
		case group[word] != nil:
			g := group[word]
			_, err = fmt.Sscanf(rest, "%d, %d bytes", &g.Count, &g.Bytes)
		default:
			return bad(line)
		}
		if err != nil {
			return bad(line)
		}
	}
	for line := range strings.Lines(rows) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 || group[f[0]] == nil {
			return bad(line)
		}
		if f[1] == "..." {
			continue
		}
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return bad(line)
		}
		g := group[f[0]]
		g.Rows = append(g.Rows, Row{Kind(f[1]), n, f[3], f[4]})
	}
	return r, nil
}

// NoReport returns the text of context/gc.report before the first plan.
func NoReport(ref ctxabi.Ref, p ctxabi.Policy) []byte {
	return fmt.Appendf(nil, "session %s\npolicy %s\n", ref.Path(), policyText(p))
}

// policyText returns the policy in one line.
func policyText(p ctxabi.Policy) string {
	flag := map[bool]int{true: 1}
	return fmt.Sprintf("pack_ttl=%s swap_ttl=%s dedup_min_refs=%d keep_messages=%d keep_events=%d archive_after=%s delete_after=%s",
		span(p.PackTTL), span(p.SwapTTL), p.DedupMinRefs, flag[p.KeepMessages], flag[p.KeepEvents], span(p.ArchiveAfter), span(p.DeleteAfter))
}

// span returns a duration as gc.policy has it, in its two largest units: 30d, 1d12h, 1m30s.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0"
	case d < time.Millisecond:
		return d.String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	var b strings.Builder
	parts := 0
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / u.d; n > 0 && parts < 2 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.d
			parts++
		} else if parts > 0 {
			break
		}
	}
	return b.String()
}
