package notes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
)

// Change says that a later message of the user changed a statement.
type Change struct {
	At   Position // the message with the statement
	Part int      // the statement's index among the parts that [UserWords] returns, or among the replies of a result
	Text string   // the statement
	By   Position // the message that changed it
}

// Changes folds the statements of the user and tells which of them a later one changed. It is the
// only place that decides this. A statement is changed by a reply to the same question, or by a
// sentence that a rule of changeRules recognizes and that names exactly one earlier statement. In
// all other cases both statements stay. The zero value is ready.
type Changes struct {
	said []statementSaid
}

// Statement is one statement of a message for [Changes.Add].
type Statement struct {
	Text     string
	Part     int
	Question string // the words of the question of a question tool, if the statement is a reply to it
	Asked    string // the proposal that the statement accepts
	Mute     bool   // the statement may be changed but changes nothing
}

// statementSaid is a statement and the message that changed it.
type statementSaid struct {
	Statement
	at      Position
	by      Position // zero: it is in force
	changes bool     // it asks for a change
}

// maxSaidStatements is the number of statements that may still be changed.
const maxSaidStatements = 1024

// maxStatement is the number of bytes of a statement that count.
const maxStatement = longSentence

// changing is a sentence that changes an earlier statement.
type changing struct {
	rule      *changeRule
	object    []token // what no longer holds
	beside    []token // the rest of the sentence and the sentence before it
	scopes    [][]token
	run, rest string // the object and the rest, in a script without spaces
}

// Add adds the statements of one message and returns what they change. change returns, for each
// sentence that asks for a change, whether another text states what it ends.
func (c *Changes) Add(at Position, parts []Statement) (changed []Change, ends []func(text string) bool) {
	quoted := false
	for i, p := range parts {
		p.Text = compress.Clip(p.Text, maxStatement)
		inside := quoted
		quoted = quoted != (strings.Count(p.Text, `"`)%2 == 1)
		if inside || p.Text == leftOutMark {
			continue
		}

		row := statementSaid{Statement: p, at: at}
		if p.Question != "" {
			changed = append(changed, c.replyAgain(&row)...)
		}
		if ch := changeAt(parts, i); ch != nil {
			row.changes = true
			changed = append(changed, c.apply(ch, at)...)
			if ch.rule.effect != returns && ch.rule.effect != takesBack {
				ends = append(ends, ch.ends)
			}
		}
		if isQuestion(p.Text) {
			continue
		}
		c.said = append(c.said, row)
	}
	c.said = newest(c.said, maxSaidStatements, func(s *statementSaid) bool { return s.changes || s.by != (Position{}) })
	return changed, ends
}

// changeAt returns the change that one of the statements of a message asks for, or nil.
func changeAt(parts []Statement, i int) *changing {
	before, next := "", ""
	if i > 0 {
		before = parts[i-1].Text
	}
	if i+1 < len(parts) {
		next = parts[i+1].Text
	}
	if parts[i].Mute {
		return nil
	}
	return changeIn(parts[i].Text, before, next)
}

// All returns the changes, in the order of the changed statements.
func (c *Changes) All() (out []Change) {
	for i := range c.said {
		if s := &c.said[i]; s.by != (Position{}) {
			out = append(out, Change{At: s.at, Part: s.Part, Text: s.Text, By: s.by})
		}
	}
	return out
}

// Asks returns the statements that ask for a change, oldest first.
func (c *Changes) Asks() (out []Statement) {
	for i := range c.said {
		if s := &c.said[i]; s.changes {
			out = append(out, s.Statement)
		}
	}
	return out
}

// end notes that a message changed the statement with index i and all equal ones.
func (c *Changes) end(i int, by Position) (changed []Change) {
	for k := range c.said {
		s := &c.said[k]
		if k == i || s.by == (Position{}) && s.Asked == c.said[i].Asked && ItemKey(s.Text) == ItemKey(c.said[i].Text) {
			s.by = by
			changed = append(changed, Change{At: s.at, Part: s.Part, Text: s.Text, By: by})
		}
	}
	return changed
}

