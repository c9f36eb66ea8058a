package notes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Sense is what a message of the user says by itself.
type Sense uint8

// The senses of messages.
const (
	Request Sense = iota // something
	Reply                // what can only be understood with what it answers: "yeah, do it all", "the second one", "no"
	Idle                 // nothing: a command to the program that the agent runs in, a greeting, "continue"
)

// MaxIdle is how many bytes a message has at most that says nothing by itself.
const MaxIdle = 400

var (
	// bareCommand matches a command of a chat program with at most one argument: "/mode", "/model
	// large", or a single slash. A path has a second slash.
	bareCommand = lazy.Regexp(`^/([A-Za-z][A-Za-z0-9_:-]*( [A-Za-z0-9_.:-]+)?)?$`)
	// noted is how some programs write down a command, or what it printed.
	noted = lazy.Regexp(`(?s)^(<(command-name|command-message|command-contents|local-command-stdout|local-command-caveat)>[^<]*</[a-z-]+>\s*|<command-args>\s*</command-args>\s*)+$`)

	// ended matches what only ends a conversation: "No, that's all", and a program's "###STOP###".
	ended = lazy.Regexp(`[#<>|\[\]]{2,}[A-Z][A-Z_-]*[#<>|\[\]]{2,}|` +
		`^(?i:(no[,.!]? )?(that(['’]?s| is|['’]ll be| will be) (all|it|everything)|nothing else)\b)`)

	idleWords   = wordSet("idleWords")
	thanksWords = wordSet("thanksWords")
	politeWords = wordSet("politeWords")
	replyWords  = wordSet("replyWords")
	saysYesOrNo = wordSet("saysYesOrNo")
)

// SenseOf returns what a message of the user says by itself.
func SenseOf(text string) Sense {
	text = strings.TrimSpace(text)
	if text == "" || len(text) <= MaxIdle && (bareCommand().MatchString(text) || noted().MatchString(text)) {
		return Idle
	}
	if len(text) > 120 || strings.Contains(text, "?") {
		return Request
	}
	if text = strings.TrimSpace(ended().ReplaceAllString(text, "")); text == "" {
		return Idle
	}
	return senseOfWords(strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}))
}

// senseOfWords returns what a short message says, from its words in lower case.
func senseOfWords(words []string) Sense {
	idle, reply, answers := true, true, false
	thanks, polite := false, true
	for _, w := range words {
		label := len(w) == 1 // of an option: "2", "b"
		idle = idle && idleWords.has(w)
		thanks = thanks || thanksWords.has(w)
		polite = polite && (politeWords.has(w) || thanksWords.has(w) || idleWords.has(w))
		reply = reply && (replyWords.has(w) || label)
		answers = answers || saysYesOrNo.has(w) || label
	}

	switch {
	case len(words) == 0: // "..." or "👍"
		return Reply
	case idle && !(len(words) == 1 && answers): // "ok" alone is a yes
		return Idle
	case reply && answers:
		return Reply
	case thanks && polite:
		return Idle
	}
	return Request
}

// Question returns the part of a text that a short reply to it answers, in at most n bytes: its
// last paragraph that asks, with up to two paragraphs before it as far as they fit; or if none
// asks, the same for its last paragraph. After a paragraph that ends in a colon, it
// contains the fence, or "[…]" for a long one. "…" marks a cut.
func Question(text string, n int) string {
	var paragraphs []string
	code, fenced, begin := "", false, true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		last := len(paragraphs) - 1
		switch {
		case strings.HasPrefix(line, "```"):
			if len(code) > shortFence {
				code = leftOutMark
			}
			if fenced && last >= 0 && introduces(paragraphs[last]) {
				paragraphs[last] += "\n" + strings.TrimSpace(code)
			}
			fenced, code, begin = !fenced, "", true
		case fenced:
			code += line + "\n"
		case line == "":
			begin = true
		case begin:
			paragraphs, begin = append(paragraphs, line), false
		default:
			paragraphs[last] += "\n" + line
		}
	}
	if len(paragraphs) == 0 {
		return ""
	}
	at := len(paragraphs) - 1
	for i := at; i >= 0; i-- {
		if strings.Contains(paragraphs[i], "?") {
			at = i
			break
		}
	}
	found := paragraphs[at]
	for i := at - 1; i >= 0 && at-i <= 2; i-- { // "I would: 1. … 2. …" and then "Shall I?"
		if longer := paragraphs[i] + "\n" + found; len(longer) <= n {
			found = longer
		}
	}
	end := ""
	if i := strings.LastIndexByte(found, '?'); len(found) > n && i >= 0 && i+1 < len(found) {
		found, end = found[:i+1], " …"
	}
	if len(found) > n {
		found = "… " + compress.FromWord(found, len(found)-n+len("… "))
	}
	return found + end
}

// Substantial reports whether an answer of the assistant is worth remembering: it says more than a
// greeting, an acknowledgement, or what a program puts where an answer is missing. One word about
// an outcome is enough: "Pushed."
func Substantial(text string) bool {
	if noAnswer(text) || strings.HasPrefix(text, "API Error") || SenseOf(text) != Request {
		return false
	}
	return slices.ContainsFunc(sentencesOf(text), func(s sentence) bool { return s.kind != kindSaid || worthOf(s.text) > 0 }) ||
		slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(w string) bool { return outcomeWords.has(strings.Trim(w, ".!")) })
}

// WithoutQuestion removes the questions and requests for confirmation at the end of an assistant's
// answer.
func WithoutQuestion(text string) string {
	for {
		text = strings.TrimSpace(text)
		from := strings.LastIndexByte(text, '\n') + 1
		for _, rest := cutSentence(text[from:]); rest != ""; _, rest = cutSentence(rest) {
			from = len(text) - len(rest)
		}
		last := sentence{text: text[from:], words: splitWords(text[from:], nil)}
		last.question = strings.HasSuffix(strings.TrimRight(last.text, ".!\")*"), "?")
		if text == "" || !last.question && !asksWhich.has(last.words) {
			return text
		}
		text = text[:from]
	}
}
