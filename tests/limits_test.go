package tests

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	limitsFile   = "limits.txt"
	totalRow     = "total" // product code of all folders; the other columns have no total
	lowerCommand = "go test ./tests -run 'TestLimits$' -args -lower"
)

var lower = flag.Bool("lower", false, "lower the limits in limits.txt to the current figures")

const limitsHead = `# Limits of the code base, one row per top-level folder. The row docs includes the Markdown files of
# the root.
# counters_test.go defines the columns; "-" means that the column does not apply.
#
# Limits only shrink. After a change that lowers a figure, lower its limit with this command:
#
#	` + lowerCommand + `
#
# The command never raises a limit, and rounds a limit of code up to the next hundred, so that a fix
# of a few lines fits. To raise one, edit this file by hand in a separate commit; its
# message names the user-visible behavior that the lines buy. A commit that moves code to another
# folder may raise the row of that folder by the figure that moves.
`

// cell addresses one figure: a folder and a column.
type cell struct{ folder, column string }

// table maps each cell to its limit or to its current figure.
type table map[cell]int

// columns returns the columns of the table in their order.
func columns() (names []string) {
	for _, c := range slices.Concat(goCounters, docCounters) {
		names = append(names, c.column)
	}
	return names
}

// applies reports whether a cell has a figure. Only the product has a limit on code.
func applies(c cell) bool {
	if c.folder == totalRow {
		return c.column == "code"
	}
	return c.column != "code" || isProduct(c.folder)
}

// isProduct reports whether the code of a top-level folder is part of the product.
func isProduct(folder string) bool {
	return folder != "tests" && folder != "examples" && folder != "docs"
}

// group returns the row of a file: its top-level folder, or docs for a file of the root.
func group(name string) string {
	folder, _, nested := strings.Cut(name, "/")
	if !nested {
		return "docs"
	}
	return folder
}

// folders returns the folders of a table in alphabetical order, without the total.
func (t table) folders() []string {
	seen := map[string]bool{}
	for c := range t {
		seen[c.folder] = true
	}
	delete(seen, totalRow)
	return slices.Sorted(maps.Keys(seen))
}

// row formats the limits of one folder, aligned to the columns.
func (t table) row(folder string) string {
	var line strings.Builder
	fmt.Fprintf(&line, "%-10s", folder)
	for _, column := range columns() {
		figure := "-"
		if c := (cell{folder, column}); applies(c) {
			figure = strconv.Itoa(t[c])
		}
		fmt.Fprintf(&line, "  %*s", max(len(column), len("123456")), figure)
	}
	return line.String()
}

// format returns the contents of limits.txt.
func (t table) format() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%-10s", limitsHead, "folder")
	for _, column := range columns() {
		fmt.Fprintf(&out, "  %*s", max(len(column), len("123456")), column)
	}
	out.WriteByte('\n')

	for _, folder := range append(t.folders(), totalRow) {
		fmt.Fprintln(&out, t.row(folder))
	}
	return out.Bytes()
}

// parseLimits reads the contents of limits.txt. It returns an error if the columns do not match the
// counters, if a row occurs twice or out of order, or if the total is not the last row.
func parseLimits(text []byte) (table, error) {
	limits := table{}
	header, previous := false, ""

	for number, line := range numbered(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if !header {
			if want := append([]string{"folder"}, columns()...); !slices.Equal(fields, want) {
				return nil, fmt.Errorf("line %d: the columns are %q, want %q", number, fields, want)
			}
			header = true
			continue
		}

		folder := fields[0]
		if previous == totalRow || folder <= previous && folder != totalRow {
			return nil, fmt.Errorf("line %d: %s is out of order; sort the rows, %s last", number, folder, totalRow)
		}
		previous = folder
		if len(fields) != 1+len(columns()) {
			return nil, fmt.Errorf("line %d: %d fields, want %d", number, len(fields), 1+len(columns()))
		}
		for i, column := range columns() {
			c := cell{folder, column}
			if !applies(c) && fields[1+i] == "-" {
				continue
			}
			limit, err := strconv.Atoi(fields[1+i])
			if err != nil || limit < 0 || !applies(c) {
				return nil, fmt.Errorf("line %d: %s of %s cannot be %q", number, column, folder, fields[1+i])
			}
			limits[c] = limit
		}
	}

	if previous != totalRow {
		return nil, fmt.Errorf("the last row is not %s", totalRow)
	}
	return limits, nil
}

