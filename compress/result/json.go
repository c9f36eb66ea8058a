package result

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// maxJSONDepth is the deepest nesting that isJSON accepts.
const maxJSONDepth = 64

// mayBeJSON reports whether a text begins as an object or a list.
func mayBeJSON(start string) bool {
	return strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
}

// isJSON reports whether text is valid JSON of at most maxJSONDepth levels.
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
			if depth++; depth > maxJSONDepth {
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

// Ranks of fields. Lower ranks are shown first.
const (
	rankFirst = iota - 1 // of an error or a search result
	rankKey
	rankPlain
	rankLong
	rankEmpty
)

// fieldRank returns the rank of a field.
func fieldRank(key string, value gjson.Result) int {
	low := strings.ToLower(key)
	switch {
	case keyFields[low] || strings.HasSuffix(low, "_id") || strings.HasSuffix(key, "Id") || strings.Contains(low, "error"):
		return rankKey
	case value.Type == gjson.Null || value.Raw == `""` || value.Raw == "[]" || value.Raw == "{}":
		return rankEmpty
	case value.IsArray() || value.IsObject() || len(value.Raw) > 200:
		return rankLong
	}
	return rankPlain
}

// sampleItems selects the indexes of up to max items of a list: the first, the last, errors, and an
// even spread.
func sampleItems(all []gjson.Result, max int) map[int]bool {
	show := map[int]bool{0: true, len(all) - 1: true}
	for i := 0; i < len(all) && len(show) < max/2; i++ {
		if reportsError(all[i].Raw) {
			show[i] = true
		}
	}
	for k := 0; k < max && len(show) < max; k++ {
		show[k*len(all)/max] = true
	}
	return show
}

// reportsError reports whether the raw JSON of an item mentions an error.
func reportsError(raw string) bool {
	low := strings.ToLower(raw[:min(len(raw), 2000)])
	if strings.Contains(low, `"error":""`) {
		return false
	}
	for _, word := range []string{`"error":"`, `"error": "`, `"error":{`, `"error": {`, `"failed"`, `"failure"`, `"error"`, "exception", "crashloop", `"critical"`, `"fatal"`} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
