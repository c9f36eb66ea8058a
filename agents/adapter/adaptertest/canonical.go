package adaptertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// CanonicalEqual compares two transcripts as canonical JSON: the order of keys
// and the blanks do not matter, numbers are equal by their digits, strings by
// what their escapes mean, half surrogates included. Each holds one JSON value
// or several, or lines of which some are not JSON; these are compared as text.
// It gives "" or what is different, by path.
func CanonicalEqual(a, b []byte) (diff string) {
	x, y := values(adapter.Decode(a)), values(adapter.Decode(b))
	for i := range max(len(x), len(y)) {
		path := fmt.Sprintf("value %d", i+1)
		switch {
		case i >= len(x):
			return path + ": only the second has it: " + short(y[i])
		case i >= len(y):
			return path + ": only the first has it: " + short(x[i])
		}
		if d := differ(path, x[i], y[i]); d != "" {
			return d
		}
	}
	return ""
}

// Values of JSON here are map[string]any, []any, nil, bool, number and text;
// notJSON is a line that is none.
type (
	number  string
	text    string // WTF-8: a half surrogate has its three bytes
	notJSON string
)

func values(data []byte) (all []any) {
	d := newDecoder(data)
	for {
		v, err := value(d)
		if err == io.EOF {
			return all
		}
		if err != nil {
			break
		}
		all = append(all, v)
	}
	all = nil
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		d := newDecoder(line)
		v, err := value(d)
		if _, more := d.Token(); err != nil || more != io.EOF {
			v = notJSON(line)
		}
		all = append(all, v)
	}
	return all
}

func newDecoder(b []byte) *json.Decoder { return json.NewDecoder(bytes.NewReader(b)) }

func value(d *json.Decoder) (any, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, err
	}
	return parsed(raw), nil
}

// parsed takes valid JSON.
func parsed(raw json.RawMessage) any {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '{':
		keys := map[string]any{}
		ctxabi.EachField(raw, len(raw), func(key, v []byte) { keys[string(unquoted(key))] = parsed(v) })
		return keys
	case '[':
		list := []any{}
		ctxabi.EachElement(raw, len(raw), func(item []byte) { list = append(list, parsed(item)) })
		return list
	case '"':
		return unquoted(raw)
	case 't', 'f':
		return raw[0] == 't'
	case 'n':
		return nil
	}
	return number(raw)
}

// unquoted is what a JSON string means.
func unquoted(raw json.RawMessage) text {
	var out []byte
	s := raw[1 : len(raw)-1]
	for len(s) > 0 {
		if s[0] != '\\' {
			out, s = append(out, s[0]), s[1:]
			continue
		}
		if s[1] != 'u' {
			out, s = append(out, map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[s[1]]), s[2:]
			continue
		}
		r := unit(s)
		s = s[6:]
		if second := unit(s); utf16.IsSurrogate(r) && utf16.DecodeRune(r, second) != utf8.RuneError {
			r, s = utf16.DecodeRune(r, second), s[6:]
		}
		if utf16.IsSurrogate(r) {
			out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0x3f)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return text(out)
}

// unit reads \uXXXX at the beginning of s; -1 when there is none.
func unit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func differ(path string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Collect(maps.Keys(a))
		keys = slices.AppendSeq(keys, maps.Keys(b))
		slices.Sort(keys)
		for _, k := range slices.Compact(keys) {
			x, inA := a[k]
			y, inB := b[k]
			switch at := path + "." + k; {
			case !inB:
				return at + ": only the first has it: " + short(x)
			case !inA:
				return at + ": only the second has it: " + short(y)
			default:
				if d := differ(at, x, y); d != "" {
					return d
				}
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok {
			break
		}
		for i := range min(len(a), len(b)) {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); d != "" {
				return d
			}
		}
		if len(a) != len(b) {
			return fmt.Sprintf("%s: %d and %d elements: %s, %s", path, len(a), len(b), short(a), short(b))
		}
		return ""
	default:
		switch b.(type) {
		case map[string]any, []any:
		default:
			if a == b {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s:\n  first  %s\n  second %s", path, short(a), short(b))
}

func short(v any) string {
	s := fmt.Sprintf("%#v", v)
	s = strings.NewReplacer("map[string]interface {}", "", "[]interface {}", "", "adaptertest.", "").Replace(s)
	if len(s) > 400 {
		s = s[:300] + " … " + s[len(s)-80:]
	}
	return s
}
