package redact

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	ahocorasick "github.com/BobuSumisu/aho-corasick"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// ownVersion is raised when a change of this package finds other secrets than before.
const ownVersion = 2

// Redactor replaces secrets. What it finds never changes, and it is safe for concurrent use.
type Redactor struct {
	rules    []*rule
	everyone allowance // what all rules pass over
	allow    *Allow
	words    *ahocorasick.Trie // of the rules' keywords
	of       [][]int           // by keyword: the rules that have it
	scratch  sync.Pool         // of *scratch

	mu      sync.Mutex
	ledgers map[string]*Ledger // guarded by mu
}

// rule is what one kind of secret looks like.
type rule struct {
	id       string
	source   string // of the expression
	keywords []string
	group    int // that is the secret; 0: the first that holds something, else all
	entropy  float64
	allow    []allowance
	accept   func(secret, match string) bool // nil: everything
	inner    *regexp.Regexp                  // within the secret: what is really one, in group 1; nil: all of it
	rank     rank
	gate     bool // an operator follows the keyword, as with the library's rules for names
	upper    bool // the keyword is in capitals
	name     bool // what stands right in front of a match belongs to it
	carry    bool // a value may stand bare elsewhere

	once  sync.Once
	re    *regexp.Regexp
	reach reach
}

// rank orders rules: a text that several of them find gets the name of the highest.
type rank int

const (
	vague    rank = iota // by what stands around it, of any kind
	context              // by what stands around it, of one kind
	specific             // by what it is
)

func (r *rule) compiled() *regexp.Regexp {
	r.once.Do(func() {
		r.re, r.reach = compile(r.source, r.gate)
	})
	return r.re
}

// Found is a secret that was found.
type Found struct {
	Rule   string
	Secret string
	carry  bool
}

// New returns a Redactor that passes over what is allowed; nil allows nothing. It fails when allow names a rule that there is not.
func New(allow *Allow) (*Redactor, error) {
	if allow == nil {
		allow = &Allow{}
	}
	rules, all, err := fromLibrary()
	if err != nil {
		return nil, err
	}
	r := &Redactor{everyone: all, allow: allow}
	known := map[string]bool{}
	index := map[string]int{}
	var words []string
	for _, x := range slices.Concat(rules, contexts()) {
		known[x.id] = true
		if allow.rules[x.id] {
			continue
		}
		for _, w := range x.keywords {
			w = strings.ToLower(w)
			at, ok := index[w]
			if !ok {
				at = len(words)
				index[w], words, r.of = at, append(words, w), append(r.of, nil)
			}
			r.of[at] = append(r.of[at], len(r.rules))
		}
		r.rules = append(r.rules, x)
	}
	for id := range allow.rules {
		if !known[id] {
			return nil, fmt.Errorf("the allow list names an unknown rule %q; docs/redaction.md lists the rules", id)
		}
	}
	r.words = ahocorasick.NewTrieBuilder().AddStrings(words).Build()
	r.scratch.New = func() any { return &scratch{windows: make([][]window, len(r.rules))} }
	return r, nil
}

// Version names the rules: "gitleaks 8.30.1, ctxfs 2".
func Version() string { return fmt.Sprintf("gitleaks %s, ctxfs %d", libraryVersion, ownVersion) }

// Fingerprint stands for all that decides what is replaced: the rules and the allow list.
func (r *Redactor) Fingerprint() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\nlibrary %x\nallow %s", Version(), sha256.Sum256([]byte(libraryText)), r.allow.canonical()))
	return hex.EncodeToString(h[:8])
}

// Allowed returns how many entries the allow list has.
func (r *Redactor) Allowed() int { return r.allow.len() }

// Text returns a text with a placeholder in the place of each secret, and what they were, in order.
func (r *Redactor) Text(text string) (string, []Found) { return r.replace(text, nil) }

// replace is Text with values that are known to be secrets.
func (r *Redactor) replace(text string, known Known) (string, []Found) {
	var all []Found
	for {
		p := plainOf(text)
		list := r.find(p.text)
		list = appendKnown(list, p.text, known)
		list = resolve(list)
		if len(list) == 0 {
			return text, all
		}
		var b strings.Builder
		end := 0
		for _, f := range list {
			from, to := p.span(f.from, f.to)
			b.WriteString(text[end:from])
			b.WriteString(placeholder(f.rule))
			all = append(all, Found{f.rule, p.text[f.from:f.to], f.carry})
			end = to
		}
		b.WriteString(text[end:])
		text = b.String() // what was hidden behind a match may match now: until nothing does
	}
}

// placeholder is what stands in the place of a secret.
func placeholder(rule string) string { return "[redacted:" + rule + "]" }

// placeholders are those that stand in a text already. Nothing of them is a secret.
var placeholders = lazy.Regexp(`\[redacted:[a-z0-9-]+\]`)

// finding is a secret in a text.
type finding struct {
	from, to int
	rule     string
	rank     rank
	carry    bool
}

// scratch is what one search needs for a while.
type scratch struct {
	lower   []byte
	windows [][]window // by rule
	hit     []int      // the rules that have windows
}

