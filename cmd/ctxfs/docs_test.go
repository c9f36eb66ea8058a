package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func docs(t *testing.T) map[string]string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	more, err := filepath.Glob(filepath.Join(harness.Root(), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob(filepath.Join(harness.Root(), "examples", "*", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(more, examples...) {
		name, err := filepath.Rel(harness.Root(), m)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	texts := map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(harness.Root(), name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	return texts
}

var (
	fence      = regexp.MustCompile("(?ms)^```.*?^```$")
	inlineCode = regexp.MustCompile("`[^`\n]+`")
	verbUse    = regexp.MustCompile(`(?:^|[\s$(/"'])ctxfs ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*){0,2})((?: [^|;&\n>)]*)?)`)
	flagUse    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	makeUse    = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z-]*)")
	linkUse    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	pictureUse = regexp.MustCompile(` (?:src|srcset)="([^":]*)"`)
	heading    = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

func TestVerbsAndFlagsInTheDocsExist(t *testing.T) {
	for name, text := range docs(t) {
		code := strings.Join(append(fence.FindAllString(text, -1), inlineCode.FindAllString(text, -1)...), "\n")
		for _, m := range verbUse.FindAllStringSubmatch(strings.ReplaceAll(code, "`", " "), -1) {
			verb, rest, err := newRoot().Find(strings.Fields(m[1]))
			if err != nil || verb.Name() == "ctxfs" {
				t.Errorf("%s: %q: no such verb", name, m[0])
				continue
			}
			_ = rest
			verb.InitDefaultHelpFlag()
			for _, f := range flagUse.FindAllStringSubmatch(m[2], -1) {
				if verb.Flags().Lookup(f[1]) == nil {
					t.Errorf("%s: %q: ctxfs %s has no flag --%s", name, m[0], verb.Name(), f[1])
				}
			}
		}
	}
}

// shownPack is a part of a pack in a document: what a session says.
var shownPack = regexp.MustCompile("(?s)\n````\n.*?\n````\n")

func TestMakeTargetsInTheDocsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(harness.Root(), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range docs(t) {
		for _, m := range makeUse.FindAllStringSubmatch(shownPack.ReplaceAllString(text, "\n"), -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s: there is no target %q", name, m[1])
			}
		}
	}
}

// anchors are the names under which a browser finds the headings of a document.
func anchors(doc string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(doc, ""), -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, "#"+strings.ReplaceAll(slug, " ", "-"))
	}
	return names
}

func TestLinksInTheDocsLeadSomewhere(t *testing.T) {
	texts := docs(t)
	for name, text := range texts {
		text = fence.ReplaceAllString(text, "")
		for _, m := range pictureUse.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(harness.Root(), filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s shows %s: %v", name, m[1], err)
			}
		}
		for _, m := range linkUse.FindAllStringSubmatch(text, -1) {
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			if _, err := os.Stat(filepath.Join(harness.Root(), target)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
			if doc, ok := texts[target]; m[2] != "" && (!ok || !slices.Contains(anchors(doc), m[2])) {
				t.Errorf("%s links to %s%s, which has no such heading", name, m[1], m[2])
			}
		}
	}
}

func TestEveryVerbTeaches(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Hidden || c.Name() == "help" {
			return
		}
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: a verb has a short text, a long one and an example", c.CommandPath())
		}
		for _, line := range strings.Split(c.Long, "\n") {
			if len(line) > 84 {
				t.Errorf("%s: a line of the help is %d long: %s", c.CommandPath(), len(line), line)
			}
		}
	}
	walk(newRoot())
}
