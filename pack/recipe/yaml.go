package recipe

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// YAML returns the effective recipe in full: Load reads it again to a recipe of the
// same Hash. The comment of every line says where it was written: "# context.yaml:7",
// "# built in", or "# default" where nobody did.
func (r *Recipe) YAML() []byte {
	w := &writer{origins: r.Origins}
	w.object(objectOf("recipe"), r, "", 0)
	w.line(0, "sources:", w.origin("sources"))
	for i := 0; i < len(r.Sources); i++ {
		w.source(&r.Sources[i], 1)
		if i+1 < len(r.Sources) && r.Sources[i+1].Fallback > 0 {
			w.line(2, "fallback:", w.origin("fallback"))
			for i+1 < len(r.Sources) && r.Sources[i+1].Fallback > 0 {
				i++
				w.source(&r.Sources[i], 3)
			}
		}
	}
	return []byte(w.b.String())
}

// writer writes what the table has as YAML.
type writer struct {
	b       strings.Builder
	origins map[string]Origin
	dash    bool // the next line begins an element of a list
}

// line writes one line, indented by two blanks a level.
func (w *writer) line(level int, s, comment string) {
	in := strings.Repeat("  ", level)
	if w.dash {
		in = in[:len(in)-2] + "- "
		w.dash = false
	}
	w.b.WriteString(in + s)
	if comment != "" {
		w.b.WriteString(" # " + comment)
	}
	w.b.WriteByte('\n')
}

// origin returns where a key was written.
func (w *writer) origin(key string) string {
	at, ok := w.origins[key]
	if !ok {
		return "default"
	}
	return at.words()
}

func (at Origin) words() string {
	if at == (Origin{}) {
		return "built in"
	}
	// A path may hold anything but a line break.
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return '?'
		}
		return c
	}, at.File) + ":" + strconv.Itoa(at.Line)
}

func (w *writer) source(s *Source, level int) {
	w.origins, w.dash = s.Origins, true
	w.object(objectOf("source"), s, "", level+1)
}

// object writes the keys of v that hold something.
func (w *writer) object(o *object, v any, prefix string, level int) {
	tag := ""
	if o.Tag != "" {
		tag = reflect.ValueOf(o.Fields[0].at(v)).Elem().String()
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		if f.at == nil || !f.allows(tag) {
			continue
		}
		at := f.at(v)
		if f.empty(at, f.fallback(tag)) {
			continue
		}
		w.field(f, at, prefix+f.Key, level)
	}
}

// empty reports whether a field holds what it holds when its key is not there.
func (f *field) empty(at any, fallback string) bool {
	switch to := at.(type) {
	case ratio:
		return *to.n == 0
	case *int:
		return fallback == "" && *to <= 0 && (f.Key != "total_max_tokens" || *to < 0)
	}
	return fallback == "" && reflect.ValueOf(at).Elem().IsZero()
}

// field writes one key.
func (w *writer) field(f *field, at any, key string, level int) {
	from := w.origin(key)
	value := func(s string) { w.line(level, f.Key+": "+s, from) }
	switch f.Kind {
	case mapping, runs:
		w.line(level, f.Key+":", from)
		to := reflect.ValueOf(at)
		if to.Elem().Kind() == reflect.Pointer {
			to = to.Elem()
		}
		w.object(objectOf(f.Of), to.Interface(), key+".", level+1)
	case mappings:
		w.line(level, f.Key+":", from)
		list := reflect.ValueOf(at).Elem()
		for i := range list.Len() {
			w.dash = true
			w.object(objectOf(f.Of), list.Index(i).Addr().Interface(), fmt.Sprintf("%s[%d].", key, i), level+2)
		}
	case named:
		w.line(level, f.Key+":", from)
		outer := w.origins
		for _, s := range *at.(*[]Strategy) {
			w.origins = s.Origins
			if s.SystemPrompt == "" && len(s.Sections) == 0 && len(s.LeavesOut) == 0 {
				w.line(level+1, quoted(s.Name)+": {}", s.Origin.words())
				continue
			}
			w.line(level+1, quoted(s.Name)+":", s.Origin.words())
			w.object(objectOf(f.Of), &s, "", level+2)
		}
		w.origins = outer
	case variables:
		w.line(level, f.Key+":", from)
		for _, v := range *at.(*[]Variable) {
			w.line(level+1, quoted(v.Name)+": "+quoted(v.Value), w.origin(key+"."+v.Name))
		}
	case texts, oneOrMore, globs, command:
		var words []string
		for _, s := range *at.(*[]string) {
			words = append(words, quoted(s))
		}
		value("[" + strings.Join(words, ", ") + "]")
	case choice:
		value(f.Enum[map[bool]int{true: 1}[*at.(*bool)]])
	case boolean:
		value(strconv.FormatBool(*at.(*bool)))
	case integer:
		value(strconv.Itoa(*at.(*int)))
	case number:
		value(strconv.FormatFloat(*at.(*float64), 'g', -1, 64))
	case millis:
		value(strconv.FormatInt(at.(*time.Duration).Milliseconds(), 10))
	case span:
		value(quoted(at.(*time.Duration).String()))
	case share:
		to := at.(ratio)
		switch {
		case !*to.percent:
			value(strconv.Itoa(*to.n))
		case *to.n%100 == 0:
			value(fmt.Sprintf(`"%d%%"`, *to.n/100))
		default:
			value(fmt.Sprintf(`"%d.%02d%%"`, *to.n/100, *to.n%100))
		}
	default:
		value(quoted(reflect.ValueOf(at).Elem().String()))
	}
}

var (
	plainText = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	notPlain  = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// quoted returns a string as a YAML scalar.
func quoted(s string) string {
	if plainText().MatchString(s) && !slices.Contains(notPlain, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s) // YAML has all escapes of Go
}
