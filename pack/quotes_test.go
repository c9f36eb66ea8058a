package pack

import (
	"fmt"
	"strings"
	"testing"
)

// Facts from the user's first messages left the prompt in scripts without spaces.
func TestEarlyFactsStayInEveryScript(t *testing.T) {
	for language, c := range map[string]struct {
		facts        [4]string
		keys         [4]string
		talk, answer string
	}{
		"English": {[4]string{"I live in Asahikawa in Hokkaido.", "My dog is called Pochi and is seven years old.",
			"I move to Kyoto on the third of next month.", "I work as a librarian."},
			[4]string{"Asahikawa", "Pochi", "Kyoto",
				"librarian"}, "Today this is story number %d. Nothing special happened.", "I see."},
		"Portuguese": {[4]string{"Moro em Asahikawa, em Hokkaido.", "O meu cachorro se chama Pochi e tem sete anos.",
			"No dia três do mês que vem me mudo para Quioto.", "Trabalho como bibliotecária."},
			[4]string{"Asahikawa", "Pochi", "Quioto",
				"bibliotecária"}, "Hoje é a história número %d. Não aconteceu nada de especial.", "Entendi."},
		"Japanese": {[4]string{"私は北海道の旭川に住んでいます。", "犬の名前はポチで、七歳です。", "来月の三日に京都へ引っ越します。", "仕事は図書館の司書です。"},
			[4]string{"旭川", "ポチ", "京都へ", "司書"}, "今日は%d番目の話です。特に大きな出来事はありませんでした。", "そうなんですね。"},
		"Chinese": {[4]string{"我住在北海道的旭川。", "我的狗叫波奇，今年七岁。", "下个月三号我要搬到京都。", "我的工作是图书馆管理员。"},
			[4]string{"旭川", "波奇", "京都", "图书馆"}, "今天是第%d个话题。没有发生什么特别的大事。", "原来如此。"},
		"Korean": {[4]string{"저는 홋카이도 아사히카와에 살아요.", "강아지 이름은 포치이고 일곱 살이에요.", "다음 달 삼일에 교토로 이사해요.", "저는 도서관 사서로 일해요."},
			[4]string{"아사히카와", "포치", "교토", "사서"}, "오늘은 %d번째 이야기입니다. 특별한 일은 없었습니다.", "그렇군요."},
	} {
		t.Run(language, func(t *testing.T) {
			l := logOf()
			for i := range 120 {
				said := fmt.Sprintf(c.talk, i)
				if i < len(c.facts) {
					said = c.facts[i]
				}
				l.Append(message("user", said))
				l.Append(message("assistant", c.answer))
			}
			md := string(mustCompile(t, inputOf(l, 1500)).Markdown)
			for _, key := range c.keys {
				if !strings.Contains(md, key) {
					t.Errorf("no %s in\n%s", key, md)
				}
			}
		})
	}
}

// A quote contained only the second line of a wrapped sentence, without the negation in the first.
func TestQuotesAreWholeSentences(t *testing.T) {
	l := logOf(string(message("user", "What does the report say?")))
	answered(l, "r", "fetch", `{"id":"report-7"}`,
		"It is wrong that in the test of March\nthe cluster zeta-41 lost all of its customer orders.\n\n"+
			"| cluster | orders lost |\n| --- | --- |\n| zeta-41 | 0 of 88127 |\n")
	work(l, 150)
	l.Append(message("assistant", "Next I compare zeta-41 with the other clusters."))
	work(l, 4)
	block := blockNamed(string(mustCompile(t, inputOf(l, 8000)).Markdown), "key lines (")
	for _, want := range []string{
		"It is wrong that in the test of March the cluster zeta-41 lost all of its customer orders.",
		" | cluster | orders lost |\n | zeta-41 | 0 of 88127 |\n",
	} {
		if !strings.Contains(block, want) {
			t.Errorf("no %q in\n%s", want, block)
		}
	}
}
