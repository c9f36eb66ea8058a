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
)

// Bounds of what is taken for a paste.
const (
	shortFence  = 160 // bytes of a fence that may be a part of what is said
	pastedLines = 3   // printed lines in a row
	leftOutMark = "[…]"
	gapMark     = "…" // replaces omitted parts
)

// UserWords returns what a user says in a message, sentence by sentence and item by item, each in
// one line with single blanks. What programs put into the message is left out (see [OwnWords]);
// "[…]" stands for what is pasted: fenced blocks, logs, quoted files. cut reports whether there is
// something of that kind.
func UserWords(text string) (parts []string, cut bool) {
	text = strings.TrimSpace(withoutOwn(OwnWords(text)))
	w := wordsReader{text: text, lines: compress.MarkdownLines(text)}
	for at := 0; at < len(w.lines); {
		if w.lines[at].Blank {
			at++
			continue
		}
		if end := w.pastedAt(at); end > at {
			w.paste()
			at = end
			continue
		}
		if w.lines[at].Code {
			at = w.code(at)
			continue
		}
		at = w.sentences(at)
	}
	return w.parts, w.cut
}

// wordsReader reads a message of a user.
type wordsReader struct {
	text  string
	lines []compress.MarkdownLine
	parts []string
	cut   bool
}

func (w *wordsReader) line(at int) string {
	return strings.TrimSpace(w.text[w.lines[at].From:w.lines[at].To])
}

// paste notes that something is left out here.
func (w *wordsReader) paste() {
	w.cut = true
	if n := len(w.parts); n == 0 || w.parts[n-1] != leftOutMark {
		w.parts = append(w.parts, leftOutMark)
	}
}

// pastedAt returns the line behind what is pasted from a line on; the line itself if nothing is.
func (w *wordsReader) pastedAt(at int) (end int) {
	lines := w.lines
	if lines[at].Code {
		if end = fenceEnd(lines, at, w.line); lines[end-1].To-lines[at].From > shortFence {
			return end
		}
		return at
	}
	if name := opens(w.line(at)); name != "" {
		for end = at; end < len(lines) && !strings.Contains(w.line(end), "</"+name); end++ {
		}
		if end < len(lines) && lines[end].To-lines[at].From > shortFence {
			return end + 1
		}
	}
	if end = w.numberedAt(at); end > at {
		return end
	}
	for end = at; end < len(lines) && !lines[end].Blank && !lines[end].Code && (isPrinted(w.line(end)) || end > at && lines[end].Indent >= 4); end++ {
	}
	if run := keyLines(w.text, lines[at:]); end-at < pastedLines && run >= pasteLines {
		end = at + run
	}
	if end-at >= pastedLines {
		return end
	}
	return at
}

// numberedAt returns the line behind the paragraph that begins at a line if it is copied from a
// diff or a listing with numbers (" + 12  text"), with lines that a terminal wrapped; the line
// itself if it is not.
func (w *wordsReader) numberedAt(at int) (end int) {
	numbered := 0
	for end = at; end < len(w.lines) && !w.lines[end].Blank; end++ {
		if isNumbered(w.line(end)) {
			numbered++
		}
	}
	if numbered < pastedLines {
		return at
	}
	return end
}

// isNumbered reports whether a line has a sign of a diff and a number before its text.
func isNumbered(line string) bool {
	rest := strings.TrimLeft(line, "+-|> ")
	digits := strings.TrimLeft(rest, "0123456789")
	return len(rest) < len(line) && len(digits) < len(rest) && (digits == "" || digits[0] == ' ' || digits[0] == '\t')
}

// code adds the lines of the short fence that begins at a line, and returns the line behind it.
func (w *wordsReader) code(at int) (end int) {
	end = fenceEnd(w.lines, at, w.line)
	for k := at; k < end; k++ {
		if s := w.line(k); !strings.HasPrefix(s, "```") && s != "" {
			w.parts = append(w.parts, strings.Join(strings.Fields(s), " "))
		}
	}
	return end
}

