package blocks

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/pack/record"
)

// maxFrontMatter is how far the end of a front matter is looked for, in bytes.
const maxFrontMatter = 64 << 10

// frontMatter is the YAML mapping between two lines of --- at the beginning of a
// Markdown file. Only its plain values and lists of such are looked at.
type frontMatter struct {
	values map[string][]string // by key in lower case
	lines  int                 // that it takes, its marks included
}

// splitFrontMatter parts a file's front matter from the rest. What looks like one and is no
// YAML mapping belongs to the text.
func splitFrontMatter(text string) (frontMatter, string) {
	text = strings.TrimPrefix(text, "\ufeff")
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return frontMatter{}, text
	}
	lines, at := 1, 0
	for line := range strings.Lines(rest) {
		lines++
		if mark := strings.TrimRight(line, " \t\r\n"); mark == "---" || mark == "..." {
			values := plainValues(rest[:at])
			if values == nil {
				break
			}
			return frontMatter{values: values, lines: lines}, rest[at+len(line):]
		}
		if at += len(line); at > maxFrontMatter {
			break
		}
	}
	return frontMatter{}, text
}

// plainValues reads a mapping; nil when text is none.
func plainValues(text string) map[string][]string {
	var top map[string]yaml.Node
	if yaml.Unmarshal([]byte(text), &top) != nil {
		return nil
	}
	values := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(top)) {
		value := top[key]
		items := []*yaml.Node{&value}
		if value.Kind == yaml.SequenceNode {
			items = value.Content
		}
		for _, item := range items {
			if item.Kind == yaml.ScalarNode && item.Tag != "!!null" {
				values[strings.ToLower(key)] = append(values[strings.ToLower(key)], item.Value)
			}
		}
	}
	return values
}

// text returns the value of a key in one line; "" without one.
func (m frontMatter) text(key string) string {
	return record.OneLine(strings.Join(m.values[key], ", "))
}

// flag reports whether a key is true.
func (m frontMatter) flag(key string) bool {
	v := m.values[key]
	return len(v) == 1 && (strings.EqualFold(v[0], "true") || strings.EqualFold(v[0], "yes") || strings.EqualFold(v[0], "on"))
}
