package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	shellPrefix  = regexp.MustCompile(`(?m)^(bash|/usr/bin/bash|bash): line \d+: `)
)

// TestReadmeTour runs the commands of README's console blocks, one after the
// other in one shell of an ordinary user, and compares what they print with
// what README says. CTXFS_UPDATE=1 writes what they print into README instead.
func TestReadmeTour(t *testing.T) {
	harness.NeedRoot(t)
	name := filepath.Join(harness.Root(), "README.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(b)
	var commands []string
	for _, m := range consoleBlock.FindAllStringSubmatch(readme, -1) {
		for _, line := range strings.Split(m[1], "\n") {
			if c, ok := strings.CutPrefix(line, "$ "); ok {
				commands = append(commands, c)
			}
		}
	}
	if len(commands) < 10 {
		t.Fatalf("README's tour has %d commands only", len(commands))
	}
	m := harness.Start(t, harness.Options{})
	outputs := runTour(t, m, commands)

	n := 0
	want := consoleBlock.ReplaceAllStringFunc(readme, func(block string) string {
		var w strings.Builder
		w.WriteString("```console\n")
		for _, line := range strings.Split(consoleBlock.FindStringSubmatch(block)[1], "\n") {
			if strings.HasPrefix(line, "$ ") {
				fmt.Fprintf(&w, "%s\n%s", line, outputs[n])
				n++
			}
		}
		return w.String() + "```"
	})
	if want == readme {
		return
	}
	if os.Getenv("CTXFS_UPDATE") != "" {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, said := strings.Split(want, "\n"), strings.Split(readme, "\n")
	for i := range min(len(got), len(said)) {
		if got[i] != said[i] {
			t.Fatalf("README.md:%d says\n  %s\na run prints\n  %s\nCTXFS_UPDATE=1 pastes the run into README", i+1, said[i], got[i])
		}
	}
	t.Fatal("README.md ends elsewhere than a run")
}

// runTour gives the output of each command as the user with uid 1000 sees it, with the mountpoint called /ctx.
func runTour(t *testing.T, m *harness.Mount, commands []string) []string {
	t.Helper()
	const mark = "\x01next\n"
	var script strings.Builder
	script.WriteString("exec 2>&1\n")
	for _, c := range commands {
		fmt.Fprintf(&script, "printf '\\1next\\n'\n%s\n", strings.ReplaceAll(c, "/ctx", m.Dir))
	}
	r := m.Run(t, harness.Client{UID: 1000, Dir: "/", Argv: []string{"bash", "-c", script.String()}})
	out := shellPrefix.ReplaceAllString(strings.ReplaceAll(r.Stdout, m.Dir, "/ctx"), "bash: ")
	parts := strings.Split(out, mark)
	if len(parts) != len(commands)+1 {
		t.Fatalf("%d commands printed %d parts:\n%s\n%s", len(commands), len(parts)-1, r.Stdout, r.Stderr)
	}
	for i, p := range parts {
		if p != "" && !strings.HasSuffix(p, "\n") {
			parts[i] += "\n"
		}
	}
	return parts[1:]
}
