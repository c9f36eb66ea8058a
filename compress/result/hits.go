package result

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/compress"
)

// hit is one of the results of a search.
type hit struct {
	title, url, says string
	score            float64
}

// Fields of responses of searches, the first that is there counts.
var (
	hitLists  = []string{"results", "organic_results", "organic", "hits", "web.results", "webPages.value", "documents", "items", "data", "value"}
	hitTitles = []string{"title", "name", "heading"}
	hitURLs   = []string{"url", "link", "href", "uri"}
	hitSays   = []string{"snippet", "content", "description", "text", "summary", "body", "excerpt"}
	answers   = []string{"answer", "answer_box.answer", "ai_overview", "abstract"}
)

// surelyHits are how many of hitLists are lists of a search whatever the tool is called.
const surelyHits = 6

func firstString(v gjson.Result, keys []string) string {
	for _, key := range keys {
		if s := v.Get(key); s.Type == gjson.String && strings.TrimSpace(s.Str) != "" {
			return strings.Join(strings.Fields(s.Str), " ")
		}
	}
	return ""
}

// jsonHits returns the results in the response of a search, and its own answer; none if the
// response is of something else.
func jsonHits(text, tool string) (hits []hit, answer string) {
	v := gjson.Parse(text)
	searches := isSearchTool(tool)
	read := func(list gjson.Result, surely bool) []hit {
		var out []hit
		all := 0
		list.ForEach(func(_, e gjson.Result) bool {
			all++
			h := hit{title: firstString(e, hitTitles), url: firstString(e, hitURLs), says: firstString(e, hitSays)}
			if e.Type == gjson.String && searches {
				h = hit{title: strings.Join(strings.Fields(e.Str), " ")}
			} else if !e.IsObject() || h.title == "" || h.url == "" && h.says == "" || !searches && (!surely || h.url == "" || h.says == "") {
				return true
			}
			out = append(out, h)
			return true
		})
		if len(out) < 2 && all > 1 || len(out)*5 < all*4 {
			return nil
		}
		return out
	}
	if v.IsArray() {
		return read(v, false), ""
	}
	for i, key := range hitLists {
		if list := v.Get(key); list.IsArray() {
			if hits = read(list, i < surelyHits); hits != nil {
				return hits, firstString(v, answers)
			}
		}
	}
	return nil, ""
}

// textHits returns the results in the text of a search: a line that begins one, and what stands
// up to the next.
func textHits(text string) (hits []hit) {
	s, ok := (&result{text: text, limit: Limit{Tokens: 1 << 20}}).newSheet(text)
	if !ok {
		return nil
	}
	for i, line := range s.lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || i == 0 && !beginsNumbered(line):
		case i == 0 || s.beginsHit(i):
			hits = append(hits, hit{title: hitTitle(line)})
		case len(hits) > 0 && strings.Contains(line, "://") && !strings.Contains(strings.TrimPrefix(strings.TrimPrefix(line, "URL: "), "Link: "), " "):
			hits[len(hits)-1].url = line
		case len(hits) > 0:
			hits[len(hits)-1].says += line + " "
		}
	}
	return hits
}

func beginsNumbered(line string) bool {
	n := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return n > 0 && n < 4 && n+1 < len(line) && strings.IndexByte(".):", line[n]) >= 0
}

// hitTitle returns the title in the line that begins a result.
func hitTitle(line string) string {
	line = strings.TrimLeft(line, "-*# ")
	if beginsNumbered(line) {
		line = strings.TrimLeft(strings.TrimLeft(line, "0123456789"), ".): ")
	}
	if len(line) > 6 && strings.EqualFold(line[:6], "title:") {
		line = line[6:]
	}
	if title, _, ok := strings.Cut(strings.TrimPrefix(line, "["), "](http"); ok {
		line = title
	}
	return strings.Trim(line, "* ")
}

