package tokens

import (
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// models names the families of models by encoding. A model belongs to the
// longest name that it equals or continues with one of '-', '.' and ':'
// ("gpt-4o" stands for "gpt-4o-2024-05-13" too), a fine-tuned one ("ft:...")
// to its base.
var models = map[string][]string{
	"o200k_base": {
		"gpt-4o", "chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "codex-mini", "computer-use-preview",
		"o1", "o3", "o4", "omni-moderation",
	},
	"cl100k_base": {
		"gpt-4", "gpt-3.5", "gpt-35", "davinci-002", "babbage-002",
		"text-embedding-ada-002", "text-embedding-3-large", "text-embedding-3-small",
	},
}

// resolve returns the encoding of an encoding's or a model's name.
func resolve(name string) (string, error) {
	if name == "" {
		return DefaultEncoding, nil
	}
	if _, ok := counters[name]; ok {
		return name, nil
	}
	base := strings.TrimPrefix(name, "ft:")
	best, length := "", 0
	for encoding, families := range models {
		for _, f := range families {
			rest, ok := strings.CutPrefix(base, f)
			if ok && len(f) > length && (rest == "" || strings.ContainsRune("-.:", rune(rest[0]))) {
				best, length = encoding, len(f)
			}
		}
	}
	if best != "" {
		return best, nil
	}
	var all []string
	for _, families := range models {
		all = append(all, families...)
	}
	slices.Sort(all)
	return "", ctxabi.E("count", "", ctxabi.ErrMalformed,
		"%.60q is neither an encoding (cl100k_base, o200k_base) nor a model with a known tokeniser (%s, and their versions)",
		name, strings.Join(all, ", "))
}
