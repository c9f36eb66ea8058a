package toolcall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Numbers of [Shortened].
const (
	leastValue   = 24 // tokens of a value that is shortened
	bodyLines    = 3  // of a here-document that are shown
	deepestValue = 16 // levels of JSON that are read
)

// Shortened returns the arguments of a call within about limit tokens (by ctxabi.Weight): long texts
// lose their ends, and a here-document all but its first lines. Each text counts what it omits and
// names the path of the whole. JSON stays JSON with the same fields. cut is false if the arguments
// are within the limit, or cannot be shortened to it.
func Shortened(arguments string, limit int, path string) (short string, cut bool) {
	if compress.Fits(arguments, limit) {
		return arguments, false
	}
	if !gjson.Valid(arguments) || !gjson.Parse(arguments).IsObject() {
		return shortText(arguments, limit, path)
	}
	for share := limit; share >= leastValue; share = share * 7 / 8 {
		var b strings.Builder
		writeShort(&b, gjson.Parse(arguments), 0, share, path)
		if compress.Fits(b.String(), limit) {
			return b.String(), true
		}
	}
	return arguments, false
}

// writeShort writes a value whose texts have at most share tokens each.
func writeShort(b *strings.Builder, v gjson.Result, depth, share int, path string) {
	switch {
	case depth <= deepestValue && (v.IsObject() || v.IsArray()):
		b.WriteByte(v.Raw[0])
		first := true
		v.ForEach(func(key, item gjson.Result) bool {
			if !first {
				b.WriteByte(',')
			}
			if first = false; v.IsObject() {
				b.WriteString(key.Raw + ":")
			}
			writeShort(b, item, depth+1, share, path)
			return true
		})
		b.WriteByte("]}"[strings.IndexByte("[{", v.Raw[0])])
	case v.Type == gjson.String:
		text, cut := shortText(v.Str, share, path)
		if !cut {
			b.WriteString(v.Raw)
			return
		}
		var quoted strings.Builder
		enc := json.NewEncoder(&quoted)
		enc.SetEscapeHTML(false)
		enc.Encode(text) // a string is always encoded
		b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
	default:
		b.WriteString(v.Raw)
	}
}

// shortText returns a text within about limit tokens. It keeps the first lines of as many
// here-documents as fit, and the beginning of the text after them.
func shortText(text string, limit int, path string) (short string, cut bool) {
	if compress.Fits(text, limit) {
		return text, false
	}
	for _, s := range slices.Backward(shortBodies(text, path)) {
		rest, _ := compress.Head(text[s.end:], limit-ctxabi.Weight(s.text), path)
		if compress.Fits(s.text+rest, limit) {
			return s.text + rest, true
		}
	}
	short, _ = compress.Head(text, limit, path)
	return short, true
}

// A shortScript is the beginning of a script, text[:end], in which each here-document keeps its
// first lines.
type shortScript struct {
	text string
	end  int
}

// shortBodies returns the beginnings of a script that end after each of its long here-documents.
func shortBodies(script, path string) (short []shortScript) {
	var s shortScript
	for _, t := range tokensOf(script) {
		if lines := strings.SplitAfter(script[t.from:t.to], "\n"); len(lines) > bodyLines+2 {
			head := t.from + len(strings.Join(lines[:bodyLines], ""))
			note := compress.LeftOut(strings.Count(script[head:t.to], "\n"), t.to-head, path)
			s = shortScript{s.text + script[s.end:head] + note + "\n", t.to}
			short = append(short, s)
		}
	}
	return short
}
