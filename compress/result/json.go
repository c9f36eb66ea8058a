package result

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/internal/lazy"
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
	field := Field{Path: key, Value: value.Raw}
	switch {
	case field.Class() < ClassOther:
		return rankKey
	case value.Type == gjson.Null || value.Raw == `""` || value.Raw == "[]" || value.Raw == "{}":
		return rankEmpty
	case value.IsArray() || value.IsObject() || len(value.Raw) > 200:
		return rankLong
	}
	return rankPlain
}

var errorItem = lazy.Regexp(`(?i)"error": ?["{][^"]|"(?:failed|failure|error|critical|fatal)"[^:]|exception|crashloop`)

// reportsError reports whether the raw JSON of an item mentions an error.
func reportsError(raw string) bool { return errorItem().MatchString(raw[:min(len(raw), 2000)]) }
