package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// verbs calls do with each visible verb.
func verbs(c *cobra.Command, do func(c *cobra.Command)) {
	for _, sub := range c.Commands() {
		verbs(sub, do)
	}
	if !c.Hidden && c.Name() != "help" {
		do(c)
	}
}

// Each verb names the argument that is missing, or the one too much, with an example.
func TestMissingArgumentIsNamed(t *testing.T) {
	verbs(newRoot(), func(c *cobra.Command) {
		if c.HasSubCommands() || c.Args == nil {
			return
		}
		for _, args := range [][]string{nil, slices.Repeat([]string{"x"}, 9)} {
			if err := c.Args(c, args); err != nil && (strings.Contains(err.Error(), "arg(s)") || !strings.Contains(err.Error(), "; for example: ") && c.Example != "") {
				t.Errorf("%s %q: %v", c.CommandPath(), args, err)
			}
		}
	})
	for line, want := range map[string]string{
		"import":                  "FILE and SESSION are missing; for example: ctxfs import ",
		"import -":                "SESSION is missing: standard input has no name for one; for example: ctxfs import - coder/s1",
		"import /not/there":       "there is no file /not/there",
		"why coder/s1":            "WHAT is missing; for example: ctxfs why coder/s1 messages:57",
		"export --format openai":  "SESSION is missing; for example: ctxfs export ",
		"install claude":          `"claude" is not a program that can be connected: claude-code, codex, gemini, opencode; do you mean claude-code?`,
		"install cluade":          "do you mean claude-code?",
		"install Gemini-CLI":      "do you mean gemini?",
		"install emacs":           "can be connected: claude-code, codex, gemini, opencode\n",
		"eval exam prepare --out": "flag needs an argument",
	} {
		var out strings.Builder
		if code := cli.Run(strings.Fields(line), &out, &out); code != cli.ExitUsage || !strings.Contains(out.String(), want) {
			t.Errorf("ctxfs %s: exit code %d\n%s\nwant %q", line, code, &out, want)
		}
	}
}

// Each sentence of a help text begins behind a blank: two texts that were joined in the middle of one show here.
func TestHelpSentencesAreApart(t *testing.T) {
	joined := regexp.MustCompile(`[a-z)]\.[0-9A-Za-z]`)
	names := regexp.MustCompile(`[/$*=@_]|^[("'<]*[a-z0-9]\.[a-z]|\.(key|log|jsonl?|md|yaml|ctxfs|policy|zst)[)"'.,;:]*$`) // of files and hosts
	verbs(newRoot(), func(c *cobra.Command) {
		for word := range strings.FieldsSeq(c.Short + "\n" + c.Long + "\n" + c.Flags().FlagUsages()) {
			if joined.MatchString(word) && !names.MatchString(word) {
				t.Errorf("%s --help: %q", c.CommandPath(), word)
			}
		}
	})
}
