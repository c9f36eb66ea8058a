package result

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// Recognise returns what a result is made of: by its content where that is plain, else by the call.
func Recognise(text string, about Hint) Kind {
	if isBinary(text) {
		return KindBinary
	}
	start := strings.TrimSpace(text[:min(len(text), sniffed)])
	tool, command := toolOf(about)
	switch {
	case mayBeJSON(start) && isJSON(text):
		if hits, _ := jsonHits(text, tool); hits != nil {
			return KindSearch
		}
		return KindJSON
	case isHTML(start):
		return KindHTML
	}
	sample := sampleOf(text)
	switch {
	case isDiff(sample):
		return KindDiff
	case isWebSearch(sample, tool):
		return KindSearch
	case command != "grep" && isRun(sample):
		return KindLog
	}
	if kind := kindOfCommand(command, about.Args, sample); kind != "" {
		return kind
	}
	switch {
	case compress.IsFileTool(tool):
		return KindFile
	case compress.IsMatchTool(tool) && matched(sample):
		return KindMatches
	case compress.IsListTool(tool):
		return KindListing
	case isTable(sample):
		return KindTable
	case matched(sample):
		return KindMatches
	case listed(sample):
		return KindListing
	case command != "" || compress.IsShellTool(tool) || runsCode(tool, about.Args) || failures(sample) > 0:
		return KindLog
	}
	return KindText
}

// kindOfCommand returns what a command prints; "" where its name does not say that.
func kindOfCommand(command, args string, sample []string) Kind {
	switch command {
	case "cat", "head", "tail", "sed", "nl", "less", "more", "bat", "open", "goto", "scroll_down", "scroll_up", "read", "view", "set_cursors":
		if !strings.Contains(args, ".log") && !strings.Contains(args, ".out") {
			return KindFile
		}
	case "grep", "rg", "ag", "ack":
		return KindMatches
	case "ls", "find", "tree", "fd", "du":
		if listed(sample) {
			return KindListing
		}
	}
	return ""
}

// mayBeJSON reports whether a text begins as an object or a list.
func mayBeJSON(start string) bool {
	return strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[")
}

// sniffed is how much of a text, in bytes, is looked at to find its kind.
const sniffed = 4096

// toolOf returns the tool's plain name, and for one that runs commands the first that shows
// something.
func toolOf(about Hint) (tool, command string) {
	name := about.Tool
	if i := strings.LastIndexAny(name, ".:/"); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	tool = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
	if !compress.IsShellTool(tool) && (compress.IsCodeTool(tool) || !gjson.Valid(about.Args) || gjson.Get(about.Args, "command").Type != gjson.String || slices.ContainsFunc(compress.PathKeys, func(key string) bool { return gjson.Get(about.Args, key).Exists() })) {
		return tool, ""
	}
	if command, ok := firstCommand(commandOf(about.Args)); ok {
		return tool, command
	}
	return tool, tool
}

// firstCommand returns the program that a command line runs first, but for those that only prepare
// it; ok is false if there is none.
func firstCommand(line string) (command string, ok bool) {
	for _, part := range strings.FieldsFunc(line, func(c rune) bool { return c == ';' || c == '&' || c == '|' || c == '\n' }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "time" || words[0] == "timeout" || words[0][0] >= '0' && words[0][0] <= '9') {
			words = words[1:]
		}
		if len(words) == 0 || words[0] == "cd" || words[0] == "export" || words[0] == "set" || words[0] == "source" {
			continue
		}
		command = strings.Trim(words[0], `"'`)
		command = command[strings.LastIndexByte(command, '/')+1:]
		if command == "git" && len(words) > 1 && words[1] == "grep" {
			command = "grep"
		}
		return command, true
	}
	return "", false
}

