package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/compress/toolcall"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Numbers of [Fold].
const (
	foldScanned  = 400 // lines that are read at each end of a text
	foldHeadings = 24  // lines of an outline
	foldHead     = 40  // bytes of the text before JSON
	foldPath     = 80  // bytes of the path of a file
)

// Fold summarizes a result in one line of about limit tokens (by ctxabi.Weight). For JSON, the
// line contains ids and the status; for a file, its path, size, and outline; for a log, the error
// and the end; for a search, the first titles. [compress.Fold] handles all other text. size is the
// size of the result in bytes; text may contain only its head and tail. The line is empty only if
// text is blank.
func Fold(text string, about Hint, size, limit int) string {
	kind := Recognise(text, about)
	if kind == KindBinary {
		what, _ := (&result{text: text, bytes: size}).binary()
		line, _, _ := strings.Cut(what, "\n")
		return line
	}
	text = Plain(WithoutData(text, "the whole"))
	if kind == KindSearch {
		return foldSearch(text, 2*limit)
	}
	if path, part := readPath(about); path != "" && !about.IsError {
		name := clipPath(path)
		if part || !ShowsAll(about.Args, text) {
			name += " (part)"
		}
		return foldFile(text, name, size, limit)
	}
	if line := foldJSON(text, limit); line != "" {
		return line
	}
	line := ""
	switch kind {
	case KindText:
		if _, command := toolOf(about); isQuery(compress.KindOf(about.Tool), command, sampleOf(text)) {
			line = foldLines(text, size, limit)
		}
	case KindLog:
		line = foldLog(text, limit)
	}
	return cmp.Or(line, compress.Fold(text, limit))
}

// foldJSON returns the fields of a JSON text in the order of [JoinFields], up to limit tokens. A
// valid document that fits is returned whole. If [FieldsIn] finds no fields, foldJSON returns "".
func foldJSON(text string, limit int) string {
	text = strings.TrimSpace(text)
	head, fields := FieldsIn(text)
	if len(fields) == 0 {
		return ""
	}
	if isJSON(text) {
		if line := strings.Join(strings.Fields(text), " "); compress.Fits(line, limit) {
			return line
		}
	}
	head = compress.Clip(strings.Join(strings.Fields(head), " "), foldHead)
	line := JoinFields(head, fields, func(line string) bool { return compress.Fits(line, limit) })
	if line == "" {
		line = compress.ClipWords(JoinFields("", fields, func(string) bool { return true }), limit)
	}
	return line
}

// readPath returns the path of the file that a call has read; "" if the result is no file.
func readPath(about Hint) (path string, part bool) {
	uses := toolcall.FileUses(about.Tool, about.Args)
	if len(uses) != 1 || uses[0].Act != toolcall.Reads || strings.ContainsAny(uses[0].Line, "|;&<>") {
		return "", false
	}
	line := uses[0].Line
	return uses[0].Path, line != "" && !strings.HasPrefix(line, "cat ") && !strings.HasPrefix(line, "nl ")
}

// ShowsAll reports whether a tool read a whole file. It looks for a range in the arguments, and for
// a note about omitted lines at the end of the text.
func ShowsAll(arguments, text string) bool {
	all := true
	gjson.Parse(arguments).ForEach(func(_, v gjson.Result) bool {
		all = !(v.Type == gjson.Number && v.Num > 1 || v.IsArray())
		return all
	})
	end := strings.ToLower(text[max(0, len(text)-300):])
	for _, mark := range []string{"more lines", "truncated", "offset=", "left out", "lines omitted"} {
		all = all && !strings.Contains(end, mark)
	}
	return all
}

// clipPath returns a path in one line; of a long one the end.
func clipPath(path string) string {
	path = strings.Join(strings.Fields(path), " ")
	if len(path) > foldPath {
		path = "…" + strings.ToValidUTF8(path[len(path)-foldPath:], "")
	}
	return path
}

