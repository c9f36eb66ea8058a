package runs

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/compress/result"
	"github.com/ctxfs/ctxfs/compress/toolcall"
)

// readingVerbs are words among the first two of a tool's name that change nothing.
var readingVerbs = compress.WordSet(`get list search find read fetch query lookup view show calculate compute think thinking thought thoughts reason plan describe count
	browse open ask retrieve grep glob ls cat web status info help load select inspect watch wait sleep recall remember todo todos task tasks screenshot
	snapshot estimate compare summarize translate measure scan sample poll ping trace profile benchmark analyze analyse skill finish respond
	scroll goto reflect check`)

// makingVerbs are words in the names of tools that make something new with each call.
var makingVerbs = compress.WordSet("add book charge create insert issue make new order pay place post refund register reserve schedule send start")

// changingVerbs are first words of the names of other tools that act.
var changingVerbs = compress.WordSet("approve archive assign block cancel change close complete confirm delete edit enable disable exchange modify move reject release remove rename reply return set submit transfer update upgrade")

// checkingVerbs are words in the names of tools whose output is that of a test or a build.
var checkingVerbs = compress.WordSet("test tests build check lint compile validate verify run make execute exec deploy install")

// verbsOf returns the words of a tool's name that may contain its verb.
func verbsOf(tool string) []string {
	words := compress.NameWords(compress.BareName(tool))
	return words[:min(2, len(words))]
}

// isReading reports whether a tool changes nothing outside of the conversation.
func isReading(tool string) bool {
	plain, verbs := compress.PlainName(tool), verbsOf(tool)
	switch {
	case len(verbs) == 0, notes.KeepsList(tool), compress.IsSubAgent(tool):
		return true
	case makingVerbs[verbs[0]] && len(verbs) > 1, changingVerbs[verbs[0]]:
		return false
	}
	return slices.ContainsFunc(verbs, func(w string) bool { return readingVerbs[w] }) ||
		compress.IsFileTool(plain) || compress.IsMatchTool(plain) || compress.IsListTool(plain)
}

// isLookUp reports whether a read-only tool queries something outside of the workspace. Lines show
// the last result of such a tool if it is JSON.
func isLookUp(tool string) bool {
	plain := compress.PlainName(compress.BareName(tool))
	return !compress.IsFileTool(plain) && !compress.IsMatchTool(plain) && !compress.IsListTool(plain) &&
		!notes.KeepsList(tool) && !compress.IsSubAgent(tool)
}

// identityNames are names of arguments that identify the object of a call, besides those of ids.
var identityNames = compress.WordSet("url uri to target host hostname service env environment branch table database namespace pod container email account order name title")

// identifies reports whether an argument identifies the object of a call. Means of payment and ids
// of requests do not.
func identifies(f *result.Field) bool {
	low := strings.ToLower(f.Path)
	for _, word := range []string{"payment", "request", "call", "message"} {
		if strings.Contains(low, word) {
			return false
		}
	}
	return f.Top() && (identityNames[low] && strings.IndexFunc(f.Value, unicode.IsLetter) >= 0 || result.IsID(f.Path))
}

// fileOf returns the file that a call of a file tool works on; "" for another call.
func fileOf(tool, arguments string) string {
	if toolcall.FileAct(tool) == "" {
		return ""
	}
	args := gjson.Parse(arguments)
	for _, key := range compress.PathKeys {
		if v := args.Get(key); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// saysError reports whether a text is an error message.
func saysError(text string) bool {
	text = strings.ToLower(strings.TrimLeft(text, " \n\t\"'{[("))
	for _, word := range []string{"error", "failed", "failure", "exception", "traceback", "fatal", "permission denied", "no such file", "invalid "} {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}

// tellsError reports whether the fields of a result say that the call failed.
func tellsError(fields []result.Field) bool {
	return slices.ContainsFunc(fields, func(f result.Field) bool {
		if !f.Top() && !strings.HasPrefix(f.Path, "error") {
			return false
		}
		switch name := strings.ToLower(f.Path); {
		case name == "success" || name == "ok":
			return f.Value == "false"
		case name == "error" || strings.HasPrefix(name, "error.") || strings.HasPrefix(name, "errors."):
			return f.Value != "false" && f.Value != "0" && f.Value != "none"
		}
		return false
	})
}