// replyAgain ends the earlier reply to the question that a reply answers.
func (c *Changes) replyAgain(row *statementSaid) []Change {
	i := slices.IndexFunc(c.said, func(s statementSaid) bool {
		return s.by == (Position{}) && s.Question == row.Question && ItemKey(s.Text) != ItemKey(row.Text)
	})
	if i < 0 {
		return nil
	}
	return c.end(i, row.at)
}

// apply ends the one statement that a sentence changes. It ends none if the sentence fits several.
func (c *Changes) apply(ch *changing, by Position) []Change {
	from := 0
	switch ch.rule.effect {
	case takesBack:
		from = c.previous(by)
	case returns:
		from = c.afterLast(ch)
	}
	found, seen := -1, ""
	for i := from; i < len(c.said); i++ {
		s := &c.said[i]
		same := s.at == by && ch.rule.effect != takesBack // a message does not change itself
		if s.by != (Position{}) || same || !ch.ends(s.Text+" "+s.Asked) {
			continue
		}
		key := ItemKey(s.Text) + "\x00" + s.Asked
		if found >= 0 && key != seen {
			return nil
		}
		found, seen = i, key
	}
	if found < 0 {
		return nil
	}
	return c.end(found, by)
}

// previous returns the index of the first statement that "scratch that" in a message may mean: the
// one before it in the same message, or those of the message before.
func (c *Changes) previous(by Position) (from int) {
	from = len(c.said)
	for from > 0 && !c.said[from-1].states() {
		from--
	}
	if from == 0 {
		return len(c.said)
	}
	if from--; c.said[from].at == by {
		return from
	}
	for from > 0 && c.said[from-1].at == c.said[from].at {
		from--
	}
	return from
}

// states reports whether a statement says something that can be taken back.
func (s *statementSaid) states() bool { return SenseOf(s.Text) == Request && len(s.Text) > 8 }

// afterLast returns the index behind the last statement that names what a sentence returns to. A
// return to one of several labels ("plan A") needs no such statement.
func (c *Changes) afterLast(ch *changing) int {
	for i, s := range slices.Backward(c.said) {
		if hasAll(tokensOf(s.Text), ch.object) {
			return i + 1
		}
	}
	if label := len(ch.object) - 1; label == 1 && len(ch.object[label].stem) == 1 {
		return 0
	}
	return len(c.said)
}

// ends reports whether the sentence ends the statement text. The text must contain all words of
// the object and of the scopes that the sentence names. If the object is one word, the text must
// also contain a second word of the sentence or of the previous one; for a number, its unit or
// subject. A compound identifier counts as two words.
func (ch *changing) ends(text string) bool {
	if ch.run != "" {
		return ch.endsRun(text)
	}
	tokens := tokensOf(text)
	for _, scope := range ch.scopes {
		if !hasAll(tokens, scope) {
			return false
		}
	}

	switch ch.rule.effect {
	case takesBack:
		return ch.takesBack(tokens)
	case returns:
		return ch.returns(tokens)
	}
	if len(ch.object) == 0 || !hasAll(tokens, ch.object) {
		return false
	}
	first := slices.IndexFunc(tokens, func(t token) bool { return t.stem == ch.object[0].stem })
	if ch.rule.effect == lifts && !tokens[first].denied || ch.rule.effect == replaces && tokens[first].denied {
		return false
	}
	weight, number := 0, true
	for _, t := range ch.object {
		weight += t.weight()
		number = number && t.number()
	}
	if weight > 1 {
		return true
	}
	return slices.ContainsFunc(ch.beside, func(b token) bool {
		idle := number && (b.number() || changeVerbs.has(b.stem))
		return !idle && !hasAll(ch.object, []token{b}) && hasAll(tokens, []token{b})
	})
}

// takesBack reports whether the sentence may take a statement back. "Make that 45 instead of 30"
// names the number that it ends, "make that 45" ends another number.
func (ch *changing) takesBack(tokens []token) bool {
	numbers := slices.DeleteFunc(slices.Clone(ch.object), func(t token) bool { return !t.number() })
	switch {
	case len(ch.object) == 0:
		return len(tokens) > 1
	case len(numbers) > 1:
		return hasAll(tokens, last(numbers, 1))
	}
	return len(numbers) == 1 && slices.ContainsFunc(tokens, token.number) && !hasAll(tokens, numbers)
}