// foldFile returns the name of a file, the size of its text, and as much of its outline as fits.
func foldFile(text, name string, size, limit int) string {
	line := fmt.Sprintf("%s, %s bytes", name, thousands(size))
	if len(text) == size {
		if n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; n > 1 {
			line = fmt.Sprintf("%s, %d lines, %s bytes", name, n, thousands(size))
		}
	}

	sep := ": "
	for _, part := range outlineOf(text) {
		part = compress.Clip(strings.TrimRight(strings.TrimSpace(part), " {:"), compress.FoldClip/2)
		switch {
		case strings.Trim(part, "0123456789:|→ \t") == "":
		case compress.Fits(line+sep+part, limit):
			line += sep + part
			sep = compress.FoldJoin
		case sep == ": ":
			return line + sep + compress.ClipWords(part, max(4, limit-limit/2))
		default:
			return line
		}
	}
	return line
}

// outlineOf returns the headings and definitions of a file. If there are none, it returns the lines
// that [compress.Outline] selects.
func outlineOf(text string) (outline []string) {
	s, _ := (&result{text: text, limit: Limit{Tokens: 1 << 20}}).newSheet(text)
	for _, i := range s.outline() {
		outline = append(outline, s.lines[i])
	}
	if len(outline) == 0 {
		outline = compress.Outline(text, foldHeadings)
	}
	return outline[:min(len(outline), foldHeadings)]
}

// foldLines returns the number of lines and as many of the first ones as fit.
func foldLines(text string, size, limit int) string {
	var lines []string
	n := 0
	compress.EachLine(text, func(_ int, line string) {
		if n++; len(lines) < foldHeadings {
			lines = append(lines, compress.Clip(line, compress.FoldClip))
		}
	})
	if n < 2 {
		return ""
	}
	line := fmt.Sprintf("%d lines", n)
	if len(text) < size/2 {
		line = fmt.Sprintf("%s bytes", thousands(size))
	}
	sep := ": "
	for _, part := range lines {
		if sep == ": " {
			part = compress.ClipWords(part, limit*2/3)
		}
		if compress.Fits(line+sep+part, limit) || sep == ": " {
			line += sep + part
			sep = compress.FoldJoin
		}
	}
	return line
}

// foldLog returns the error and the end of a log; "" if no line reports an error.
func foldLog(text string, limit int) string {
	var lines []string
	compress.EachLine(text, func(_ int, line string) { lines = append(lines, line) })
	if len(lines) > 2*foldScanned {
		lines = slices.Concat(lines[:foldScanned], lines[len(lines)-foldScanned:])
	}
	classes, best := make([]class, len(lines)), -1
	wrong, named, end := -1, -1, -1
	for i, line := range lines {
		switch classes[i] = classify(line); classes[i] {
		case classMessage:
			if rank := messageRank(line); rank > best {
				best, wrong = rank, i
			}
		case className:
			if named < 0 {
				named = i
			}
		case classSummary:
			end = i
		}
	}
	if wrong < 0 && named < 0 && end < 0 {
		return ""
	}

	shown := map[int]string{}
	for _, i := range []int{wrong, end, named} {
		if i < 0 || limit < 4 {
			continue
		}
		part := compress.ClipWords(lines[i], limit)
		if len(part) < min(len(lines[i]), foldHead) && len(shown) > 0 {
			continue
		}
		shown[i] = part
		limit -= ctxabi.Weight(part) + 1
	}
	var parts []string
	for i := range lines {
		if part, ok := shown[i]; ok && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, compress.FoldJoin)
}

// messageRank rates a line as an error message. The name of an exception ranks highest; the head of
// a traceback has rank 0.
func messageRank(line string) int {
	line = strings.TrimSpace(line)
	word, _, _ := strings.Cut(line, " ")
	low := strings.ToLower(line)
	switch {
	case strings.HasPrefix(low, "traceback"), strings.HasPrefix(low, "during handling"):
		return 0
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "E  "), strings.HasSuffix(word, "Error:"), strings.HasSuffix(word, "Exception:"):
		return 3
	case strings.HasPrefix(low, "error"), strings.HasPrefix(low, "fatal"), strings.Contains(low, " error: "), strings.Contains(line, "_test.go:"):
		return 2
	}
	return 1
}
