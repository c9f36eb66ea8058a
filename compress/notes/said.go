package notes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

var (
	demandWords  = wordSet("demands")
	stepWords    = wordSet("steps")
	outcomeWords = wordSet("outcomes")
	repairWords  = wordSet("repairs")
	reasonWords  = wordSet("reasons")
	becauseWords = wordSet("becauses")
)

// Marks of omitted text.
const (
	leftOutMark = "[…]" // pasted content
	gapMark     = "…"   // other parts
)

// UserWords returns what a user says in a message, sentence by sentence and item by item, each in
// one line with single blanks. It omits what programs put into the message (see [OwnWords]), and
// replaces pasted content by "[…]": long fences, logs, tables, quoted files. cut reports whether
// there is any.
func UserWords(text string) (parts []string, cut bool) { return wordsOf(sentencesOf(OwnWords(text))) }

// wordsOf is UserWords of the sentences of a message.
func wordsOf(list []sentence) (parts []string, cut bool) {
	for i := range list {
		part := list[i].whole
		if list[i].kind == kindPasted {
			part, cut = leftOutMark, true
		}
		if n := len(parts); part != leftOutMark || n == 0 || parts[n-1] != leftOutMark {
			parts = append(parts, part)
		}
	}
	return parts, cut
}

// Order returns the indices of parts by descending importance: parts that first accepts, the first
// part, demands, the last part, other parts, and omission marks. Equal ranks keep their order.
func Order(parts []string, first func(part string) bool) []int {
	order, ranks := make([]int, len(parts)), make([]int, len(parts))

	for i, part := range parts {
		order[i], ranks[i] = i, 4
		switch {
		case part == leftOutMark, part == gapMark:
			ranks[i] = 5
		case first(part):
			ranks[i] = 0
		case i == 0:
			ranks[i] = 1
		case demands(part):
			ranks[i] = 2
		case i == len(parts)-1:
			ranks[i] = 3
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return ranks[a] - ranks[b] })
	return order
}

// Shorten joins parts into one line of up to limit tokens, measured by count. If they do not fit,
// it selects parts in the sequence of order, replaces the others by …, and cut is true.
func Shorten(parts []string, order func() []int, limit int, count func(string) int) (text string, cut bool) {
	if text = strings.Join(parts, " "); count(text) <= limit {
		return text, false
	}

	taken := make([]bool, len(parts))
	misses := 0
	for _, i := range order() {
		n := count(parts[i]) + 1
		if n > limit {
			if misses++; misses > 4 {
				break
			}
			continue
		}
		limit -= n
		taken[i] = true
	}

	text = strings.Join(Select(parts, func(i int) bool { return taken[i] }), " ")
	if text == gapMark { // the first sentence alone is too long
		text, _ = compress.ClipTokens(parts[0], max(8, limit*3/4))
		if len(parts) > 1 && !strings.HasSuffix(text, gapMark) {
			text += " " + gapMark
		}
	}
	return text, true
}

// Select returns the parts that keep accepts by index, with "…" for each run of other parts.
func Select(parts []string, keep func(i int) bool) (selected []string) {
	for i, part := range parts {
		if part == gapMark || !keep(i) {
			part = gapMark
		}
		if n := len(selected); part != gapMark || n == 0 || selected[n-1] != gapMark {
			selected = append(selected, part)
		}
	}
	return selected
}

// Demands reports whether one of the parts of a message may demand something: a rule, a value, an
// answer.
func Demands(parts []string) bool { return slices.ContainsFunc(parts, demands) }

// demands reports whether a sentence may demand something, or changes what an earlier one demanded.
func demands(s string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool { return !('a' <= r && r <= 'z') && r != '\'' && r < 0x80 }) {
		if demandWords.has(w) {
			return true
		}
	}
	return isQuestion(s) || IsRule(s) || changeIn(s, "", "") != nil
}

// isQuestion reports whether a sentence ends in a question mark, ignoring quotes and brackets.
func isQuestion(s string) bool {
	s = strings.TrimRight(s, `.!")*`)
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// Point is a passage of a message that says what was done, found or decided, or why.
type Point struct {
	Text  string
	Worth int // the more the better; at least 1
	N     int // passages with consecutive numbers are adjacent in the message
}

// Points returns the best points of a message of a model in their order, at most limit of them and
// each of at most n bytes. A point is a sentence with those that refer back to it, or a list with
// its introduction. "…" marks omitted text.
func Points(text string, n, limit int) []Point {
	return bestPoints(sentencesOf(bothEnds(text)), n, limit)
}

// bestPoints is Points of the sentences of a message.
func bestPoints(list []sentence, n, limit int) []Point {
	points := slices.DeleteFunc(pointsOf(list, n), func(p Point) bool { return p.Worth <= 0 })
	if len(points) <= limit {
		return points
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return points[b].Worth - points[a].Worth })
	order = order[:limit]
	slices.Sort(order)
	best := make([]Point, 0, limit)
	for _, i := range order {
		best = append(best, points[i])
	}
	return best
}

// joinedWorth is the least worth of a sentence that is joined to the one that it refers to.
const joinedWorth = 3

// maxPoints is how many sentences of a message are looked at.
const maxPoints = 64

// pointsOf returns the points of a message, also those of no worth.
func pointsOf(list []sentence, n int) []Point {
	r := pointReader{most: n, indent: -1}
	for i := 0; i < len(list) && len(r.points) < maxPoints; i++ {
		var next *sentence
		if i+1 < len(list) {
			next = &list[i+1]
		}
		r.read(&list[i], next)
	}
	r.endList()
	return r.points
}

