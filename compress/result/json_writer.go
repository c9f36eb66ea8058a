package result

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// jsonWriter writes a value at a level until it is full.
type jsonWriter struct {
	strings.Builder
	jsonLevel
	most int // bytes
	full bool
}

// put writes s, or fills the writer up if there is no room for it.
func (w *jsonWriter) put(s string) {
	if w.Len()+len(s) > w.most {
		w.full = true
		return
	}
	w.WriteString(s)
}

// value writes a value that stands so many levels deep.
func (w *jsonWriter) value(v gjson.Result, depth int) {
	switch {
	case w.full:
	case v.IsObject():
		w.object(v, depth, "")
	case v.IsArray():
		w.array(v, depth, "")
	case v.Type == gjson.String && len(v.Raw) > w.chars+2 && w.chars > leafChars:
		w.put(leafText(v, w.chars))
	case v.Type == gjson.String && len(v.Raw) > w.chars+2:
		s := []rune(v.String()[:min(len(v.String()), w.chars*4)])
		w.put(quote(fmt.Sprintf("%s… [%d bytes more]", string(s[:min(len(s), w.chars)]), max(0, len(v.String())-len(string(s[:min(len(s), w.chars)]))))))
	default:
		w.put(v.Raw)
	}
}

// object writes an object, those of its fields first that say the most; left, if not "", becomes
// its last field.
func (w *jsonWriter) object(v gjson.Result, depth int, left string) {
	if depth >= w.deep {
		n := 0
		v.ForEach(func(_, _ gjson.Result) bool { n++; return true })
		w.put(quote(fmt.Sprintf("… [an object of %d fields]", n)))
		return
	}
	type field struct {
		key, value gjson.Result
		rank       int
	}
	var fields []field
	v.ForEach(func(key, value gjson.Result) bool {
		fields = append(fields, field{key, value, fieldRank(key.String(), value)})
		return true
	})
	show := make([]bool, len(fields))
	n := 0
	for rank := 0; rank <= 3 && n < w.fields; rank++ {
		for i, f := range fields {
			if f.rank == rank && n < w.fields {
				show[i] = true
				n++
			}
		}
	}
	w.put("{")
	comma := false
	for i, f := range fields {
		if !show[i] || w.full {
			continue
		}
		w.comma(&comma)
		w.put(f.key.Raw + ":")
		w.value(f.value, depth+1)
	}
	if n < len(fields) {
		w.comma(&comma)
		w.put(`"…":` + quote(fmt.Sprintf("[%d fields more]", len(fields)-n)))
	}
	if left != "" {
		w.comma(&comma)
		w.put(`"[left out]":` + quote(left))
	}
	w.put("}")
}

// array writes a list; left, if not "", becomes its last item.
func (w *jsonWriter) array(v gjson.Result, depth int, left string) {
	var all []gjson.Result
	v.ForEach(func(_, item gjson.Result) bool {
		all = append(all, item)
		return true
	})
	if depth >= w.deep && len(all) > 0 && len(v.Raw) > 24 {
		w.put(quote(fmt.Sprintf("… [a list of %d]", len(all))))
		return
	}
	show := sampled(all, w.items)
	w.put("[")
	if w.rows(all, show, depth) {
		if left != "" {
			w.put("," + quote(left))
		}
		w.put("]")
		return
	}
	comma, skipped := false, 0
	skip := func() {
		if skipped > 0 {
			w.comma(&comma)
			w.put(quote(fmt.Sprintf("… [%d more]", skipped)))
			skipped = 0
		}
	}
	for i, item := range all {
		if w.full {
			return
		}
		if show != nil && !show[i] {
			skipped++
			continue
		}
		skip()
		w.comma(&comma)
		w.value(item, depth+1)
	}
	skip()
	if left != "" {
		w.comma(&comma)
		w.put(quote(left))
	}
	w.put("]")
}

// comma writes a comma, but not for the first time.
func (w *jsonWriter) comma(further *bool) {
	if *further {
		w.put(",")
	}
	*further = true
}
