package recipe

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

var referenceBlock = regexp.MustCompile(`(?ms)^(<!-- reference: [^\n]* -->\n).*(^<!-- end of reference -->)$`)

// docs/recipe.md contains the reference of this package. CTXFS_UPDATE=1 writes it.
func TestRecipeReference(t *testing.T) {
	file := filepath.Join(harness.Root(), "docs", "recipe.md")
	said, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := referenceBlock.FindSubmatchIndex(said)
	if at == nil {
		t.Fatal("docs/recipe.md has no markers of a reference")
	}

	want := string(said[:at[3]]) + "\n" + strings.TrimSpace(reference()) + "\n\n" + string(said[at[4]:])
	harness.CheckTour(t, file, string(said), want)
}

// reference is the reference of all keys, in Markdown, for docs/recipe.md.
func reference() string {
	var b strings.Builder
	for i := range objects {
		o := &objects[i]
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", strings.ToUpper(o.Name[:1])+o.Name[1:], o.Doc)
		for j := range o.Fields {
			f := &o.Fields[j]
			fmt.Fprintf(&b, "- `%s`: %s%s  \n  %s  \n  Example: `%s: %s`\n", f.Key, f.value(), f.notes(o), f.Doc, f.Key, examples[o.Name+"."+f.Key])
		}
		b.WriteByte('\n')
	}
	b.WriteString("### Types of sources\n\n| type | reads | what it is |\n| --- | --- | --- |\n")
	for _, t := range types {
		reads := ""
		if t.Path != "" {
			reads = "`" + t.Path + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Type, reads, t.Doc)
	}
	b.WriteString("\n### Built-in strategies\n\n| strategy | sections (from) | does not apply without | leaves out |\n| --- | --- | --- | --- |\n")
	for _, t := range Default().Strategies {
		var sections, needs, left []string
		for _, s := range t.Sections {
			sections = append(sections, fmt.Sprintf("%s (`%s`)", s.Name, s.From))
			if s.Required {
				needs = append(needs, s.Name)
			}
		}
		for _, l := range t.LeavesOut {
			left = append(left, "`"+l+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", t.Name, strings.Join(sections, ", "), strings.Join(needs, ", "), strings.Join(left, ", "))
	}
	return b.String()
}

// value returns what a field holds, in words.
func (f *field) value() string {
	switch f.Kind {
	case template:
		return "string, with variables"
	case version:
		return "`1` or `1.x`"
	case integer:
		return fmt.Sprintf("whole number, %.0f to %.0f", f.Min, f.Max)
	case number:
		above := ""
		if f.Above {
			above = "above "
		}
		return fmt.Sprintf("number, %s%v to %v", above, f.Min, f.Max)
	case share:
		return "whole number from 1, or a percentage as a string"
	case millis:
		return fmt.Sprintf("milliseconds, %.0f to %.0f", f.Min, f.Max)
	case span:
		return "duration"
	case boolean:
		return "`true` or `false`"
	case pattern:
		return "regular expression"
	case texts:
		return "list of strings"
	case oneOrMore:
		if f.Enum != nil {
			return "one or a list of `" + strings.Join(f.Enum, "` `") + "`"
		}
		return "string or list of strings"
	case globs:
		return "list of patterns"
	case command:
		return "list of strings, with variables"
	case runs:
		return "list of strings, with variables, or [" + f.Of + "](#" + f.Of + ")"
	case mapping:
		return "[" + f.Of + "](#" + f.Of + ")"
	case mappings:
		return "list of [" + f.Of + "](#" + f.Of + ")"
	case named:
		return "mapping from names to [" + f.Of + "](#" + f.Of + ")"
	case variables:
		return "mapping from names to values"
	}
	if f.Enum != nil {
		return "`" + strings.Join(f.Enum, "` `") + "`"
	}
	return "string"
}

// notes returns when a field is allowed, whether it must be there, and its default.
func (f *field) notes(o *object) string {
	var s string
	switch {
	case f.For == nil:
	case len(f.For) == 1 && f.For[0] == "":
		s += "; without `" + o.Tag + "`"
	case len(f.For) > 4:
		s += "; not for " + strings.Join(slices.DeleteFunc(slices.Clone(o.Fields[0].Enum), func(t string) bool { return slices.Contains(f.For, t) }), ", ")
	default:
		s += "; for " + strings.Join(f.For, ", ")
	}
	if f.Must {
		s += "; required"
	}
	if f.Default != "" {
		s += "; default `" + f.Default + "`"
	}
	for _, t := range o.Fields[0].Enum {
		if d, ok := f.Defaults[t]; ok {
			s += ", `" + d + "` for " + t
		}
	}
	return s
}
