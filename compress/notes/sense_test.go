package notes

import (
	"strings"
	"testing"
)

func TestSenseOfShortMessages(t *testing.T) {
	for want, texts := range map[Sense][]string{
		Idle: {"", " \n", "/mode", "/compact", "/model gpt-5", "hi", "Hello!", "continue", "ok, continue", "Thanks!", "keep going please", "weiter",
			"###STOP###", "Great, thank you for your help!", "Thank you so much for your help! ###STOP###",
			"Perfect, that's all. Thanks!", "No, that's all, thank you so much for your help!",
			"vielen Dank für deine Hilfe!", "谢谢", "that's all", "¡Muchas gracias por tu ayuda!",
			"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>", "<local-command-stdout>Set model</local-command-stdout>"},
		Reply: {"yes", "ok", "yeah, do it all", "Yes, please proceed.", "go ahead", "👍", "...", "no", "nope, not yet", "2", "option b", "the second one", "sounds good, do both", "ja bitte", "let’s do it"},
		Request: {"/review the auth code", "/etc/passwd is readable", "fix it", "yes, but keep the old name", "yes?", "why", "do the release", "no, the block should stay as is", "delete all", "run make",
			"<command-name>/review</command-name>\n<command-args>the auth code</command-args>", "Make the retry configurable.", "hi, my parcel is lost", "yes: use PostgreSQL", "stop",
			"Thank you. Book the flight", "thanks for the help with the parser",
			"Yes, this is good, thank you very much", "No, thank you very much", "### STOP ###: keep it", "<<Book It>>"},
	} {
		for _, text := range texts {
			if got := SenseOf(text); got != want {
				t.Errorf("%q is %d, want %d", text, got, want)
			}
		}
	}
}

func TestQuestionThatAShortReplyAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"Done.\n\nShall I update both READMEs and the changelog?\n\n```\nno?\n```\n":      "Done.\nShall I update both READMEs and the changelog?",
		"First I looked.\n\nI propose:\n\n1. a\n2. b\n\nShall I?\n\nThat takes a minute.": "I propose:\n1. a\n2. b\nShall I?",
		"All is well.": "All is well.",
	} {
		if got := Question(text, 320); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	long := Question(strings.Repeat("very long words ", 100)+"shall I?", 100)
	if len(long) > 100 || long[len(long)-8:] != "shall I?" {
		t.Errorf("%d bytes: %q", len(long), long)
	}
}
