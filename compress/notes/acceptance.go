package notes

import "strings"

var (
	yeses    = phraseSet("yeses")
	noes     = phraseSet("noes")
	choosing = phraseSet("choosing")
	takes    = phraseSet("takes")
	ordinal  = map[string]string{"first": "1", "second": "2", "third": "3", "erste": "1", "zweite": "2", "one": "1", "two": "2", "three": "3"}
)

// acceptance reports whether a request of so many bytes, which begins with words, is a yes to what
// was proposed before it. label is that of the option which it takes, "" for none.
func acceptance(words []noteWord, whole int) (label string, ok bool) {
	if len(words) == 0 || whole > 200 {
		return "", false
	}
	n := 0
	for n < len(words) && (words[n].mark || isOneOf(words[n].text, "please", "ok", "okay", "hmm")) {
		n++
	}
	if n < len(words) {
		if name := optionName(words[n:]); name != "" {
			return name, true
		}
	}
	at, _ := yeses.in(words)
	if at < 0 || at > 2 || refuses(words) {
		return "", false
	}
	if name := optionName(words[at+1:]); name != "" {
		return name, true
	}
	return "", true
}

// refuses reports whether words contain a no or a precondition. "But only …" just limits a yes.
func refuses(words []noteWord) bool {
	for i := range words {
		if noes.at(words, i) > 0 && !(isOneOf(words[i].text, "but", "aber") && limits.at(words, i) > 0) {
			return true
		}
	}
	return false
}

// optionName returns the label of an option that words begin with: "B please", "option 2", "the
// second one", "go with B"; "" if they begin with none.
func optionName(words []noteWord) string {
	at := 0
	for n := choosing.at(words, at); n > 0; n = choosing.at(words, at) {
		for at += n; at < len(words) && words[at].mark; at++ {
		}
	}
	start := at
	for ; at < len(words); at++ {
		takes := takes.at(words, at) > 0
		if !takes && !words[at].mark && !isOneOf(words[at].text, "with", "the", "number", "option") {
			break
		}
		if takes && at+1 < len(words) && ordinal[words[at+1].text] != "" {
			return ordinal[words[at+1].text]
		}
	}
	if at == len(words) {
		return ""
	}
	if o := ordinal[words[at].text]; o != "" && at > start && words[at].text != "one" {
		return o
	}
	if label := strings.TrimRight(words[at].text, ")"); isLabel(label) && standsAlone(words, start, at, label) {
		return label
	}
	return ""
}

// isLabel reports whether a word is a letter or a digit, as options are numbered by.
func isLabel(w string) bool {
	return len(w) == 1 && (w[0] >= 'a' && w[0] <= 'h' || w[0] >= '1' && w[0] <= '9')
}

// standsAlone reports whether the label at word at is one, and not the beginning of something else.
// Words before start said that something is chosen.
func standsAlone(words []noteWord, start, at int, label string) bool {
	ends := func(polite ...string) bool {
		return at+1 == len(words) || words[at+1].mark || isOneOf(words[at+1].text, polite...)
	}
	switch {
	case label == "a" && !words[at].capital && (at == 0 || !ends("please")): // an article
		return false
	case at == start && start > 0 && !ends():
		return false
	}
	return at > 0 || ends("please", "then")
}
