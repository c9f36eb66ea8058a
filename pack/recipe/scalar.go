package recipe

import (
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// items returns the elements of a list, if there are as many as the field may have.
func (r *reader) items(n *yaml.Node, f *field) (items []*yaml.Node, ok bool) {
	to := follow(n)
	if to.Kind != yaml.SequenceNode {
		or, write := "", ""
		if f.Kind == oneOrMore {
			or = "a string or "
		}
		if to.Kind == yaml.ScalarNode && to.ShortTag() == "!!str" && f.Kind != mappings {
			write = "; write it between [ and ]"
		}
		r.bad(n, "%s must be %sa list, it is %s%s", f.Key, or, what(n), write)
		return nil, false
	}
	if len(to.Content) < int(f.Min) {
		r.bad(n, "%s is empty; it needs at least one entry", f.Key)
		return nil, false
	}
	if f.Max > 0 && len(to.Content) > int(f.Max) {
		r.bad(n, "%s has %d entries; at most %.0f are allowed", f.Key, len(to.Content), f.Max)
		return nil, false
	}
	return to.Content, true
}

// text reads a string and checks it as the field wants it.
func (r *reader) text(n *yaml.Node, f *field, to *string) bool {
	v := follow(n)
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" {
		quote := ""
		if v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
			quote = "; quote it"
		}
		r.bad(n, "%s must be a string, it is %s%s", f.Key, what(n), quote)
		return false
	}
	s := v.Value
	if strings.ContainsRune(s, 0) {
		r.bad(n, "%s contains a NUL character", f.Key)
		return false
	}
	if f.Enum != nil && !slices.Contains(f.Enum, s) {
		r.bad(n, "%s is %.60q;%s allowed: %s", f.Key, s, didYouMean(s, f.Enum), strings.Join(f.Enum, ", "))
		return false
	}
	switch f.Kind {
	case template, command:
		if _, err := split(s); err != nil {
			r.bad(n, "%s: %v", f.Key, err)
			return false
		}
	case pattern:
		_, err := regexp.Compile(s)
		if err == nil {
			_, err = regexp.Compile("(?i)" + s) // as it is used
		}
		if err != nil {
			r.bad(n, "%s is not a regular expression: %s", f.Key, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return false
		}
	case globs:
		if !doublestar.ValidatePattern(s) {
			r.bad(n, "%s: %.60q is not a pattern; allowed: * ? [a-z] {a,b} **", f.Key, s)
			return false
		}
		if path.IsAbs(s) || slices.Contains(strings.Split(s, "/"), "..") {
			r.bad(n, "%s: %.60q leads out of ${CWD}; patterns are relative to it", f.Key, s)
			return false
		}
	}
	if s == "" && f.Kind != command && f.Key != "system_prompt" {
		r.bad(n, "%s is an empty string", f.Key)
		return false
	}
	*to = s
	return true
}

var decimal = lazy.Regexp(`^[-+]?(0|[1-9][0-9]*)$`)

var percentage = lazy.Regexp(`^(\d{1,3})(?:\.(\d{1,2}))?%$`)

// scalar reads a value that is neither list nor mapping.
func (r *reader) scalar(n *yaml.Node, f *field, at any) {
	switch f.Kind {
	case text, template, pattern:
		var s string
		if r.text(n, f, &s) {
			reflect.ValueOf(at).Elem().SetString(s)
		}
	case choice:
		var s string
		if r.text(n, f, &s) {
			*at.(*bool) = s == f.Enum[1]
		}
	case boolean:
		if v := follow(n); v.Kind != yaml.ScalarNode || v.ShortTag() != "!!bool" || v.Decode(at) != nil {
			r.bad(n, "%s must be true or false, it is %s", f.Key, what(n))
		}
	case integer:
		if i, ok := r.whole(n, f, "a whole number"); ok {
			*at.(*int) = i
		}
	case millis:
		if i, ok := r.whole(n, f, "a whole number of milliseconds"); ok {
			*at.(*time.Duration) = time.Duration(i) * time.Millisecond
		}
	case share:
		r.share(n, f, at.(ratio))
	case number:
		r.number(n, f, at.(*float64))
	case span:
		r.span(n, f, at.(*time.Duration))
	}
}

// share reads a number of tokens, or a share as "6%", which becomes hundredths of a percent.
func (r *reader) share(n *yaml.Node, f *field, to ratio) {
	v := follow(n)
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" {
		tokens := *f
		tokens.Min, tokens.Max = 1, maxTokens
		if i, ok := r.whole(n, &tokens, `a number of tokens, or a share as "6%"`); ok {
			*to.n, *to.percent = i, false
		}
		return
	}
	m := percentage().FindStringSubmatch(v.Value)
	if m == nil {
		r.bad(n, `%s is %.60q; it must be a number of tokens, or a share as "6%%"`, f.Key, v.Value)
		return
	}
	whole, _ := strconv.Atoi(m[1])
	part, _ := strconv.Atoi((m[2] + "00")[:2])
	sum := whole*100 + part
	if sum < 1 || sum > 10000 {
		r.bad(n, "%s is %s; a share is above 0%% and at most 100%%", f.Key, v.Value)
		return
	}
	*to.n, *to.percent = sum, true
}

// number reads a number within the field's bounds.
func (r *reader) number(n *yaml.Node, f *field, to *float64) {
	v := follow(n)
	var x float64
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!int" && v.ShortTag() != "!!float" || v.Decode(&x) != nil {
		r.bad(n, "%s must be a number, it is %s", f.Key, what(n))
		return
	}
	if !(x >= f.Min && x <= f.Max) || f.Above && x == f.Min {
		least := "at least"
		if f.Above {
			least = "above"
		}
		r.bad(n, "%s is %s; it must be %s %v and at most %v", f.Key, v.Value, least, f.Min, f.Max)
		return
	}
	*to = x
}

// span reads a time above 0.
func (r *reader) span(n *yaml.Node, f *field, to *time.Duration) {
	var s string
	if !r.text(n, f, &s) {
		return
	}
	d, err := ctxabi.ParseDuration(s)
	if err != nil || d <= 0 {
		r.bad(n, "%s is %.60q; it must be a time above 0 as 90s, 10m, 12h or 1d", f.Key, s)
		return
	}
	*to = d
}

// whole reads an integer within the field's bounds.
func (r *reader) whole(n *yaml.Node, f *field, is string) (i int, ok bool) {
	v := follow(n)
	tag := v.ShortTag()
	if v.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		quotes := ""
		if v.Kind == yaml.ScalarNode && decimal().MatchString(v.Value) {
			quotes = "; write it without quotes"
		}
		r.bad(n, "%s must be %s, it is %s%s", f.Key, is, what(n), quotes)
		return 0, false
	}
	// A reader of YAML 1.1 takes 010 for 8, one of 1.2 for 10.
	if !decimal().MatchString(v.Value) {
		r.bad(n, "%s is %.60s; it must be %s in decimal digits", f.Key, v.Value, is)
		return 0, false
	}
	i, err := strconv.Atoi(v.Value)
	if err != nil || float64(i) < f.Min || float64(i) > f.Max {
		r.bad(n, "%s is %.60s; it must be from %.0f to %.0f", f.Key, v.Value, f.Min, f.Max)
		return 0, false
	}
	return i, true
}
