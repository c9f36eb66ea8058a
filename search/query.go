package search

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/excerpt"
)

// What a query asks for when it does not say.
const (
	DefaultHits   = 10
	MaxHits       = 100
	DefaultTokens = 2000
	MinTokens     = 64
	MaxTokens     = 32000
)

// Bounds of one query.
const (
	maxText  = 4096 // bytes
	maxTerms = excerpt.MaxTerms
	maxExact = 8 // phrases, and bare identifiers
)

// Query is what somebody looks for.
type Query struct {
	Text   string      // the words, as they are meant: %2F is a slash here
	N      int         // hits, at most
	Tokens int         // of the answer, at most
	Role   ctxabi.Role // of the records; RoleUnknown: any
	Tool   string      // that a record calls or is the result of; "": any
	In     string      // "messages" or "events"; "": both
	Range  ctxabi.Span // of lines of one log; the zero span: all
	JSON   bool        // the answer is JSON and no text

	loose   string   // Text without the phrases
	terms   []uint64 // distinct
	phrases []exact  // each has to stand in a record
	names   []exact  // records with them come first
}

// exact is a text that is looked for verbatim.
type exact struct {
	text  string
	words []uint64
}

// Filters is a line on what may follow a query, for who got it wrong.
const Filters = "n=1-100, tokens=64-32000, role=system|developer|user|assistant|tool|event, tool=NAME, in=messages|events, range=FROM-TO, format=text|json"

// ParseName reads a query as the name of a file writes it: words, and behind the last ? that a KEY= follows, filters that & joins.
// %2F, %3F and %25 stand for a slash, a question mark and a percent sign; any other byte may be written so, too. It fails
// with ctxabi.ErrMalformed.
func ParseName(name string) (Query, error) {
	text, filters := name, ""
	if i := strings.LastIndexByte(name, '?'); i >= 0 && isFilters(name[i+1:]) {
		text, filters = name[:i], name[i+1:]
	}
	q := Query{Text: decode(text)}
	for part := range strings.SplitSeq(filters, "&") {
		if key, value, _ := strings.Cut(part, "="); part != "" {
			if err := q.filter(key, decode(value)); err != nil {
				return Query{}, err
			}
		}
	}
	return q, q.Prepare()
}

// InPhrase reports whether a name ends inside a phrase: what follows its last double quote is not closed, and
// the quote opens a word. In a path such a name is a directory in which the phrase goes on behind a slash. A
// name that is too long for a query does not.
func InPhrase(name string) bool {
	i := strings.LastIndexByte(name, '"')
	if i < 0 || strings.Count(name, `"`)%2 == 0 || len(name) > maxText {
		return false
	}
	before, after := name[:i], name[i+1:]
	return (before == "" || strings.HasSuffix(before, " ")) && !strings.HasPrefix(after, " ")
}

// isFilters reports whether what follows a question mark is meant for filters, right or wrong: what is is not, what key=value is.
func isFilters(s string) bool {
	key, _, ok := strings.Cut(s, "=")
	return ok && key != "" && strings.IndexFunc(key, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' }) < 0
}

// Name writes the query so that ParseName reads it.
func (q *Query) Name() string {
	name := strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F").Replace(q.Text)
	var filters []string
	add := func(key, value string, set bool) {
		if set {
			filters = append(filters, key+"="+strings.NewReplacer("%", "%25", "/", "%2F", "?", "%3F", "&", "%26").Replace(value))
		}
	}
	add("n", strconv.Itoa(q.N), q.N != DefaultHits && q.N != 0)
	add("tokens", strconv.Itoa(q.Tokens), q.Tokens != DefaultTokens && q.Tokens != 0)
	add("role", q.Role.String(), q.Role != ctxabi.RoleUnknown)
	add("tool", q.Tool, q.Tool != "")
	add("in", q.In, q.In != "")
	add("range", q.Range.String(), q.Range != ctxabi.Span{})
	add("format", "json", q.JSON)
	if len(filters) > 0 {
		name += "?" + strings.Join(filters, "&")
	}
	return name
}

func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b = append(b, c[0])
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func malformed(format string, args ...any) error {
	return ctxabi.E("search", "", ctxabi.ErrMalformed, "%s; the filters after the query's ? are %s, joined by &", fmt.Sprintf(format, args...), Filters)
}

func (q *Query) filter(key, value string) error {
	number := func(least, most int) (int, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return 0, malformed("%s=%s is not a number from %d to %d", key, value, least, most)
		}
		return n, nil
	}
	var err error
	switch key {
	case "n":
		q.N, err = number(1, MaxHits)
	case "tokens":
		q.Tokens, err = number(MinTokens, MaxTokens)
	case "role":
		if q.Role = ctxabi.ParseRole(value); value == ctxabi.Event.String() {
			q.Role = ctxabi.Event
		}
		if q.Role == ctxabi.RoleUnknown {
			err = malformed("there is no role %q", value)
		}
	case "tool":
		if q.Tool = value; value == "" || len(value) > ctxabi.MaxName {
			err = malformed("tool= needs the name of a tool")
		}
	case "in":
		if q.In = value; value != "messages" && value != "events" {
			err = malformed("in=%s is neither messages nor events", value)
		}
	case "range":
		if q.Range, err = ctxabi.ParseSpan(value); err != nil {
			err = malformed("range=%s is not a range of records like 12 or 100-200", value)
		}
	case "format":
		if q.JSON = value == "json"; !q.JSON && value != "text" {
			err = malformed("format=%s is neither text nor json", value)
		}
	default:
		err = malformed("there is no filter %q", key)
	}
	return err
}