// measure computes the figures of the repository and the places that they count.
func measure(t *testing.T) (table, map[cell][]place) {
	t.Helper()
	figures, places := table{}, map[cell][]place{}
	apply := func(f source, counters []counter) {
		for _, column := range columns() {
			if c := (cell{group(f.name), column}); applies(c) {
				figures[c] += 0 // a folder without findings has a row
			}
		}
		for _, counter := range counters {
			c := cell{group(f.name), counter.column}
			for _, p := range counter.find(f) {
				figures[c] += p.count
				places[c] = append(places[c], p)
			}
		}
	}

	for _, f := range sources(t) {
		apply(f, goCounters)
	}
	for _, f := range repositoryFiles(t, ".md") {
		// The example session shows output of other programs.
		if !strings.HasPrefix(f.name, "examples/session") {
			apply(f, docCounters)
		}
	}

	total := cell{totalRow, "code"}
	for _, folder := range figures.folders() {
		c := cell{folder, "code"}
		figures[total] += figures[c]
		places[total] = append(places[total], places[c]...)
	}
	return figures, places
}

// slack returns the distance below a limit that a figure may have before the limit must be lowered.
func slack(c cell, limit int) int {
	if c.column == "code" {
		return 200
	}
	return max(5, limit/50)
}

// compare returns a message for each difference between limits and figures that needs a change.
// It lists the largest places of a figure above its limit.
func compare(limits, figures table, places map[cell][]place) (wrong []string) {
	for _, folder := range append(figures.folders(), totalRow) {
		if folder != totalRow && !slices.Contains(limits.folders(), folder) {
			wrong = append(wrong, fmt.Sprintf("no row for the folder %s; add this one:\n%s",
				folder, figures.row(folder)))
			continue
		}
		for _, column := range columns() {
			c := cell{folder, column}
			figure, limit := figures[c], limits[c]
			switch {
			case !applies(c):
			case figure > limit:
				wrong = append(wrong, fmt.Sprintf("%s: %s is %d, limit %d; reduce it, for example here:%s",
					folder, column, figure, limit, worst(places[c])))
			case figure < limit-slack(c, limit):
				wrong = append(wrong, fmt.Sprintf("%s: %s is %d, below its limit %d; lower the limit with\n\t%s",
					folder, column, figure, limit, lowerCommand))
			}
		}
	}

	for _, folder := range limits.folders() {
		if !slices.Contains(figures.folders(), folder) {
			wrong = append(wrong, fmt.Sprintf("%s: no such folder; remove its row with\n\t%s", folder, lowerCommand))
		}
	}
	return wrong
}

// worst lists up to ten places, largest first, each on a line.
func worst(places []place) (list string) {
	const most = 10
	ranked := slices.Clone(places)
	slices.SortFunc(ranked, func(a, b place) int {
		return cmp.Or(b.size-a.size, strings.Compare(a.file, b.file), a.line-b.line)
	})
	for _, p := range ranked[:min(most, len(ranked))] {
		list += "\n\t" + p.String()
	}
	if more := len(ranked) - most; more > 0 {
		list += fmt.Sprintf("\n\tand %d more", more)
	}
	return list
}

// lowered returns the limits without the rows of removed folders and with each limit reduced to its
// figure. It never raises a limit and never adds a row.
func lowered(limits, figures table) table {
	result := table{}
	for c, limit := range limits {
		if figure, ok := figures[c]; ok {
			result[c] = min(limit, lowest(c, figure))
		}
	}
	return result
}

// lowest returns the lowest limit of a figure: code has up to 99 lines left for small fixes.
func lowest(c cell, figure int) int {
	if c.column == "code" {
		return (figure + 99) / 100 * 100
	}
	return figure
}

