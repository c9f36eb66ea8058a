package notes

import (
	"slices"
	"testing"
)

func TestStandingRules(t *testing.T) {
	for text, want := range map[string]bool{
		"Never force-push, not even to your own branches.":                                true,
		"In the thesis, always cite with the page number.":                                true,
		"Anything over 50 pounds: ask me first.":                                          true,
		"Do not merge your own, even when everything is green.":                           true,
		"Please don't touch gen/.":                                                        true,
		"Calls to my father only between 9 and 11":                                        true,
		"On the cluster you may only run get, describe, and logs.":                        true,
		"Nothing that writes.":                                                            true,
		"Ring numbers must never be corrected automatically.":                             true,
		"From now on, write the dates as ISO.":                                            true,
		"You may write drafts for the blog, but never publish one.":                       true,
		"Rule for the whole project: amounts are integers in cents everywhere.":           true,
		"Bei jedem Fehler immer zuerst einen roten Test schreiben.":                       true,
		"Mit dem Vermieter nur schriftlich, ruf ihn auf keinen Fall an.":                  true,
		"Bitte keine neuen Abhängigkeiten.":                                               true,
		"Ne tutoie jamais un client.":                                                     true,
		"N'envoie pas de mail sans moi.":                                                  true,
		"Avant toute commande, demande toujours deux devis.":                              true,
		"No subas nunca un expediente a un servicio externo.":                             true,
		"No compartas el expediente con nadie.":                                           true,
		"Da siempre las temperaturas en grados Celsius.":                                  true,
		"Não apague os ficheiros de teste.":                                               true,
		"Usa sempre o cartão da empresa.":                                                 true,
		"コードのコメントは必ず日本語で書いてください。":                                                         true,
		"宿の予約は必ず禁煙の部屋だけにしてください。":                                                          true,
		"工作日九点到十八点绝对不要重启网关":                                                               true,
		"论文里只能用公开数据。":                                                                     true,
		"테스트 없이 절대 배포하지 마세요.":                                                             true,
		"Look into module_7.":                                                             false,
		"I don't know what that means.":                                                   false,
		"Don't worry about it.":                                                           false,
		"It never works on my machine.":                                                   false,
		"Must I always ask?":                                                              false,
		"The window number 7 looks fine on the big screen here with the light of the day": false,
		"No hay problema con el vuelo.":                                                   false,
		"Das Fenster sieht gut aus.":                                                      false,
		"来月の三日に京都へ引っ越します。":                                                                false,
		"오늘은 날씨가 좋습니다.":                                                                   false,
		"我住在成都。":                                                                          false,
	} {
		if got := IsRule(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSentencesOfUnspacedScripts(t *testing.T) {
	for text, want := range map[string][]string{
		"犬の名前はポチです。来月引っ越します。":                  {"犬の名前はポチです。", "来月引っ越します。"},
		"「行きますか？」と聞きました。はい。":                   {"「行きますか？」", "と聞きました。", "はい。"},
		"请用中文。不要用英文！Run v1.2 first. 好。":        {"请用中文。", "不要用英文！", "Run v1.2 first.", "好。"},
		"Use e.g. tabs. Then go.":              {"Use e.g. tabs.", "Then go."},
		"यह पहला वाक्य है। यह दूसरा वाक्य है।": {"यह पहला वाक्य है।", "यह दूसरा वाक्य है।"},
	} {
		if got, _ := UserWords(text); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestUnspacedSentencesAreContent(t *testing.T) {
	for _, text := range []string{"私は北海道の旭川に住んでいます。", "会议改到星期四下午三点举行。", "ประชุมเลื่อนไปวันพฤหัสบดี"} {
		if len(Points(text, 320, 6)) != 1 {
			t.Errorf("nothing of %q", text)
		}
	}
}

func TestRulesSurviveShortening(t *testing.T) {
	parts := []string{"Here is the story of the parser that I want to tell.", "It was written long ago.", "Never delete the old tables."}
	short, cut := Shorten(parts, ordered(parts), 8, func(s string) int { return len(s) / 4 })
	if want := "… Never delete the old tables."; !cut || short != want {
		t.Errorf("got %q, want %q", short, want)
	}
}

func ordered(parts []string) func() []int {
	return func() []int { return Order(parts, IsRule) }
}