// find returns what the rules find in a text, as it comes.
func (r *Redactor) find(text string) (list []finding) {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	s.lower = lower(s.lower[:0], text)
	r.words.Walk(s.lower, func(end, n, word int64) bool {
		to := int(end) + 1
		for _, i := range r.of[word] {
			x := r.rules[i]
			x.compiled()
			if c := text[to-1]; x.upper && c >= 'a' && c <= 'z' {
				continue
			}
			if x.reach.assigned && !operatorFollows(text, to) {
				continue
			}
			if len(s.windows[i]) == 0 {
				s.hit = append(s.hit, i)
			}
			s.windows[i] = addWindow(s.windows[i], x.reach.around(text, to-int(n), to))
		}
		return true
	})
	if len(s.hit) == 0 {
		return nil
	}
	slices.Sort(s.hit)
	var taken [][]int
	if strings.Contains(text, "[redacted:") {
		taken = placeholders().FindAllStringIndex(text, -1)
	}
	for _, i := range s.hit {
		x := r.rules[i]
		for _, w := range s.windows[i] {
			for _, m := range matches(x.re, text, w) {
				list = r.judge(list, x, text, m, taken)
			}
		}
		s.windows[i] = s.windows[i][:0]
	}
	s.hit = s.hit[:0]
	return list
}

// judge adds what is a secret of a match of x.
func (r *Redactor) judge(list []finding, x *rule, text string, m []int, taken [][]int) []finding {
	from, to := m[0], m[1]
	if x.group > 0 {
		from, to = m[2*x.group], m[2*x.group+1]
	} else {
		for k := 2; k < len(m); k += 2 {
			if m[k] >= 0 && m[k+1] > m[k] {
				from, to = m[k], m[k+1]
				break
			}
		}
	}
	if from < 0 || from >= to {
		return list
	}
	match := text[x.wholeMatch(text, m[0]):m[1]]
	if x.inner != nil {
		for _, in := range x.inner.FindAllStringSubmatchIndex(text[from:to], -1) {
			list = r.add(list, x, text, match, from+in[2], from+in[3], taken)
		}
		return list
	}
	return r.add(list, x, text, match, from, to, taken)
}

func (r *Redactor) add(list []finding, x *rule, text, match string, from, to int, taken [][]int) []finding {
	for from < to && strings.IndexByte(" \t\r\n", text[from]) >= 0 {
		from++
	}
	for from < to && strings.IndexByte(" \t\r\n", text[to-1]) >= 0 {
		to--
	}
	secret := text[from:to]
	if secret == "" || overlaps(taken, from, to) {
		return list
	}
	if x.entropy > 0 && entropy(secret) <= x.entropy {
		return list
	}
	if x.accept != nil && !x.accept(secret, match) || r.allow.allows(secret) {
		return list
	}
	if x.rank != context { // the library's
		line := ""
		for i := -1; i < len(x.allow); i++ {
			a := &r.everyone
			if i >= 0 {
				a = &x.allow[i]
			}
			if a.target == "line" && line == "" {
				line = lineAt(text, from)
			}
			if a.allows(secret, match, line) {
				return list
			}
		}
	}
	return append(list, finding{from, to, x.id, x.rank, x.carry && isCarried(secret)})
}

// resolve puts findings in order and makes one of those that overlap, under the name of the rule that knows most about it.
func resolve(list []finding) (out []finding) {
	slices.SortFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(b.rank, a.rank), strings.Compare(a.rule, b.rule))
	})
	for _, f := range list {
		n := len(out)
		if n == 0 || f.from >= out[n-1].to {
			out = append(out, f)
			continue
		}
		last := &out[n-1]
		last.to = max(last.to, f.to)
		if f.rank > last.rank {
			last.rule, last.rank = f.rule, f.rank
		}
		last.carry = last.carry || f.carry
	}
	return out
}

func overlaps(taken [][]int, from, to int) bool {
	i, _ := slices.BinarySearchFunc(taken, from, func(t []int, at int) int { return cmp.Compare(t[1]-1, at) })
	return i < len(taken) && taken[i][0] < to
}

// lower appends a text with its ASCII letters in lower case: no byte moves.
func lower(b []byte, text string) []byte {
	b = append(b, text...)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// maxLine is how much of a line is looked at on either side of a match.
const maxLine = 4096

func lineAt(text string, at int) string {
	from := strings.LastIndexByte(text[max(0, at-maxLine):at], '\n') + max(0, at-maxLine) + 1
	to := strings.IndexByte(text[at:min(len(text), at+maxLine)], '\n')
	if to < 0 {
		to = min(len(text), at+maxLine) - at
	}
	return text[min(from, at) : at+to]
}

// appendKnown adds the places where known values stand by themselves in a text.
func appendKnown(list []finding, text string, known Known) []finding {
	if len(known) == 0 {
		return list
	}
	taken := placeholders().FindAllStringIndex(text, -1)
	for _, k := range known {
		for at := 0; ; {
			i := strings.Index(text[at:], k.value)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(k.value)
			at = to
			if alone(text, from, to) && !overlaps(taken, from, to) {
				list = append(list, finding{from, to, k.rule, vague, false})
			}
		}
	}
	return list
}

// alone reports whether a part of a text is no part of a longer word.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:])
	after, _ := utf8.DecodeRuneInString(text[to:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	word := func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }
	escaped := from > 1 && text[from-2] == '\\' && strings.ContainsRune("nrt", before)
	return (escaped || !word(before) || !word(first)) && (!word(after) || !word(last))
}