// runsCode reports whether a call runs a program that stands in its arguments, by their names and by words of the tool's.
func runsCode(tool, args string) bool {
	code := gjson.Valid(args) && (gjson.Get(args, "code").Type == gjson.String || gjson.Get(args, "source_code").Type == gjson.String)
	for _, word := range []string{"run", "exec", "interpret", "python", "code", "repl", "eval", "notebook", "sandbox", "jupyter", "shell", "terminal", "command"} {
		if code && strings.Contains(tool, word) {
			return true
		}
	}
	return compress.IsCodeTool(tool)
}

// commandOf finds the command line in a call's arguments.
func commandOf(args string) string {
	if len(args) > 1<<16 {
		args = args[:1<<16]
	}
	if !gjson.Valid(args) {
		return args
	}
	for _, key := range []string{"command", "cmd", "script", "code", "input"} {
		switch v := gjson.Get(args, key); {
		case v.IsArray(): // ["bash", "-lc", "go test ./..."]
			if words := v.Array(); len(words) > 0 {
				return words[len(words)-1].String()
			}
		case v.Type == gjson.String:
			return v.String()
		}
	}
	return ""
}

// sampleOf gives the first lines of a text.
func sampleOf(text string) []string {
	lines := strings.Split(plainText(text[:min(len(text), sniffed)]), "\n")
	if len(text) > sniffed && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	n := 0
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			lines[n] = strings.TrimRight(l, " \t")
			n++
		}
	}
	return lines[:n]
}

// share is the part of lines for which is holds.
func share(lines []string, is func(string) bool) float64 {
	n := 0
	for _, l := range lines {
		if is(l) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(lines)))
}

func isBinary(text string) bool {
	head := text[:min(len(text), sniffed)]
	bad := 0
	for i, c := range head {
		if c == 0 || c == utf8.RuneError && i < len(head)-utf8.UTFMax || c < ' ' && !strings.ContainsRune("\n\r\t\b\x1b\f", c) {
			bad++
		}
	}
	if bad*20 > len(head) {
		return true
	}
	_, n := base64Of(text)
	return n > 0
}

// base64Of gives the media type, if it is a data URL, and the number of bytes of a text that is all base64; else n is 0.
func base64Of(text string) (media string, n int) {
	body := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(body, "data:"); ok {
		at := strings.Index(rest[:min(len(rest), 200)], ";base64,")
		if at < 0 {
			return "", 0
		}
		media, body = rest[:at], rest[at+len(";base64,"):]
	}
	if len(body) < 256 {
		return "", 0
	}
	digits, upper := false, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		digits = digits || c >= '0' && c <= '9'
		upper = upper || c >= 'A' && c <= 'Z'
		if !ofBase64(c) && !(c == '=' && i >= len(body)-2) {
			return "", 0
		}
	}
	first := strings.IndexAny(body, "\r\n")
	if first < 0 {
		first = len(body)
	}
	if !digits || !upper || first < 60 && first < len(body) {
		return "", 0
	}
	return media, base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(body, "=")) - strings.Count(body, "\n") - strings.Count(body, "\r"))
}

// ofBase64 reports whether a byte stands in base64, in one of its alphabets or between lines.
func ofBase64(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_\n\r", c) >= 0
}

// deepest is how deep JSON may be nested to be taken for JSON.
const deepest = 64

func isJSON(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth == 0 && gjson.Valid(text) && utf8.ValidString(text)
}

func isHTML(start string) bool {
	low := strings.ToLower(start[:min(len(start), 512)])
	return strings.HasPrefix(low, "<!doctype html") || strings.HasPrefix(low, "<html") || strings.HasPrefix(low, "<?xml") && strings.Contains(low, "<html") ||
		strings.HasPrefix(low, "<head") || strings.HasPrefix(low, "<body")
}

func isDiff(lines []string) bool {
	headers := 0
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "diff --git "), strings.HasPrefix(l, "@@ -") && strings.Contains(l[3:], "@@"):
			headers++
		case strings.HasPrefix(l, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			headers++
		}
	}
	return headers >= 2 && (strings.HasPrefix(lines[0], "diff ") || strings.HasPrefix(lines[0], "--- ") || strings.HasPrefix(lines[0], "commit ") || headers*50 > len(lines))
}