// Prepare checks a query that was made by hand, and fills in what it does not say.
// It fails with ctxabi.ErrMalformed.
func (q *Query) Prepare() error {
	if !utf8.ValidString(q.Text) || strings.IndexByte(q.Text, 0) >= 0 || len(q.Text) > maxText {
		return malformed("a query is text of up to %d bytes", maxText)
	}
	if q.N == 0 {
		q.N = DefaultHits
	}
	if q.Tokens == 0 {
		q.Tokens = DefaultTokens
	}
	if q.Range != (ctxabi.Span{}) && q.In == "" {
		q.In = "messages" // lines are those of one log
	}
	q.terms, q.phrases, q.names = nil, nil, nil
	add := func(t uint64) {
		if len(q.terms) < maxTerms && !slices.Contains(q.terms, t) {
			q.terms = append(q.terms, t)
		}
	}
	loose := q.Text
	for len(q.phrases) < maxExact {
		from := strings.IndexByte(loose, '"')
		if from < 0 {
			break
		}
		to := strings.IndexByte(loose[from+1:], '"')
		if to < 0 {
			break
		}
		phrase := strings.TrimSpace(loose[from+1 : from+1+to])
		if p := newExact(phrase); len(p.words) > 0 {
			q.phrases = append(q.phrases, p)
		}
		loose = loose[:from] + " " + loose[from+to+2:]
	}
	for _, p := range q.phrases {
		for _, t := range p.words {
			add(t)
		}
	}
	for _, p := range q.phrases {
		for _, t := range p.words {
			if !slices.Contains(q.terms, t) {
				return malformed("the phrases have more than %d words", maxTerms)
			}
		}
	}
	q.loose = loose
	compress.Terms(loose, add)
	for _, word := range strings.FieldsFunc(loose, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`"',;()[]{}<>`, c) }) {
		word = strings.TrimRight(word, ".:?!")
		if p := newExact(word); isName(word) && len(p.words) > 0 && len(q.names) < maxExact && !slices.ContainsFunc(p.words, func(t uint64) bool { return !slices.Contains(q.terms, t) }) {
			q.names = append(q.names, p)
		}
	}
	return nil
}

// view returns the query as excerpts read it. worth is that of its terms.
func (q *Query) view(worth []float64) *excerpt.Query {
	v := &excerpt.Query{Terms: q.terms, Worth: worth}
	for _, x := range slices.Concat(q.phrases, q.names) {
		v.Exact = append(v.Exact, excerpt.Exact{Text: x.text, Words: x.words})
	}
	return v
}

func newExact(text string) exact {
	p := exact{text: text}
	compress.Words(text, func(t uint64) {
		if len(p.words) < maxTerms && !slices.Contains(p.words, t) {
			p.words = append(p.words, t)
		}
	})
	return p
}

// isName reports whether a word is a path, an identifier, a code: it has a digit, a capital inside, or joins words.
func isName(word string) bool {
	for i, c := range word {
		switch {
		case '0' <= c && c <= '9', i > 0 && unicode.IsUpper(c), strings.ContainsRune("_/:.@#", c), i > 0 && c == '-':
			return true
		}
	}
	return false
}