// pointReader reads the points of a text.
type pointReader struct {
	most   int // bytes of one
	points []Point
	n      int // number of the next passage

	lead   string // the introduction of a list, and its items so far; "": no list
	indent int    // of the item that introduces the list; -1: a paragraph does
	cut    bool   // a part of the list is omitted
	header string // the first row of the current table
}

// read reads one sentence.
func (r *pointReader) read(s, next *sentence) {
	if s.kind != kindSaid && s.kind != kindBox {
		r.omit(s)
		return
	}
	text := s.text
	if s.first && s.item && !s.number {
		text = strings.TrimSpace(s.whole[1:]) // with the label of an option
	}
	text, r.header = unmark(text), ""
	if s.first && (!s.item || s.indent <= r.indent) {
		r.endList()
	}
	leads := s.last && next != nil && next.item && next.first
	leads = leads && (s.item && next.indent > s.indent+1 || !s.item && !EndsSentence(text))
	switch {
	case r.lead != "":
		text = asItem(text)
		if r.cut = r.cut || len(r.lead)+1+len(text) > r.most; !r.cut {
			r.lead += " " + text
		}
	case s.last && (leads || introduces(text)):
		r.lead, r.indent, r.cut = asItem(text), -1, false
		if s.item {
			r.indent = s.indent
		}
	case isProse(text):
		r.add(text, !s.first || !s.item)
	default:
		r.n++
	}
}

// omit reads a line that nobody says. A row of a table is a point with its header.
func (r *pointReader) omit(s *sentence) {
	r.cut = true
	if strings.HasPrefix(s.whole, "+") {
		r.lead = "" // its items are lines of the diff
	} else if s.kind == kindHeading {
		r.endList()
	}
	switch {
	case !strings.HasPrefix(s.whole, "|"):
		r.header = ""
	case r.header == "":
		r.header = s.whole
	case strings.Trim(s.whole, "|-: ") != "":
		if row := r.header + " " + s.whole; len(row) <= r.most {
			r.points = append(r.points, Point{row, worthOf(row), r.n})
		}
	}
	r.n++
}

// givesReason reports whether a sentence gives the reason of the one before it.
func givesReason(s string) bool {
	words := strings.Fields(strings.ToLower(s))
	return slices.ContainsFunc(words[:min(3, len(words))], func(w string) bool { return becauseWords.has(strings.Trim(w, ",:'")) })
}

// asItem returns an item with punctuation at its end.
func asItem(s string) string {
	if s != "" && !EndsSentence(s) && !strings.HasSuffix(s, ";") {
		s += ";"
	}
	return s
}

// endList ends the current list.
func (r *pointReader) endList() {
	if r.lead == "" {
		return
	}
	bare := introduces(r.lead)
	if r.cut {
		r.lead += " …"
	}
	if !bare && len(r.lead) <= r.most+len(" …") {
		r.points = append(r.points, Point{r.lead, worthOf(r.lead), r.n})
	}
	r.lead, r.indent = "", -1
	r.n++
}

// add adds a sentence. If joins is true and the sentence reports a repair or has enough worth, add
// appends it to the previous point. If both are too long for one point, a repair replaces that
// point.
func (r *pointReader) add(s string, joins bool) {
	last, repairs := len(r.points)-1, isRepair(s)
	adjacent := joins && last >= 0 && r.points[last].N == r.n-1 && r.points[last].Worth > 0
	switch {
	case adjacent && (repairs || givesReason(s) || RefersBack(s) && worthOf(s) >= joinedWorth) && len(r.points[last].Text)+1+len(s) <= r.most:
		p := &r.points[last]
		p.Text, p.Worth = p.Text+" "+s, max(p.Worth, worthOf(s))
		return
	case adjacent && repairs:
		r.points = r.points[:last]
		s = "… " + s
	}
	if len(s) <= r.most {
		r.points = append(r.points, Point{s, worthOf(s), r.n})
	}
	r.n++
}

// worthOf returns what a sentence of a model says about what was done, found or decided; 0 for
// nothing.
func worthOf(s string) int {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool {
		return !('a' <= r && r <= 'z') && r != '\'' && r < 0x80
	})
	if len(words) < 3 && unspacedWords(s) < 3 || isQuestion(s) {
		return 0
	}
	worth := 1
	if len(words) > 1 && (stepWords.has(words[0]) || words[0] == "i'll" || words[0] == "i" && (words[1] == "will" || words[1] == "need" || words[1] == "see" || words[1] == "can")) {
		worth = -2
	}
	outcomes, reasons := 0, 0
	for _, w := range words {
		if outcomeWords.has(w) && outcomes < 2 {
			outcomes++
		}
		if reasonWords.has(w) {
			reasons = 1
		}
	}
	worth += 2*outcomes + 3*reasons
	named := 0
	compress.EachWord(s, func(word string, kind compress.WordKind) {
		if named < 3 && (kind == compress.IdentifierWord || strings.ContainsAny(word, "0123456789")) {
			named++
		}
	})
	if len(words) <= 3 && named == 0 && unspacedWords(s) == 0 { // "I found it."
		return min(worth, 1)
	}
	return worth + named
}

// unspacedWords estimates the number of words that a sentence has in scripts without spaces
// between them: two characters count as one word.
func unspacedWords(s string) (n int) {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			n++
		}
	}
	return n / 2
}