func isWebSearch(lines []string, tool string) bool {
	if !isSearchTool(tool) {
		return false
	}
	urls := 0
	for _, l := range lines {
		if strings.Contains(l, "://") {
			urls++
		}
	}
	return urls >= 2
}

// matched says whether most lines begin with a path and perhaps a number, as grep prints them.
func matched(lines []string) bool {
	return len(lines) >= 3 && share(lines, func(l string) bool { file, _ := matchOf(l); return file != "" || l == "--" }) > 0.7
}

// matchOf takes a line as grep prints it apart: "src/a.go:12:func main() {"; file is "" for another line.
func matchOf(line string) (file string, text int) {
	at := strings.IndexByte(line, ':')
	if at <= 0 || at > 200 || strings.HasPrefix(line[at:], "::") || strings.ContainsAny(line[:at], " \t(){}\"'<>=,") || !strings.ContainsAny(line[:at], "./") || strings.HasPrefix(line[at:], "://") {
		return "", 0
	}
	return line[:at], at + 1
}

// listed says whether most lines are paths or entries of directories.
func listed(lines []string) bool {
	return len(lines) >= 3 && share(lines, func(l string) bool { return entryOf(l) != noEntry }) > 0.8
}

// isTable says whether the lines look like a header and rows of as many columns.
func isTable(lines []string) bool {
	if len(lines) < 4 {
		return false
	}
	for _, sep := range []string{"\t", ",", "|", ";"} {
		n := strings.Count(lines[0], sep)
		if n < 2 {
			continue
		}
		if share(lines, func(l string) bool {
			return strings.Count(l, sep) >= n && strings.Count(l, sep) <= n+2 || strings.Trim(l, "|-+: ") == ""
		}) > 0.9 && !strings.Contains(lines[0], "(") {
			return true
		}
	}
	return aligned(lines)
}

// aligned says whether columns begin at the same places in most lines, below a header in capitals.
func aligned(lines []string) bool {
	head := lines[0]
	if head != strings.ToUpper(head) || len(strings.Fields(head)) < 3 || strings.ContainsAny(head, "=[]{}#*") {
		return false
	}
	var starts []int
	for i := 1; i < len(head); i++ {
		if head[i] != ' ' && head[i-1] == ' ' && i > 1 && head[i-2] == ' ' {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return len(strings.Fields(head)) >= 3 && share(lines, func(l string) bool {
			n := len(strings.Fields(l)) - len(strings.Fields(head))
			return n >= 0 && n <= 8 && !strings.HasPrefix(l, " ")
		}) > 0.9 && strings.ContainsAny(head, "%")
	}
	return share(lines[1:], func(l string) bool {
		n := 0
		for _, at := range starts {
			if at >= len(l) || l[at-1] == ' ' {
				n++
			}
		}
		return n*4 >= len(starts)*3
	}) > 0.8
}

// isRun says whether lines are what test runners and compilers print.
func isRun(lines []string) bool {
	for _, l := range lines[:min(len(lines), 12)] {
		for _, sign := range []string{"=== test session starts ===", "=== RUN   ", "--- FAIL: ", "TAP version 1", "collected ", "   Compiling ", "npm error ", "npm ERR! "} {
			if strings.Contains(l, sign) && !strings.ContainsAny(l, "\"`") {
				return true
			}
		}
		if n, ok := strings.CutPrefix(l, "running "); ok && strings.HasSuffix(n, " tests") {
			return true
		}
	}
	return share(lines, func(l string) bool {
		return strings.Contains(l, ": error: ") || strings.Contains(l, ": warning: ") || strings.Contains(l, "): error ") || strings.HasPrefix(l, "error[") || strings.Contains(l, "::") && (strings.HasSuffix(l, "FAILED") || strings.Contains(l, " PASSED "))
	}) > 0.08
}

func failures(lines []string) int {
	n := 0
	for _, l := range lines {
		if classify(l) >= classMessage {
			n++
		}
	}
	return n
}
