package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// row is one line of the table of measurements. Times are nanoseconds, sizes bytes.
type row struct {
	Work    string             `json:"work"`
	Unit    string             `json:"unit"` // "ns", "bytes", "share", "count", "MB/s", "/s" or "×"
	Figure  map[string]float64 `json:"figure"`
	Ratio   float64            `json:"ratio,omitempty"` // of ctxfs to Against
	Low     float64            `json:"low,omitempty"`   // the ends of the ratio's 95 % interval; 0: not known
	High    float64            `json:"high,omitempty"`
	Against string             `json:"against,omitempty"`
	Change  float64            `json:"change,omitempty"` // of ctxfs to the commit before, with its interval
	Lower   float64            `json:"change_low,omitempty"`
	Upper   float64            `json:"change_high,omitempty"`
	Goal    string             `json:"goal,omitempty"`
	Met     *bool              `json:"met,omitempty"`
}

type table struct {
	Machine string           `json:"machine"`
	Full    bool             `json:"full"`
	Whole   bool             `json:"whole"` // all groups were measured
	Rounds  int              `json:"rounds"`
	Load    float64          `json:"load"`             // of the machine, the median of readings before each group
	Before  string           `json:"before,omitempty"` // the commit that was measured beside this one
	Rows    []row            `json:"rows"`
	Reached map[string]reach `json:"goals"`
	Lengths []float64        `json:"lengths,omitempty"` // of the histories of Growth, in messages
	Growth  []grown          `json:"growth,omitempty"`
	Peers   []peer           `json:"peers,omitempty"`
}

// compare adds a row of a percentile of samples, with the ratio of ctxfs to another place ("": to none) and to the commit
// before, where that was measured. It returns the row for its figures.
func (t *table) compare(work, unit string, s samples, p float64, against string) row {
	r := row{Work: work, Unit: unit, Figure: s.figures(p)}
	if base := r.Figure[against]; base > 0 {
		r.Against, r.Ratio = against, r.Figure[ctxfs]/base
		r.Low, r.High = interval(s[ctxfs], s[against], p)
	}
	if base := r.Figure[before]; base > 0 {
		r.Change = r.Figure[ctxfs] / base
		r.Lower, r.Upper = interval(s[ctxfs], s[before], p)
	}
	t.Rows = append(t.Rows, r)
	return r
}

// ratio adds a row of figures whose goal is a ratio against another place.
func (t *table) ratio(work string, figure map[string]float64, against string, limit float64) {
	r := row{Work: work, Unit: "ns", Figure: figure, Against: against, Goal: fmt.Sprintf("≤ %g × %s", limit, against)}
	r.Ratio = figure[ctxfs] / figure[against]
	met := r.Ratio <= limit
	r.Met = &met
	t.Rows = append(t.Rows, r)
}

// absolute adds a row whose goal is a limit in its own unit; 0: no goal.
func (t *table) absolute(work, unit string, value, limit float64) {
	r := row{Work: work, Unit: unit, Figure: map[string]float64{ctxfs: value}}
	if limit > 0 {
		met := value <= limit
		r.Goal, r.Met = "≤ "+format(unit, limit), &met
	}
	t.Rows = append(t.Rows, r)
}

// share adds a row that is a part of a whole, 1 at most, without a goal.
func (t *table) share(work string, value float64) {
	t.Rows = append(t.Rows, row{Work: work, Unit: "share", Figure: map[string]float64{ctxfs: value}})
}

// heading returns what was measured where, in a line.
func (t *table) heading() string {
	kind := "smoke run, figures mean little"
	if t.Full {
		kind = "full run"
	}
	s := fmt.Sprintf("ctxfs bench, %s, median of %d rounds, %s, load %s", kind, t.Rounds, t.Machine, digits(t.Load))
	if t.Before != "" {
		s += ", beside commit " + t.Before
	}
	return s
}

// markdown returns all rows as a table.
func (t *table) markdown() string { return t.tableOf(t.Rows) }

// places returns as a table the rows that have another place beside ctxfs, but those whose other place is not a store.
func (t *table) places() string {
	var rows []row
	for _, r := range t.Rows {
		for _, p := range []string{native, loopback, mattn} {
			if _, ok := r.Figure[p]; ok && r.Goal == "" {
				rows = append(rows, r)
				break
			}
		}
	}
	return t.tableOf(rows)
}

// tableOf returns rows as a table with a column for each place that one of them has.
func (t *table) tableOf(rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	var columns []string
	for _, p := range places {
		for _, r := range rows {
			if _, ok := r.Figure[p]; ok {
				columns = append(columns, p)
				break
			}
		}
	}
	var b strings.Builder
	head := []string{"work"}
	rule := "| --- |"
	head = append(append(head, columns...), "ratio")
	rule += strings.Repeat(" ---: |", len(columns)+1)
	if t.Before != "" {
		head = append(head, "× before")
		rule += " ---: |"
	}
	fmt.Fprintf(&b, "| %s | goal |\n%s --- |\n", strings.Join(head, " | "), rule)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.Work)
		for _, p := range columns {
			if v, ok := r.Figure[p]; ok {
				fmt.Fprintf(&b, " %s |", format(r.Unit, v))
			} else {
				b.WriteString(" – |")
			}
		}
		fmt.Fprintf(&b, " %s |", strings.TrimSpace(times(r.Ratio, r.Low, r.High)+" "+r.Against))
		if t.Before != "" {
			fmt.Fprintf(&b, " %s |", times(r.Change, r.Lower, r.Upper))
		}
		verdict := ""
		if r.Met != nil {
			verdict = r.Goal + map[bool]string{true: ", met", false: ", **missed**"}[*r.Met]
		}
		fmt.Fprintf(&b, " %s |\n", verdict)
	}
	return b.String()
}

// times formats a ratio with its interval; "–" is for none.
func times(ratio, low, high float64) string {
	switch {
	case ratio <= 0:
		return "–"
	case low <= 0:
		return fmt.Sprintf("%s ×", digits(ratio))
	}
	return fmt.Sprintf("%s × [%s, %s]", digits(ratio), digits(low), digits(high))
}

// digits formats a number of about three digits without an exponent.
func digits(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.095:
		return fmt.Sprintf("%.2g", v)
	case v < 9.95:
		return fmt.Sprintf("%.2f", v)
	case v < 99.5:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func (t *table) json() []byte {
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

func format(unit string, v float64) string {
	switch unit {
	case "bytes":
		if v < 10_000 {
			return fmt.Sprintf("%.0f B", v)
		}
		return fmt.Sprintf("%.1f MB", v/1e6)
	case "share":
		if v < 0.01 {
			return fmt.Sprintf("%.3f %%", 100*v)
		}
		return fmt.Sprintf("%.1f %%", 100*v)
	case "count":
		return thousands(int(v))
	case "×", "/s", "MB/s":
		return digits(v) + " " + unit
	}
	switch {
	case v < 1e3:
		return fmt.Sprintf("%.0f ns", v)
	case v < 1e6:
		return fmt.Sprintf("%.3g µs", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.3g ms", v/1e6)
	default:
		return fmt.Sprintf("%.3g s", v/1e9)
	}
}

// load returns how many threads have run or waited for a processor in the last minute.
func load() (n float64) {
	fmt.Sscan(harness.Load(), &n)
	return n
}

func machine() string {
	cpu, release := "", ""
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		release, _, _ = strings.Cut(strings.TrimSpace(string(b)), "-")
	}
	return fmt.Sprintf("%d × %s, Linux %s, %s", runtime.NumCPU(), cpu, release, runtime.Version())
}