// returns reports whether a statement took the place of what the sentence returns to: it shares two
// words with the rest of the sentence, or has another label of the same noun.
func (ch *changing) returns(tokens []token) bool {
	if len(ch.object) == 0 || hasAll(tokens, ch.object) {
		return false
	}
	if label := len(ch.object) - 1; label == 1 && len(ch.object[label].stem) == 1 {
		noun := slices.IndexFunc(tokens, func(t token) bool { return t.stem == ch.object[0].stem })
		return noun >= 0 && noun+1 < len(tokens) && len(tokens[noun+1].stem) == 1
	}
	both := 0
	for _, b := range ch.beside {
		if !changeVerbs.has(b.stem) && hasAll(tokens, []token{b}) {
			both++
		}
	}
	return both > 1
}

// token is a word of a statement that says what it is about.
type token struct {
	stem   string
	denied bool // its clause has a negation
}

func (t token) number() bool { return isNumber(t.stem) }

// weight returns 2 for a compound identifier, such as a path, and 1 for another word.
func (t token) weight() int {
	inner := strings.Trim(t.stem, "-_./:")
	if strings.ContainsFunc(inner, unicode.IsLetter) &&
		(strings.ContainsAny(inner, "/_") || strings.ContainsAny(inner, "-.:") && strings.ContainsAny(inner, "0123456789")) {
		return 2
	}
	return 1
}

// hasAll reports whether all words of want are among tokens.
func hasAll(tokens, want []token) bool {
	for _, w := range want {
		if !slices.ContainsFunc(tokens, func(t token) bool { return t.stem == w.stem }) {
			return false
		}
	}
	return true
}

// tokensOf returns the tokens of a text.
func tokensOf(text string) []token { return tokensIn(splitWords(text, nil)) }

// tokensIn returns the tokens of words: their stems without stop words and words of changes. Digits
// in groups ("1 200") are one token, and a number is separate from its unit ("30s").
func tokensIn(words []noteWord) (out []token) {
	clause, denied, digits := 0, false, false
	closeClause := func() {
		for i := clause; i < len(out); i++ {
			out[i].denied = denied
		}
		clause, denied = len(out), false
	}
	for i := range words {
		w := &words[i]
		if w.mark {
			closeClause()
			digits = false
			continue
		}
		text := w.text
		if text == "`" || text == "\"" {
			inner := splitWords(strings.Trim(w.raw, "`\""), nil)
			out = append(out, tokensIn(inner)...)
			continue
		}
		denied = denied || negations.has(text) || strings.HasSuffix(text, "n't")
		text = withoutElision(text)
		if isNumber(text) && len(text) == 3 && digits {
			out[len(out)-1].stem += text
			continue
		}
		digits = isNumber(text) && len(text) <= 3
		if isLabelWord(words, i) || counts(text) {
			out = append(out, token{stem: string(compress.Stem([]byte(withoutUnit(text))))})
		}
	}
	closeClause()
	return out
}

// counts reports whether a word says what a statement is about.
func counts(text string) bool {
	short := len(text) < 2 && !isNumber(text)
	return !short && !compress.IsStopWord(text) && !changeIdle.has(text) && !strings.Contains(text, "'")
}

// isLabelWord reports whether a word is a capital letter behind another word: "plan B".
func isLabelWord(words []noteWord, i int) bool {
	raw := words[i].raw
	return len(raw) == 1 && 'A' <= raw[0] && raw[0] <= 'Z' && raw != "I" && i > 0 && !words[i-1].mark
}

// withoutElision returns a French word without its article: l'eau.
func withoutElision(text string) string {
	if at := strings.IndexByte(text, '\''); at >= 0 && at <= 2 {
		return text[at+1:]
	}
	return text
}

// withoutUnit returns a number without its unit: 30s.
func withoutUnit(text string) string {
	unit := strings.TrimLeft(text, "0123456789")
	if len(unit) < len(text) && len(unit) <= 3 && strings.IndexFunc(unit, unicode.IsLetter) == 0 {
		return text[:len(text)-len(unit)]
	}
	return text
}
