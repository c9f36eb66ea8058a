package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// rows writes a list of at least three objects with the same fields as columns and rows: fields that
// are alike in all of them once. Fields of objects in them get a dotted name. It reports whether the
// list is one; if not, nothing is written.
func (w *jsonWriter) rows(all []gjson.Result, show []bool, depth int) bool {
	if len(all) < 3 || depth+2 > w.deep || !all[0].IsObject() {
		return false
	}
	t, ok := tableOf(all, show)
	if !ok {
		return false
	}
	t.names = t.names[:min(len(t.names), w.fields)]
	w.columns(t, depth)
	at, skipped := 0, 0
	for i := range all {
		if w.full {
			return true
		}
		if show != nil && !show[i] {
			skipped++
			continue
		}
		if skipped > 0 {
			w.put("," + quote(fmt.Sprintf("… [%d more]", skipped)))
			skipped = 0
		}
		w.row(t, t.rows[at], depth)
		at++
	}
	if skipped > 0 {
		w.put("," + quote(fmt.Sprintf("… [%d more]", skipped)))
	}
	return true
}

// fieldTable is objects with the same fields in the same order.
type fieldTable struct {
	names []string          // of the fields, as JSON
	rows  [][]string        // values of each object, as JSON
	same  map[string]string // of the fields that are alike in all: the value
}

// tableOf returns the objects among all that are shown as a table; ok is false if they are fewer
// than three or differ in their fields.
func tableOf(all []gjson.Result, show []bool) (t *fieldTable, ok bool) {
	t = &fieldTable{same: map[string]string{}}
	for i, item := range all {
		if show != nil && !show[i] {
			continue
		}
		var keys, cells []string
		if !flatten(item, "", &keys, &cells) {
			return nil, false
		}
		if t.rows == nil {
			t.names = keys
			for k, key := range keys {
				t.same[key] = cells[k]
			}
		}
		if !slices.Equal(keys, t.names) {
			return nil, false
		}
		for k, key := range keys {
			if v, ok := t.same[key]; ok && v != cells[k] {
				delete(t.same, key)
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, len(t.rows) >= 3 && len(t.names) > 0
}

// columns writes what is alike in all rows, and the names of the other columns.
func (w *jsonWriter) columns(t *fieldTable, depth int) {
	if len(t.same) > 0 {
		w.put(`{"[in all]":{`)
		comma := false
		for _, name := range t.names {
			if v, ok := t.same[name]; ok {
				w.comma(&comma)
				w.put(name + ":")
				w.value(gjson.Parse(v), depth+2)
			}
		}
		w.put("}},")
	}
	w.put(`{"[columns]":[`)
	comma := false
	for _, name := range t.names {
		if _, ok := t.same[name]; !ok {
			w.comma(&comma)
			w.put(name)
		}
	}
	w.put("]}")
}

// row writes the cells of the columns.
func (w *jsonWriter) row(t *fieldTable, cells []string, depth int) {
	w.put(",[")
	comma := false
	for k, name := range t.names {
		if _, ok := t.same[name]; ok {
			continue
		}
		w.comma(&comma)
		w.value(gjson.Parse(cells[k]), depth+2)
	}
	w.put("]")
}

// flatten appends to keys and cells the fields of an object, those of objects in it by dotted
// names, as raw JSON. It reports whether they are few enough for a table.
func flatten(v gjson.Result, prefix string, keys, cells *[]string) bool {
	ok := true
	v.ForEach(func(key, value gjson.Result) bool {
		name := prefix + strings.Trim(key.Raw, `"`)
		if value.IsObject() && value.Raw != "{}" && strings.Count(name, ".") < 3 {
			ok = flatten(value, name+".", keys, cells)
		} else {
			*keys, *cells = append(*keys, `"`+name+`"`), append(*cells, value.Raw)
		}
		if len(*keys) > 64 {
			ok = false
		}
		return ok
	})
	return ok
}