// sentences adds the sentences of the paragraph or item that begins at a line, and returns the line
// behind it.
func (w *wordsReader) sentences(at int) (end int) {
	lines, body := w.lines, w.line(at)
	for at+1 < len(lines) && goesOn(body) && !lines[at+1].Blank && !lines[at+1].Code && !lines[at+1].Item && lines[at+1].Level == 0 {
		at++
		body += " " + w.line(at)
	}
	for body != "" {
		var one string
		one, body = cutSentence(body)
		if one = strings.Join(strings.Fields(one), " "); one != "" {
			w.parts = append(w.parts, one)
		}
	}
	return at + 1
}

// fenceEnd returns the line behind the fence that begins at a line.
func fenceEnd(lines []compress.MarkdownLine, at int, line func(int) string) int {
	end := at + 1
	for end < len(lines) && lines[end].Code {
		if s := line(end); strings.HasPrefix(s, "```") && strings.Trim(s, "`") == "" {
			return end + 1
		}
		end++
	}
	return end
}

// isPrinted reports whether a line looks like a program's output, code, or a quotation.
func isPrinted(line string) bool { return isQuoted(line) || isLog(line) || !isProse(line) }

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

// isQuestion reports whether a sentence ends in a question mark.
func isQuestion(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

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
	points := slices.DeleteFunc(pointsOf(text, n), func(p Point) bool { return p.Worth <= 0 })
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

func pointsOf(text string, n int) []Point {
	if len(text) > proseRead {
		text = strings.ToValidUTF8(text[:proseRead/2], "") + "\n\n# …\n\n" + strings.ToValidUTF8(text[len(text)-proseRead/2:], "")
	}
	r := pointReader{most: n, indent: -1}
	r.read(text)
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
}

// read adds the points of a text.
func (r *pointReader) read(text string) {
	lines := compress.MarkdownLines(text)
	line := func(at int) string {
		return strings.Join(strings.Fields(text[lines[at].From:lines[at].To]), " ")
	}
	for at := 0; at < len(lines) && len(r.points) < maxPoints; at++ {
		l, s := &lines[at], line(at)
		if l.Blank {
			continue
		}
		if isDiff := l.Item && s[0] == '+'; l.Code || l.Level > 0 || isQuoted(s) || isDiff || !l.Item && isLog(s) {
			if r.cut = true; isDiff {
				r.lead = "" // its items are lines of the diff
			} else if l.Level > 0 {
				r.endList()
			}
			r.n++
			continue
		}
		for ; goesOn(s) && at+1 < len(lines) && !endsParagraph(&lines[at+1], line(at+1)); at++ {
			s += " " + line(at+1)
		}
		if !l.Item || l.Indent <= r.indent {
			r.endList()
		}
		leads := isNested(lines, at+1, l.Indent)
		if !l.Item {
			leads = at+1 < len(lines) && lines[at+1].Item && !EndsSentence(s)
		}
		r.line(unmark(s), l, leads)
	}
	r.endList()
}

// endsParagraph reports whether a line does not continue the paragraph or item before it.
func endsParagraph(l *compress.MarkdownLine, s string) bool {
	return l.Blank || l.Code || l.Item || l.Level > 0 || isQuoted(s) || isLog(s)
}

// line reads a line of prose, or an item of a list. leads reports whether a nested list follows.
func (r *pointReader) line(s string, l *compress.MarkdownLine, leads bool) {
	if l.Item && l.Bullet {
		s = unmark(strings.TrimSpace(s[1:])) // with the label of an option
	} else if l.Item {
		_, s = cutMark(s, false)
		s = unmark(s)
	}
	if r.lead != "" {
		r.item(s)
		return
	}
	for body, first := s, true; body != ""; first = false {
		var one string
		one, body = cutSentence(body)
		switch {
		case body == "" && (leads || introduces(one)):
			r.lead, r.indent, r.cut = asItem(one), -1, false
			if l.Item {
				r.indent = l.Indent
			}
		case isProse(one):
			r.add(unmark(one), !first || !l.Item)
		default:
			r.n++
		}
	}
}

// item adds an item to the current list.
func (r *pointReader) item(s string) {
	s = asItem(s)
	if r.cut = r.cut || len(r.lead)+1+len(s) > r.most; !r.cut {
		r.lead += " " + s
	}
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
	case adjacent && (repairs || RefersBack(s) && worthOf(s) >= joinedWorth) && len(r.points[last].Text)+1+len(s) <= r.most:
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
