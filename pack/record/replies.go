package record

import (
	"strings"

	"github.com/tidwall/gjson"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// replies returns what a user answered by the results in a message, as far as they are those of a program's own question
// tool. Only a transcript of that program shows that a tool is its own: plain records name tools as they like. It returns
// ctxabi.ErrIO when the call cannot be read.
func replies(log Records, e ctxabi.Entry, raw []byte, answers []derived.Answer) (out []derived.UserAnswer, err error) {
	var format string
	var call []byte
	for _, a := range answers {
		if e.CallOf == 0 || a.Failed || format == "" && !derived.AsksUser("", a.Tool) {
			continue
		}
		if call == nil {
			if format = importedFrom(raw); format == "" {
				return nil, nil
			}
			if call, err = log.Record(int(e.CallOf)); err != nil {
				return nil, Unreadable(Address{Line: int(e.CallOf)}, err)
			}
			if importedFrom(call) != format || isForeign(call) {
				return nil, nil
			}
		}
		calls := Answers{int(e.CallOf), ctxabi.DecodeMessage(call).Calls}
		if derived.AsksUser(format, calls.Name(a.Call)) {
			out = append(out, derived.UserAnswers(format, calls.Arguments(a.Call), a.Text)...)
		}
	}
	return out, nil
}

// importedFrom returns the format of the transcript that a record was imported from, or "".
func importedFrom(raw []byte) string { return gjson.GetBytes(raw, "import.format").Str }

// isForeign reports whether a call in a record is one of an MCP server's tool, which may have any name: Codex writes the
// server beside the name, Gemini CLI into the name that it shows.
func isForeign(raw []byte) bool {
	foreign := false
	eachField(gjson.GetBytes(raw, "import.rest"), func(key string, v gjson.Result) {
		foreign = foreign || key == "namespace" && v.String() != "" || key == "displayName" && strings.Contains(v.String(), "MCP Server")
	})
	return foreign
}

// eachField calls do for the fields of all objects in a value.
func eachField(v gjson.Result, do func(key string, v gjson.Result)) {
	v.ForEach(func(key, v gjson.Result) bool {
		if v.IsObject() || v.IsArray() {
			eachField(v, do)
		} else {
			do(key.Str, v)
		}
		return true
	})
}