// rankHits scores results by the words that they share with what was asked, those of the title
// for two, and sorts them by that; the order of the source decides between equals.
func rankHits(hits []hit, asked string) {
	terms := map[uint64]bool{}
	compress.Terms(asked, func(t uint64) { terms[t] = true })
	for k := range hits {
		h := &hits[k]
		seen := map[uint64]bool{}
		for i, text := range []string{h.title, h.says} {
			compress.Terms(text, func(t uint64) {
				if terms[t] && !seen[t] {
					seen[t] = true
					h.score += float64(2 - i)
				}
			})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
}

// FoldSearch returns one line, of at most about limit tokens (by ctxabi.Weight), for what a
// search found: how many results, its own answer, and the titles that have the most to do with
// what was asked. tool and asked are the call's name and arguments. It returns "" if the text is
// no result of a search.
func FoldSearch(text, tool, asked string, limit int) string {
	name, _ := toolOf(Hint{Tool: tool})
	hits, answer := []hit(nil), ""
	start := strings.TrimSpace(text[:min(len(text), sniffed)])
	switch {
	case mayBeJSON(start) && isJSON(text):
		hits, answer = jsonHits(text, name)
	case isSearchTool(name) && isWebSearch(sampleOf(text), name):
		hits = textHits(text)
	}
	if len(hits) == 0 {
		return ""
	}
	rankHits(hits, asked)
	line := fmt.Sprintf("Found %d results", len(hits))
	if answer != "" {
		answer, _ = compress.ClipTokens(answer, limit/2)
		line += ", answer: " + answer
	}
	sep := ", among them: "
	for _, h := range hits {
		title := compress.Clip(h.title, compress.FoldClip/2)
		if title == "" || !compress.Fits(line+sep+title, limit) {
			continue
		}
		line += sep + title
		sep = compress.FoldJoin
	}
	return line
}

// jsonSearch shows of the best results in a response the title and the address, and as much of what
// they say as there is room for: of the best five first.
func (r *result) jsonSearch() (string, bool) {
	name, _ := toolOf(r.about)
	hits, answer := jsonHits(r.text, name)
	rankHits(hits, r.about.Args)
	most := func(n int, fits func(n int) bool) int { // the largest that fits; 0: none
		return sort.Search(n, func(k int) bool { return !fits(k + 1) })
	}
	bare := compress.Clip(answer, answerBytes)
	holds := func(text string, share int) bool {
		return r.limit.Holds(text) && r.limit.of(text)*4 <= r.limit.Tokens*share
	}
	named := most(min(len(hits), bestHits), func(n int) bool { return r.limit.Holds(r.hits(hits, n, 0, 0, bare)) })
	if named == 0 {
		return "", false
	}
	named = max(named, most(len(hits), func(n int) bool { return holds(r.hits(hits, n, 0, 0, bare), 2) }))
	short := r.hits(hits, named, 0, 0, bare)
	says := func(telling int) bool { // shows as much as fits of what so many say
		longest := 0
		for _, h := range hits[:telling] {
			longest = max(longest, len(h.says))
		}
		n := most(longest, func(n int) bool { return r.limit.Holds(r.hits(hits, named, telling, n, bare)) })
		if n > 0 {
			short = r.hits(hits, named, telling, n, bare)
		}
		return n > 0
	}
	for telling := min(named, bestHits); telling > 0 && !says(telling); telling-- {
	}
	if named > bestHits && !r.full(short) {
		says(named)
	}
	if r.full(short) {
		return short, true
	}
	whole := most(len(hits), func(n int) bool { return r.limit.Holds(r.hits(hits, n, n, r.bytes, bare)) })
	if whole >= named { // those above stand whole: more of them, and at last some without what they say
		named = most(len(hits), func(n int) bool { return r.limit.Holds(r.hits(hits, max(n, whole), whole, r.bytes, bare)) })
		short = r.hits(hits, named, whole, r.bytes, bare)
	}
	return short, true
}

// hits writes the first so many results, of the first telling of them so many bytes of what they say.
func (r *result) hits(hits []hit, named, telling, says int, answer string) string {
	var b strings.Builder
	b.WriteByte('{')
	if answer != "" {
		b.WriteString(`"answer":` + quote(answer) + ",")
	}
	b.WriteString(`"results":[`)
	for i, h := range hits[:named] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"title":` + quote(compress.Clip(h.title, 200)))
		if h.url != "" {
			b.WriteString(`,"url":` + quote(compress.Clip(h.url, 300)))
		}
		if i < telling && h.says != "" {
			b.WriteString(`,"snippet":` + quote(compress.Clip(h.says, says)))
		}
		b.WriteByte('}')
	}
	if left := len(hits) - named; left > 0 {
		b.WriteString("," + quote(fmt.Sprintf("… %d more", left)))
	}
	b.WriteString(`],"[left out]":` + quote(strings.TrimSpace(compress.LeftOut(0, max(0, r.bytes-b.Len()), r.path))) + "}")
	return b.String()
}

const (
	bestHits    = 5   // search results of which is shown what they say, before that of others
	answerBytes = 400 // of a search's own answer
)

// beginsHit reports whether line i, which is not the first, begins a search result: a number, a
// title, or the first line of a paragraph that has an address.
func (s *sheet) beginsHit(i int) bool {
	if s.glued[i-1] {
		return false
	}
	line := strings.TrimSpace(s.lines[i])
	low := strings.ToLower(strings.TrimLeft(line, "-*# "))
	if strings.HasPrefix(low, "title:") {
		return true
	}
	n := 0
	for n < len(line) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n < 4 && n+1 < len(line) && (line[n] == '.' || line[n] == ')' || line[n] == ':') && line[n+1] == ' ' {
		return true
	}
	if line == "" || strings.TrimSpace(s.lines[i-1]) != "" {
		return false
	}
	for k := i; k < min(len(s.lines), i+3) && strings.TrimSpace(s.lines[k]) != ""; k++ {
		if strings.Contains(s.lines[k], "://") && (k > i || strings.HasPrefix(line, "#") || strings.Contains(line, "](http") || strings.HasPrefix(low, "http")) {
			return true
		}
	}
	return false
}
