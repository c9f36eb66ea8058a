package harness

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A tour is a Markdown document that shows a shell at work: fenced blocks
// marked console, in which a line "$ command" (and lines "> more" right below
// it) is typed and the lines that follow are what it prints.
var (
	consoleBlock = regexp.MustCompile("(?ms)^````console\n(.*?)^````$|^```console\n(.*?)^```$") // four around what holds three
	shellPrefix  = regexp.MustCompile(`(?m)^(bash|/usr/bin/bash|bash): line \d+: `)
)

// TourCommands returns the commands of a document, in order.
func TourCommands(doc string) (commands []string) {
	for _, block := range consoleBlock.FindAllStringSubmatch(doc, -1) {
		typed := false
		for _, line := range strings.Split(block[1]+block[2], "\n") {
			if c, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, c)
				typed = true
			} else if more, ok := strings.CutPrefix(line+" ", "> "); ok && typed {
				commands[len(commands)-1] += "\n" + strings.TrimSuffix(more, " ")
			} else {
				typed = false
			}
		}
	}
	return commands
}

// Tour runs a document's commands one after the other in one shell, which c
// describes (its Argv is not used), and gives the document as this run would
// write it. /ctx stands for the mountpoint, and home/1000 in what is printed
// for the home of c.
func (m *Mount) Tour(tb testing.TB, doc string, c Client) string {
	tb.Helper()
	commands := TourCommands(doc)
	const mark = "\x01next\n"
	var script strings.Builder
	script.WriteString("exec 2>&1\n")
	for _, typed := range commands {
		fmt.Fprintf(&script, "printf '\\1next\\n'\n%s\n", strings.ReplaceAll(typed, "/ctx", m.Dir))
	}
	c.Argv = []string{"bash", "-c", script.String()}
	r := m.Run(tb, c)
	out := shellPrefix.ReplaceAllString(strings.ReplaceAll(r.Stdout, m.Dir, "/ctx"), "bash: ")
	out = strings.ReplaceAll(out, fmt.Sprintf("home/%d/", c.UID), "home/1000/")
	outputs := strings.Split(out, mark)
	if len(outputs) != len(commands)+1 {
		tb.Fatalf("%d commands printed %d parts:\n%s\n%s", len(commands), len(outputs)-1, r.Stdout, r.Stderr)
	}
	outputs = outputs[1:]
	n := 0
	return consoleBlock.ReplaceAllStringFunc(doc, func(block string) string {
		var w strings.Builder
		fence, _, _ := strings.Cut(block, "console")
		w.WriteString(fence + "console\n")
		for range TourCommands(block) {
			fmt.Fprintf(&w, "$ %s\n%s", strings.ReplaceAll(strings.ReplaceAll(commands[n], "\n", "\n> "), "\n> \n", "\n>\n"), outputs[n])
			if o := outputs[n]; o != "" && !strings.HasSuffix(o, "\n") {
				w.WriteByte('\n')
			}
			n++
		}
		return w.String() + fence
	})
}

// CheckTour fails the test where a document does not say what a run of it
// prints. CTXFS_UPDATE=1 writes what the run printed into the document instead.
func CheckTour(tb testing.TB, file, said, printed string) {
	tb.Helper()
	switch {
	case said == printed:
		return
	case os.Getenv("CTXFS_UPDATE") != "":
		if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	got, want := strings.Split(printed, "\n"), strings.Split(said, "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			tb.Fatalf("%s:%d says\n  %s\na run prints\n  %s\nCTXFS_UPDATE=1 pastes the run into the document", file, i+1, want[i], got[i])
		}
	}
	tb.Fatalf("%s ends elsewhere than a run", file)
}
