package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// README is for somebody who has a minute: two commands come first, and it stays short.
func TestReadmeIsShortAndBeginsWithTwoCommands(t *testing.T) {
	const most = 160
	readme := docs(t)["README.md"]
	if n := strings.Count(readme, "\n"); n > most {
		t.Errorf("README has %d lines, more than %d", n, most)
	}
	lines := strings.Split(readme, "\n")
	first := slices.Index(lines, "```")
	if first < 0 || strings.TrimSpace(strings.Join(lines[:first], "")) != "# ctxfs" {
		t.Fatal("README does not begin with its title and a block of commands")
	}
	var commands []string
	for _, line := range lines[first+1:] {
		if line == "```" {
			break
		}
		command, _, _ := strings.Cut(line, "#")
		commands = append(commands, strings.TrimSpace(command))
	}
	if want := []string{"make run", "make test"}; !slices.Equal(commands, want) {
		t.Errorf("README begins with the commands %q, want %q", commands, want)
	}
}

// A figure of README is one of docs/numbers.md, which says how it was measured.
func TestHeadlineFiguresStandInNumbers(t *testing.T) {
	texts := docs(t)
	_, table, found := strings.Cut(texts["README.md"], "\n| figure | command |\n| --- | --- |\n")
	if !found {
		t.Fatal("README has no table of figures")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != 5 {
		t.Errorf("README has %d figures, want 5", len(rows))
	}
	number := regexp.MustCompile(`\d+(?:[.,]\d+)*`)
	known := number.FindAllString(texts["docs/numbers.md"], -1)
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		if len(cells) != 2 || !strings.Contains(cells[1], "`") && !strings.Contains(cells[1], "the same") {
			t.Errorf("%s: want a figure and its command", row)
			continue
		}
		for _, n := range number.FindAllString(cells[0], -1) {
			if !slices.Contains(known, n) {
				t.Errorf("README says %s, which docs/numbers.md does not have: %s", n, cells[0])
			}
		}
	}
}

// Whoever looks for a document finds it in the index.
func TestTheIndexOfTheDocsHasEachOfThem(t *testing.T) {
	texts := docs(t)
	for name := range texts {
		base, ok := strings.CutPrefix(name, "docs/")
		if ok && base != "README.md" && !strings.Contains(texts["docs/README.md"], "]("+base+")") {
			t.Errorf("docs/README.md does not list %s", base)
		}
	}
}

// A picture has a light and a dark form, which differ in their colours alone, and a title for those who cannot see it.
func TestPicturesHaveALightAndADarkForm(t *testing.T) {
	light, err := filepath.Glob(filepath.Join(harness.Root(), "docs", "*-light.svg"))
	if err != nil || len(light) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	style := regexp.MustCompile(`(?s)<style>.*</style>`)
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, name := range light {
		svg := read(name)
		dark := read(strings.TrimSuffix(name, "-light.svg") + "-dark.svg")
		if svg == dark {
			t.Errorf("%s and its dark form are the same", name)
		}
		if style.ReplaceAllString(svg, "") != style.ReplaceAllString(dark, "") {
			t.Errorf("%s and its dark form are different drawings", name)
		}
		if !strings.Contains(svg, "<title") || !strings.Contains(svg, "<desc") {
			t.Errorf("%s has no title or no description", name)
		}
		for d := xml.NewDecoder(strings.NewReader(svg)); err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
		err = nil
	}
}
