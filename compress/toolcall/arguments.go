package toolcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
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
	root := gjson.Parse(arguments)
	var weights []int
	eachText(root, 0, func(text string) { weights = append(weights, ctxabi.Weight(text)) })
	for share := shareOf(weights, limit-ctxabi.Weight(arguments)); share >= leastValue; share = share * 3 / 4 {
		var b strings.Builder
		writeShort(&b, root, 0, share, path)
		if compress.Fits(b.String(), limit) {
			return b.String(), true
		}
	}
	return arguments, false
}

// shareOf returns how much of each text may be shown so that all of them weigh by over less than they do;
// over is negative.
func shareOf(weights []int, over int) int {
	slices.Sort(weights)
	room := over
	for _, w := range weights {
		room += w
	}
	share := 0
	for i, w := range weights {
		if share = room / (len(weights) - i); w >= share {
			return share
		}
		room -= w
	}
	return share
}

// eachText calls do with each text of a value.
func eachText(v gjson.Result, depth int, do func(text string)) {
	switch {
	case depth > deepestValue:
	case v.IsObject() || v.IsArray():
		v.ForEach(func(_, item gjson.Result) bool { eachText(item, depth+1, do); return true })
	case v.Type == gjson.String:
		do(v.Str)
	}
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

var hereDocument = lazy.Regexp(`<<-?\s*(?:\\?(\w+)|'(\w+)'|"(\w+)")[^\n]*\n`)

// shortText returns a text within about limit tokens.
func shortText(text string, limit int, path string) (short string, cut bool) {
	if compress.Fits(text, limit) {
		return text, false
	}
	text = shortBodies(text, path)
	if compress.Fits(text, limit) {
		return text, true
	}
	short, _ = compress.Head(text, limit, path)
	return short, true
}

// shortBodies returns a script in which each here-document keeps its first lines.
func shortBodies(script, path string) string {
	var b strings.Builder
	for {
		at := hereDocument().FindStringSubmatchIndex(script)
		if at == nil {
			b.WriteString(script)
			return b.String()
		}
		word := ""
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				word = script[at[group]:at[group+1]]
			}
		}
		b.WriteString(script[:at[1]])
		script = script[at[1]:]
		end := regexp.MustCompile(`(?m)^\t*` + word + `$`).FindStringIndex(script)
		if end == nil {
			end = []int{len(script), len(script)}
		}
		body := script[:end[0]]
		lines := strings.SplitAfter(body, "\n")
		if len(lines) > bodyLines+2 {
			head := strings.Join(lines[:bodyLines], "")
			body = head + compress.LeftOut(strings.Count(body[len(head):], "\n"), len(body)-len(head), path) + "\n"
		}
		b.WriteString(body)
		script = script[end[0]:]
	}
}
