package result

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// deepest is how deep JSON may be nested to be taken for JSON.
const deepest = 64

// mayBeJSON reports whether a text begins as an object or a list.
func mayBeJSON(start string) bool {
	return strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
}

// isJSON reports whether a text is valid JSON of at most deepest levels.
func isJSON(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth == 0 && gjson.Valid(text) && utf8.ValidString(text)
}

// quote returns s as a JSON string.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// keyFields are names of fields that a reader needs first.
var keyFields = compress.WordSet(`id ids key name title status state error errors message msg code type kind total count url link snippet email user_id path version result results data items next date
	number flight_number reservation_id order_id product_id user membership phase reason severity summary description metadata spec`)

// fieldRank returns how early a field is shown: 0 first, 3 last.
func fieldRank(key string, value gjson.Result) int {
	low := strings.ToLower(key)
	switch {
	case keyFields[low] || strings.HasSuffix(low, "_id") || strings.HasSuffix(key, "Id") || strings.Contains(low, "error"):
		return 0
	case value.Type == gjson.Null || value.Raw == `""` || value.Raw == "[]" || value.Raw == "{}":
		return 3
	case value.IsArray() || value.IsObject() || len(value.Raw) > 200:
		return 2
	}
	return 1
}

// sampled chooses which of a list's items are shown, at most so many: the first ones, the last,
// those that speak of an error, those that differ in their form from the others, and others in
// even steps. It returns nil for all.
func sampled(all []gjson.Result, most int) []bool {
	if len(all) <= most {
		return nil
	}
	show := make([]bool, len(all))
	n := 0
	mark := func(i int) {
		if !show[i] && n < most {
			show[i] = true
			n++
		}
	}
	mark(0)
	mark(len(all) - 1)
	forms := map[string]int{}
	form := make([]string, len(all))
	for i, item := range all {
		form[i] = formOf(item)
		forms[form[i]]++
	}
	wrong := 0
	for i, item := range all {
		if wrong < most/2 && tellsOfError(item.Raw) {
			wrong++
			mark(i)
		}
	}
	for i := range all {
		if forms[form[i]]*10 <= len(all) {
			mark(i)
		}
	}
	for k := range most {
		mark(k * len(all) / most)
	}
	for i := range all {
		mark(i)
	}
	return show
}

// formOf returns what items of one make share: the type, and of an object its fields.
func formOf(item gjson.Result) string {
	if !item.IsObject() {
		return item.Type.String()
	}
	var b strings.Builder
	item.ForEach(func(key, _ gjson.Result) bool {
		b.WriteString(key.Raw)
		return b.Len() < 1000
	})
	return b.String()
}

// tellsOfError reports whether the raw JSON of an item speaks of an error.
func tellsOfError(raw string) bool {
	low := strings.ToLower(raw[:min(len(raw), 2000)])
	for _, w := range []string{`"error":"`, `"error": "`, `"error":{`, `"error": {`, `"failed"`, `"failure"`, `"error"`, "exception", "crashloop", `"critical"`, `"fatal"`} {
		if strings.Contains(low, w) && !strings.Contains(low, `"error":""`) {
			return true
		}
	}
	return false
}
