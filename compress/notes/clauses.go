package notes

// What follows one of leads begins a clause; unsaid and unsaidBefore make it no statement.
var (
	unsaid       = phraseSet("unsaid")
	unsaidBefore = phraseSet("unsaidBefore")
	leads        = phraseSet("leads")
	vague        = phraseSet("vague")
)

// states reports whether a sentence states something at all.
func states(s *sentence) bool {
	return !s.question && len(s.words) > 1 && !unsaid.has(s.words) && !asksBack(s.words)
}

// asksBack reports whether a sentence asks without a question mark: "is it true that …", "can you …".
func asksBack(words []noteWord) bool {
	if len(words) < 2 {
		return false
	}
	switch words[0].text {
	case "is", "are", "does", "did", "can", "could", "should", "would", "will", "has", "have", "was", "why", "how", "what", "who", "where", "which", "when", "wie", "warum", "wer", "wo", "soll", "sollen", "kannst", "ist", "sind":
		return words[1].text != "to"
	case "do":
		return words[1].text == "you" || words[1].text == "we" || words[1].text == "i"
	}
	return false
}

// markDoubts notes of each word whether one before it in its clause, or itself, makes that no
// statement: "if the port is …".
func markDoubts(words []noteWord) {
	doubt := false
	for i := range words {
		doubt = !words[i].mark && (doubt || unsaidBefore.at(words, i) > 0)
		words[i].doubt = doubt
	}
}

// clauseStart reports whether a clause begins at word i.
func clauseStart(words []noteWord, i int) bool {
	return i == 0 || words[i-1].mark || leads.at(words, i-1) > 0
}

// subjectOf returns the number of the word with which the clause of word i begins.
func subjectOf(words []noteWord, i int) int {
	from := i
	for from > 0 && !clauseStart(words, from) {
		from--
	}
	return from
}

// spoken reports whether the clause of word i is about somebody, or about something that it does
// not name.
func spoken(w []noteWord, i int) bool {
	from := subjectOf(w, i)
	return from == i || vague.at(w, from) > 0 || w[from].text == "i" || w[from].text == "i'm" || w[from].text == "we"
}

// isPerson reports whether a word is one of us: what we need, have to, must is often no more than
// the next step.
func isPerson(w string) bool { return w == "i" || w == "we" || w == "you" }
