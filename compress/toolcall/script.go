package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// Script returns the script that a call runs in a shell; ok is false if it runs none.
func Script(tool, arguments string) (script string, ok bool) {
	kind := compress.KindOf(tool)
	var args map[string]any
	if json.Unmarshal([]byte(arguments), &args) != nil {
		return arguments, kind == compress.ShellTool && !strings.Contains(strings.ToLower(tool), "python")
	}
	for _, key := range []string{"command", "cmd", "script"} {
		switch v := args[key].(type) {
		case string:
			for _, p := range compress.PathKeys {
				if _, named := args[p].(string); named && !strings.Contains(v, " ") { // an editor's: view, create
					return "", false
				}
			}
			return v, v != ""
		case []any:
			words := make([]string, 0, len(v))
			for _, w := range v {
				if s, ok := w.(string); ok {
					words = append(words, s)
				}
			}
			if len(words) > 0 {
				if inner := ShellScript(words); inner != "" {
					return inner, true
				}
				return strings.Join(words, " "), true
			}
		}
	}
	return "", false
}