func TestLimits(t *testing.T) {
	figures, places := measure(t)
	limits := table{}
	for c, figure := range figures {
		limits[c] = lowest(c, figure)
	}

	text, err := os.ReadFile(limitsFile)
	switch {
	case err == nil:
		if limits, err = parseLimits(text); err != nil {
			t.Fatalf("tests/%s: %v", limitsFile, err)
		}
	case !os.IsNotExist(err) || !*lower: // without a file, -lower writes the current figures
		t.Fatal(err)
	}

	if *lower {
		limits = lowered(limits, figures)
		if err := os.WriteFile(limitsFile, limits.format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, message := range compare(limits, figures, places) {
		t.Errorf("tests/%s: %s", limitsFile, message)
	}
}

func TestLimitsFormat(t *testing.T) {
	limits := table{{totalRow, "code"}: 7}
	for i, column := range columns() {
		limits[cell{"fs", column}] = 10 + i
		if column != "code" {
			limits[cell{"docs", column}] = 0
		}
	}
	text := string(limits.format())
	if got, err := parseLimits([]byte(text)); err != nil || !maps.Equal(got, limits) {
		t.Errorf("parsed %v, %v, want %v from\n%s", got, err, limits, text)
	}

	row := limits.row("fs") + "\n"
	for name, broken := range map[string]string{
		"column":    strings.Replace(text, "walls", "halls", 1),
		"duplicate": strings.Replace(text, row, row+row, 1),
		"order":     strings.Replace(text, row, row+limits.row("cmd")+"\n", 1),
		"negative":  strings.Replace(text, row, strings.Replace(row, "10", "-1", 1), 1),
		"dash":      strings.Replace(text, row, strings.Replace(row, "10", " -", 1), 1),
		"field":     strings.Replace(text, row, strings.Replace(row, "10", "", 1), 1),
		"number":    strings.Replace(text, row, strings.Replace(row, "fs  ", "docs", 1), 1),
		"total":     strings.TrimSuffix(text, limits.row(totalRow)+"\n"),
		"after":     text + row,
		"empty":     "",
	} {
		if _, err := parseLimits([]byte(broken)); err == nil {
			t.Errorf("%s: no error for\n%s", name, broken)
		}
	}
}

func TestCompare(t *testing.T) {
	code, walls, gone := cell{"fs", "code"}, cell{"fs", "walls"}, cell{"gone", "walls"}
	total := cell{totalRow, "code"}
	limits := table{code: 1000, walls: 10, total: 1000}
	with := func(change table) table {
		figures := maps.Clone(limits)
		maps.Copy(figures, change)
		return figures
	}
	places := map[cell][]place{walls: {
		{"fs/a.go", 3, 1, 22, "short"}, {"fs/b.go", 4, 1, 99, "long"},
	}}

	for _, c := range []struct {
		name            string
		limits, figures table
		want            []string // the beginning of each message
	}{
		{"equal", limits, limits, nil},
		{"slack", limits, with(table{code: 800, total: 800, walls: 5}), nil},
		{"above", limits, with(table{walls: 11}), []string{
			"fs: walls is 11, limit 10; reduce it, for example here:\n\tfs/b.go:4: long\n\tfs/a.go:3: short"}},
		{"total", with(table{total: 900}), limits, []string{"total: code is 1000, limit 900"}},
		{"below", limits, with(table{code: 799, walls: 4}), []string{
			"fs: code is 799, below its limit 1000; lower", "fs: walls is 4, below its limit 10; lower"}},
		{"new folder", table{total: 1000}, limits, []string{"no row for the folder fs; add this one:\nfs "}},
		{"removed folder", with(table{gone: 0}), limits, []string{"gone: no such folder"}},
	} {
		got := compare(c.limits, c.figures, places)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestLowered(t *testing.T) {
	fallen, risen, gone, added := cell{"fs", "code"}, cell{"fs", "walls"}, cell{"gone", "walls"}, cell{"run", "walls"}
	got := lowered(table{fallen: 1000, risen: 10, gone: 10}, table{fallen: 301, risen: 11, added: 1})
	if want := (table{fallen: 400, risen: 10}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGroup(t *testing.T) {
	for name, want := range map[string]string{
		"README.md": "docs", "docs/abi.md": "docs", "pack/build/at.go": "pack", "cmd/ctxfs/main.go": "cmd",
	} {
		if got := group(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
