package toolcall

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

var (
	headFrame = lazy.Regexp(`^(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Original token count)[^\n]*\n)+(?:Output:\n|\n)?`)
	tailFrame = lazy.Regexp(`(?:\n?\[(?:exit(?: code| status)?:? \d+\]|The command completed with exit code|Current working directory:|Python interpreter:|Command finished with exit code)[^\n]*\]?)+\s*$`)
)

// Body returns what a command put out, without what tools write around it: exit codes, times, a JSON
// object with a field output, tags of XML.
func Body(text string) string {
	if strings.HasPrefix(text, `{"`) && gjson.Valid(text) {
		for _, key := range []string{"output", "stdout"} {
			if v := gjson.Get(text, key); v.Type == gjson.String {
				if key == "stdout" {
					return v.Str + gjson.Get(text, "stderr").String()
				}
				return v.Str
			}
		}
	}
	if strings.HasPrefix(text, "<returncode>") {
		if _, rest, ok := strings.Cut(text, "<output>\n"); ok {
			return strings.TrimSuffix(strings.TrimSpace(rest), "</output>")
		}
	}
	if loc := headFrame().FindStringIndex(text); loc != nil && strings.Contains(text[:loc[1]], "ode") {
		text = text[loc[1]:]
	}
	if loc := tailFrame().FindStringIndex(text[max(0, len(text)-nearTheEnds):]); loc != nil {
		text = text[:max(0, len(text)-nearTheEnds)+loc[0]]
	}
	return text
}
