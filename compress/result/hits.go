package result

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// isHit reports whether an item of a list is a search result: it has a title, and an address or a
// text.
func isHit(item gjson.Result) bool {
	if item.Get("title").Type != gjson.String {
		return false
	}
	for _, field := range []string{"url", "link", "snippet"} {
		if item.Get(field).Type == gjson.String {
			return true
		}
	}
	return false
}

// foldSearch returns one line, of about limit tokens, for the results of a search: their number and as
// many of the first titles as fit. It returns "" if text is no result of a search.
func foldSearch(text string, limit int) string {
	s, ok := (&result{text: text, limit: Limit{Tokens: 1 << 20}}).newSheet(text)
	if !ok {
		return ""
	}
	starts := s.hits()
	line, sep := fmt.Sprintf("Found %d results", len(starts)), ": "
	for _, i := range starts {
		title := compress.Clip(strings.Join(strings.Fields(hitTitle(s.lines[i])), " "), compress.FoldClip/2)
		if title != "" && compress.Fits(line+sep+title, limit) {
			line += sep + title
			sep = compress.FoldJoin
		}
	}
	return line
}

// hits returns the first line of each result in the text of a search.
func (s *sheet) hits() (starts []int) {
	for i := range s.lines {
		if s.beginsHit(i) {
			starts = append(starts, i)
		}
	}
	return starts
}

// beginsHit reports whether line i begins a search result: with a number, as a title, or as the
// first line of a paragraph with an address.
func (s *sheet) beginsHit(i int) bool {
	if i > 0 && s.glued[i-1] {
		return false
	}
	line := strings.TrimSpace(s.lines[i])
	if strings.HasPrefix(strings.ToLower(strings.TrimLeft(line, "-*# ")), "title:") || numberOf(line) != "" {
		return true
	}
	if line == "" || i == 0 || strings.TrimSpace(s.lines[i-1]) != "" {
		return false
	}
	for k := i; k < min(len(s.lines), i+3) && strings.TrimSpace(s.lines[k]) != ""; k++ {
		linked := strings.Contains(line, "](http") || strings.HasPrefix(strings.TrimLeft(line, "-*# "), "http")
		if strings.Contains(s.lines[k], "://") && (k > i || linked) {
			return true
		}
	}
	return false
}

// numberOf returns the number with which a line begins, and its mark: "12. "; "" if it has none.
func numberOf(line string) string {
	n := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if n > 0 && n < 4 && n+1 < len(line) && strings.IndexByte(".):", line[n]) >= 0 && line[n+1] == ' ' {
		return line[:n+2]
	}
	return ""
}

// hitTitle returns the title in the line that begins a result.
func hitTitle(line string) string {
	line = strings.TrimLeft(strings.TrimSpace(line), "-*# ")
	line = strings.TrimPrefix(line, numberOf(line))
	if len(line) > 6 && strings.EqualFold(line[:6], "title:") {
		line = line[6:]
	}
	if title, _, ok := strings.Cut(strings.TrimPrefix(line, "["), "](http"); ok {
		line = title
	}
	return strings.Trim(line, "* ")
}
