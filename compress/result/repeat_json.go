package result

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// json returns the reference and the fields and items that old does not have, as JSON; "" if new
// is too different.
func (r *repeat) json() string {
	if !isJSON(r.old) {
		return ""
	}
	a, b := gjson.Parse(r.old), gjson.Parse(r.new)
	if a.IsObject() != b.IsObject() || a.IsArray() != b.IsArray() {
		return ""
	}
	text, same := newValue(a, b, 0)
	if same*1000 < len(r.new)*repeatShare {
		return ""
	}
	what := "mostly the same as " + r.name + " above"
	if text == "" {
		what = "the same as " + r.name + " above but for blanks"
	}
	note := r.reference(what, "")
	note = note[1 : len(note)-1]
	switch {
	case text == "":
		return "[" + quote(note) + "]"
	case b.IsArray():
		return "[" + quote(note) + "," + text[1:]
	}
	_, rest, _ := strings.Cut(note, ": ")
	return "{" + quote("["+what+"]") + ":" + quote(rest) + "," + text[1:]
}

// deepestRepeat is how many levels are looked into.
const deepestRepeat = 32

// newValue returns what of b is not in a, "" for nothing, and how many bytes of b are the same.
func newValue(a, b gjson.Result, depth int) (text string, same int) {
	switch {
	case a.Raw == b.Raw || compactJSON(a.Raw) == compactJSON(b.Raw):
		return "", len(b.Raw)
	case depth > deepestRepeat:
	case a.IsObject() && b.IsObject():
		return newFields(a, b, depth)
	case a.IsArray() && b.IsArray():
		return newItems(a, b, depth)
	}
	return compactJSON(b.Raw), 0
}

func newFields(a, b gjson.Result, depth int) (string, int) {
	had := map[string]gjson.Result{}
	var names []string
	a.ForEach(func(key, value gjson.Result) bool {
		had[key.String()] = value
		names = append(names, key.Raw)
		return true
	})
	var fields []string
	same, all := 0, 0
	has := map[string]bool{}
	b.ForEach(func(key, value gjson.Result) bool {
		has[key.Raw] = true
		all += len(key.Raw) + len(value.Raw)
		old, ok := had[key.String()]
		if !ok {
			fields = append(fields, key.Raw+":"+compactJSON(value.Raw))
			return true
		}
		text, n := newValue(old, value, depth+1)
		same += n + len(key.Raw)
		if text != "" {
			fields = append(fields, key.Raw+":"+text)
		}
		return true
	})
	var gone []string
	for _, name := range names {
		if !has[name] {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		fields = append(fields, `"[gone]":[`+strings.Join(gone, ",")+"]")
	}
	if len(fields) == 0 {
		return "", len(b.Raw)
	}
	return "{" + strings.Join(fields, ",") + "}", withBlanks(same, all, len(b.Raw))
}

func newItems(a, b gjson.Result, depth int) (string, int) {
	had := map[string]int{}
	byName := map[string]gjson.Result{}
	old := 0
	a.ForEach(func(_, item gjson.Result) bool {
		had[compactJSON(item.Raw)]++
		if name := nameOf(item); name != "" {
			byName[name] = item
		}
		old++
		return true
	})
	var items []string
	same, all, run, kept := 0, 0, 0, 0
	end := func() {
		if run > 0 {
			items = append(items, quote(fmt.Sprintf("… [%d the same]", run)))
			run = 0
		}
	}
	changed := false
	b.ForEach(func(_, item gjson.Result) bool {
		all += len(item.Raw)
		if key := compactJSON(item.Raw); had[key] > 0 {
			had[key]--
			same += len(item.Raw)
			run++
			kept++
			return true
		}
		changed = true
		end()
		name := nameOf(item)
		if was, ok := byName[name]; ok && name != "" {
			delete(byName, name)
			kept++
			text, n := newFields(was, item, depth+1)
			same += n
			if text == "" { // its fields stand in another order
				items = append(items, compactJSON(item.Raw))
				return true
			}
			key, value, _ := strings.Cut(name, "\x00")
			items = append(items, "{"+key+":"+value+","+text[1:])
			return true
		}
		items = append(items, compactJSON(item.Raw))
		return true
	})
	if !changed && kept == old {
		end()
		items = append(items, quote("… [in another order]"))
	}
	end()
	if kept < old {
		items = append(items, quote(fmt.Sprintf("… [%d are gone]", old-kept)))
	}
	return "[" + strings.Join(items, ",") + "]", withBlanks(same, all, len(b.Raw))
}

// withBlanks returns how many of whole bytes are the same, if same of all bytes of values are:
// what stands between values counts as they do.
func withBlanks(same, all, whole int) int {
	if all == 0 {
		return 0
	}
	return int(int64(same) * int64(whole) / int64(all))
}

// nameOf returns the field by which an object of a list differs from the others, and its value.
func nameOf(item gjson.Result) string {
	if !item.IsObject() {
		return ""
	}
	name := ""
	item.ForEach(func(key, value gjson.Result) bool {
		switch key.String() {
		case "id", "name", "key", "path", "number":
			if value.Type == gjson.String || value.Type == gjson.Number {
				name = key.Raw + "\x00" + value.Raw
				return false
			}
		}
		return true
	})
	return name
}

// compactJSON returns a value without blanks between its parts.
func compactJSON(raw string) string {
	if !strings.ContainsAny(raw, " \n\t\r") {
		return raw
	}
	return string(gjson.Parse(raw).Get("@ugly").Raw)
}
