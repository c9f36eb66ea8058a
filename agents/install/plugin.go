package install

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed plugin.js
var pluginText []byte

// plugin is the plugin of opencode, a file that is all of ctxfs.
type plugin struct{ command []string }

// pluginMark is how the file begins.
const pluginMark = "// The memory of ctxfs in opencode."

// pluginCommand is the line of the file with the command that it starts.
const pluginCommand = "const COMMAND = "

func (p plugin) put(text []byte) ([]byte, error) {
	if len(text) > 0 && !bytes.HasPrefix(text, []byte(pluginMark)) {
		return nil, fmt.Errorf("it is not the plugin of ctxfs; rename or remove it first")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p.command); err != nil {
		return nil, err
	}
	return bytes.Replace(pluginText, []byte(pluginCommand+"[]"), append([]byte(pluginCommand), bytes.TrimSpace(b.Bytes())...), 1), nil
}

func (p plugin) take(text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte(pluginMark)) {
		return nil, nil
	}
	return text, nil
}

func (p plugin) same(a, b []byte) bool { return bytes.Equal(a, b) }

func (p plugin) own(text []byte) ([]entry, error) {
	if !bytes.HasPrefix(text, []byte(pluginMark)) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, pluginCommand); ok {
			var command []string
			if err := json.NewDecoder(strings.NewReader(rest)).Decode(&command); err == nil {
				return []entry{entryOf("plugin", command)}, nil
			}
		}
	}
	return []entry{{where: "plugin"}}, nil
}
