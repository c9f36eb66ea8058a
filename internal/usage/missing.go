package usage

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// NameMissing replaces cobra's argument count errors of all visible verbs: the new errors name the
// missing or extra argument and show an example.
func NameMissing(c *cobra.Command) {
	for _, sub := range c.Commands() {
		NameMissing(sub)
	}
	check := c.Args
	if check == nil || c.Hidden || c.HasSubCommands() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil || errors.As(err, new(Error)) || len(args) == 1 && cobra.OnlyValidArgs(c, args) != nil {
			return err
		}
		wanted := required(c.Use)
		example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
		example, _, _ = strings.Cut(example, "  #")
		if example = strings.TrimSpace(example); example != "" {
			example = "; for example: " + example
		}
		if len(args) < len(wanted) {
			missing := strings.ReplaceAll(strings.Join(wanted[len(args):], " and "), "...", "")
			if len(wanted)-len(args) > 1 {
				return Errorf("%s are missing%s", missing, example)
			}
			return Errorf("%s is missing%s", missing, example)
		}
		if len(args) == 0 { // of the ones that its flags make needless
			return Errorf("an argument is missing%s", example)
		}
		return Errorf("%s takes fewer arguments: %q is too much%s", c.CommandPath(), args[len(args)-1], example)
	}
}

// required returns the names of the required arguments in the first usage line of a verb.
func required(use string) (names []string) {
	line, _, _ := strings.Cut(use, "\n")
	line, _, _ = strings.Cut(line, " < ") // standard input is no argument
	words := strings.Fields(line)
	for n := 1; n < len(words); n++ {
		switch word := strings.TrimLeft(words[n], "{"); {
		case strings.HasPrefix(word, "--"):
			n++ // its value
		case word != "|" && word[0] != '[':
			names = append(names, word)
		}
	}
	return names
}

// Meant returns the last part of an error about an unknown word: it suggests the similar names; ""
// if no name is similar.
func Meant(word string, names []string) string {
	word = strings.ToLower(word)
	for _, name := range names {
		near := &cobra.Command{SuggestionsMinimumDistance: 2}
		for _, like := range []string{name, name[:min(len(name), len(word))]} {
			near.AddCommand(&cobra.Command{Use: like, Run: func(*cobra.Command, []string) {}})
		}
		if word != "" && strings.HasPrefix(word, name) || len(word) > 3 && len(near.SuggestionsFor(word)) > 0 {
			return "; do you mean " + name + "?"
		}
	}
	return ""
}
