package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runs is the language of rules for scripts without spaces, and for Korean. In them the object
// stands directly before or after the phrase.
const runs = "run"

// runsLimit are texts that limit a sentence to a case, or make it a condition or a question.
var runsLimit = strings.Fields("だけ 今回 もし 場合 なら ですか 只在 仅 这次 本次 如果 要是 吗 이번만 만약 ? ？")

// runVerbs are characters that a Chinese object may begin with and that are no part of it.
const runVerbs = "用使写做把放在发到"

// changeInRuns is changeIn for scripts without spaces, and for Korean.
func changeInRuns(text string) *changing {
	if strings.IndexFunc(text, isRunRune) < 0 {
		return nil
	}
	for _, limit := range runsLimit {
		if strings.Contains(text, limit) {
			return nil
		}
	}
	rules := changeRules()
	for i := range rules {
		phrase, objectFirst := strings.CutPrefix(rules[i].says, "X")
		before, after, found := strings.Cut(text, strings.TrimSuffix(phrase, "X"))
		if rules[i].language != runs || !found {
			continue
		}

		ch := &changing{rule: &rules[i], rest: before}
		list := runsOf(after)
		if objectFirst {
			list, ch.rest = runsOf(before), after
			if n := len(list); n > 0 {
				ch.rest += " " + before[:strings.LastIndex(before, list[n-1])]
				list = list[n-1:]
			}
		}
		if len(list) == 0 {
			return nil
		}
		if ch.run = list[0]; !objectFirst {
			ch.run = strings.TrimLeft(ch.run, runVerbs)
			ch.run = strings.TrimSuffix(ch.run, "了")
		}
		if utf8.RuneCountInString(ch.run) < 2 {
			return nil
		}
		return ch
	}
	return nil
}

// endsRun reports whether a text has the object, and two more characters in a row of the rest.
func (ch *changing) endsRun(text string) bool {
	if !strings.Contains(text, ch.run) {
		return false
	}
	text = strings.ReplaceAll(text, ch.run, " ")
	for _, run := range runsOf(ch.rest) {
		runes := []rune(run)
		for i := 0; i+1 < len(runes); i++ {
			if strings.Contains(text, string(runes[i:i+2])) {
				return true
			}
		}
	}
	return false
}

// isRunRune reports whether a character is Chinese, Japanese, or Korean.
func isRunRune(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Katakana, unicode.Hangul, unicode.Hiragana)
}

// runsOf returns the parts of a text in one script each. Hiragana, blanks, and marks separate them.
func runsOf(text string) (runs []string) {
	class := func(r rune) int {
		switch {
		case unicode.Is(unicode.Han, r):
			return 1
		case unicode.Is(unicode.Katakana, r) || r == 'ー':
			return 2
		case unicode.Is(unicode.Hangul, r):
			return 3
		case unicode.IsLetter(r) && !unicode.Is(unicode.Hiragana, r) || unicode.IsDigit(r):
			return 4
		}
		return 0
	}
	last := 0
	for _, r := range text {
		now := class(r)
		if now > 0 && now == last {
			runs[len(runs)-1] += string(r)
		} else if now > 0 {
			runs = append(runs, string(r))
		}
		last = now
	}
	return runs
}
