package hook

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/internal/inputs"
)

// Gemini CLI puts what SessionStart says in front of the first prompt, inside the user's own message, and leaves each message that begins like
// this out when the conversation is taken up again: the user's words go with it. What BeforeAgent says stands behind
// the prompt and stays. So that is where an agent is told, once; at SessionStart only where nothing asks at BeforeAgent.

// beforeAgent is the event in front of each turn of Gemini CLI.
const beforeAgent = "BeforeAgent"

// maxSettings bounds the settings of Gemini CLI, in bytes.
const maxSettings = 1 << 20

// asksLater reports whether the settings of Gemini CLI, of the user or of the project, have a hook in front of each turn.
func (h *input) asksLater() bool {
	if h.program != gemini {
		return false
	}
	home, _ := os.UserHomeDir()
	for _, dir := range []string{home, h.Cwd} {
		name := filepath.Join(dir, ".gemini", "settings.json")
		if !filepath.IsAbs(name) || answers(name) != nil {
			continue
		}
		f, err := inputs.OpenRegular(name)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(f, maxSettings))
		f.Close()
		if bytes.Contains(text, []byte(`"`+beforeAgent+`"`)) {
			return true
		}
	}
	return false
}

// geminiContext returns what the model of a chat has before it: the messages that the last line of the whole history has, and those behind it.
func geminiContext(file adapter.File) (told []adapter.Told, err error) {
	err = adapter.EachObjectBack(file, func(o gjson.Result) bool {
		var texts []adapter.Told
		add := func(message gjson.Result) {
			texts = adapter.Texts(texts, message.Get("content"), false)
			texts = adapter.Texts(texts, message.Get("toolCalls"), false)
		}
		all := o.Get("$set.messages")
		if all.IsArray() {
			all.ForEach(func(_, message gjson.Result) bool { add(message); return true })
		}
		if o.Get("type").Exists() {
			add(o)
		}
		slices.Reverse(texts)
		told = append(told, texts...)
		return !all.IsArray()
	})
	slices.Reverse(told)
	return told, err
}

// angles is how Gemini CLI writes the two characters in what a hook says.
var angles = strings.NewReplacer("&lt;", "<", "&gt;", ">")

const anglesSaid = "In this text &lt; and &gt; stand for the characters less-than and greater-than.\n"
