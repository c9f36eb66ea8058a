package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// runRule is a way to change a statement in a script without spaces. The object stands before or
// after the phrase.
type runRule struct {
	says       string
	before     bool
	was, now   string
	kept, idle string
}

var runRules = []runRule{
	{says: "ではなく", before: true, was: "売上レポートは毎週火曜日の朝に作成してください。", now: "売上レポートは火曜日ではなく、木曜日に変更してください。",
		kept: "本番環境のレプリカ数は六つに固定してください。", idle: "検証環境のレプリカ数は一つに変更してください。"},
	{says: "じゃなくて", before: true, was: "会議室は青山を予約してください。", now: "会議室は青山じゃなくて赤坂にしてください。", kept: "会議室は青山を予約してください。", idle: "青山に行きます。"},
	{says: "の代わりに", before: true, was: "報告書は英語で書いてください。", now: "報告書は英語の代わりに日本語で。", kept: "報告書は英語で書いてください。", idle: "今回だけ報告書は英語の代わりに日本語で。"},
	{says: "不要再", was: "实验数据的文件名一律用拼音。", now: "文件名以后不要再用拼音了，改用英文。", kept: "中文版报告里的面积一律用亩。", idle: "英文版报告里的面积改用公顷，不用亩。"},
	{says: "别再", was: "日报每天发到港口群。", now: "日报别再发到港口群了。", kept: "日报每天发到港口群。", idle: "别再等了。"},
	{says: "而不是", was: "预览服务用端口八四四三。", now: "预览服务用九一二七而不是八四四三。", kept: "预览服务用端口八四四三。", idle: "如果失败，预览服务用九一二七而不是八四四三。"},
	{says: " 대신", before: true, was: "보고서는 화요일 아침에 작성해 주세요.", now: "보고서는 화요일 대신 목요일에 작성해 주세요.", kept: "보고서는 화요일 아침에 작성해 주세요.", idle: "이번만 보고서는 화요일 대신 목요일에 작성해 주세요."},
	{says: "이 아니라", before: true, was: "보고서는 화요일 아침에 작성해 주세요.", now: "보고서는 화요일이 아니라 목요일에 작성해 주세요.", kept: "보고서는 화요일 아침에 작성해 주세요.", idle: "화요일은 휴일이다."},
}

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
	for i := range runRules {
		r := &runRules[i]
		before, after, found := strings.Cut(text, r.says)
		if !found {
			continue
		}
		ch := &changing{rule: &changeRule{effect: replaces}}
		runs := runsOf(after)
		ch.rest = before
		if r.before {
			runs, ch.rest = runsOf(before), after
			if n := len(runs); n > 0 {
				ch.rest += " " + before[:strings.LastIndex(before, runs[n-1])]
				runs = runs[n-1:]
			}
		}
		if len(runs) == 0 {
			return nil
		}
		if ch.object2 = runs[0]; !r.before {
			ch.object2 = strings.TrimLeft(ch.object2, runVerbs)
			ch.object2 = strings.TrimSuffix(ch.object2, "了")
		}
		if utf8.RuneCountInString(ch.object2) < 2 {
			return nil
		}
		return ch
	}
	return nil
}

// endsRun reports whether a text has the object, and two more characters in a row of the rest.
func (ch *changing) endsRun(text string) bool {
	if !strings.Contains(text, ch.object2) {
		return false
	}
	text = strings.ReplaceAll(text, ch.object2, " ")
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
	return unicode.In(r, unicode.Han, unicode.Katakana, unicode.Hangul, unicode.Hiragana)
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
