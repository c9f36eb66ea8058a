package ctxabi

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Usage is what a provider says that one model call took, in one normal form. All numbers are tokens.
type Usage struct {
	Input      int  // of the request, whether they came from the provider's cache or not
	CacheRead  int  // of these, read from the cache
	CacheWrite int  // of these, written to it; 0 where the provider does not say
	Output     int  // of the answer
	Caches     bool // the record says something of a cache; without that CacheRead says nothing
}

// maxUsage bounds every number of a usage record; what is above it is no count of tokens.
const maxUsage = 1 << 40

// usageKeys are the numbers that are read. Those of one meaning stand together, the first that is there counts.
var usageKeys = [...]string{
	"input_tokens", "prompt_tokens", "promptTokenCount",
	"cache_read_input_tokens", "cached_tokens", "cachedContentTokenCount",
	"cache_creation_input_tokens",
	"output_tokens", "completion_tokens", "candidatesTokenCount",
	"thoughtsTokenCount",
}

// DecodeUsage reads a record of events.jsonl of type usage, as Anthropic, OpenAI (both of its interfaces) and Gemini write
// it: the numbers stand at the top or in an object usage or usageMetadata. ok is false when it is not a valid event of
// that type, or does not say how large the request was.
//
// Anthropic's input_tokens are those that the cache had nothing to do with; the sum of its three numbers is Input. All others
// count what was read from the cache among their input.
func DecodeUsage(line []byte) (u Usage, ok bool) {
	if !utf8.Valid(line) || bytes.IndexByte(line, '\n') >= 0 || len(line) > MaxRecord {
		return u, false
	}
	var kind, inner []byte
	top := usageFields{}
	problem := scanObject(line, func(key, value []byte) {
		switch {
		case isKey(key, "type"):
			kind = value
		case isKey(key, "usage"), isKey(key, "usageMetadata"):
			inner = value
		default:
			top.read(key, value)
		}
	})
	if problem != "" || !isString(kind) || textOf(kind) != "usage" {
		return u, false
	}
	if isObject(inner) {
		nested := usageFields{}
		scanObject(inner, nested.read)
		if _, ok := nested.first(0, 3); ok {
			return nested.usage()
		}
	}
	return top.usage()
}

// usageFields are the numbers of one object, in the order of usageKeys.
type usageFields struct {
	n     [len(usageKeys)]int
	known [len(usageKeys)]bool
}

func (f *usageFields) read(key, value []byte) {
	if isObject(value) && (isKey(key, "prompt_tokens_details") || isKey(key, "input_tokens_details")) {
		scanObject(value, func(key, value []byte) {
			if isKey(key, "cached_tokens") {
				f.read(key, value)
			}
		})
		return
	}
	for i, name := range usageKeys {
		if !isKey(key, name) {
			continue
		}
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 && n <= maxUsage {
			f.n[i], f.known[i] = int(n), true
		}
		return
	}
}

func (f *usageFields) first(from, to int) (n int, ok bool) {
	for i := from; i < to; i++ {
		if f.known[i] {
			return f.n[i], true
		}
	}
	return 0, false
}

func (f *usageFields) usage() (u Usage, ok bool) {
	u.Input, ok = f.first(0, 3)
	if !ok {
		return Usage{}, false
	}
	u.CacheRead, u.Caches = f.first(3, 6)
	u.CacheWrite = f.n[6]
	if f.known[0] && (f.known[3] || f.known[6]) { // Anthropic's
		u.Input += u.CacheRead + u.CacheWrite
		u.Caches = true
	}
	u.CacheRead = min(u.CacheRead, u.Input)
	u.Output, _ = f.first(7, 10)
	u.Output += f.n[10]
	return u, true
}
