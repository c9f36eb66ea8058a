package notes

import (
	"slices"
	"strings"
)

// changeEffect is what a sentence does to the statement that it changes.
type changeEffect uint8

const (
	replaces  changeEffect = iota // it ends a statement that is no ban
	revokes                       // it ends any statement
	lifts                         // it ends a ban
	takesBack                     // it ends the statement before it
	returns                       // it ends what took the place of an earlier choice
)

// changeRule is one way to change a statement. says lists phrases, separated by semicolons, in which X
// stands for what no longer holds, ^ for the beginning of a clause, and ~ for any word.
type changeRule struct {
	name, language string
	says           string
	effect         changeEffect
	noun           bool   // X ends at a preposition
	whole          bool   // X is the clause without the phrase
	marked         bool   // the clause has a word such as "now" or "again"
	was, now       string // example: now changes was
	kept, idle     string // counterexample: idle resembles a change of kept
}

var changeRules = []changeRule{
	{name: "make that", language: "en", effect: takesBack, says: "^make that X",
		was: "Set the timeout to 30 seconds.", now: "Make that 45 instead of 30.", kept: "Write the report.", idle: "Make that two."},
	{name: "scratch that", language: "en", effect: takesBack, says: "^scratch|strike|ignore that; ^forget that|it; ^never mind that; ^vergiss das",
		was: "Rename the table everywhere.", now: "Scratch that, rename the menu.", kept: "Rename the table everywhere.", idle: "He wants to scratch that surface."},
	{name: "instead", language: "en", effect: replaces, noun: true, says: "instead of X; rather than X; in place of X",
		was: "Serve the preview on port 8443.", now: "Use port 9127 instead of 8443.", kept: "Serve the preview on port 8443.", idle: "For the docs, use port 9127 instead of 8443."},
	{name: "now, not", language: "en", effect: replaces, noun: true, says: "now , not X",
		was: "The port is 8443.", now: "The port is 9443 now, not 8443.", kept: "The port is 8443.", idle: "Tabs now, not spaces."},
	{name: "switch from", language: "en", effect: replaces, says: "switch|switched|move|moved|change|changed from X to|over",
		was: "We store the blobs in MinIO.", now: "We switched from MinIO blobs to Ceph.", kept: "We store the blobs in MinIO.", idle: "We moved from Rome to Bonn."},
	{name: "no longer", language: "en", effect: replaces, says: "no longer X",
		was: "Always run the full suite.", now: "You no longer have to run the full suite.", kept: "Always run the full suite.", idle: "The full moon is no longer visible."},
	{name: "not any more", language: "en", effect: replaces,
		says: "not|don't|dont|doesn't|isn't|aren't|won't|can't|cannot X anymore; not|don't|dont|doesn't|isn't|aren't|won't|can't|cannot X any more|longer",
		was:  "Post the builds to harbour-feed.", now: "Don't post the builds to harbour-feed any more.",
		kept: "Do not delete the dumps in /srv/dumps.", idle: "The thumbs in /srv/thumbs are not needed any more."},
	{name: "forget", language: "en", effect: revokes, noun: true, says: "^forget about X; ^forget X; ^scrap X; ^never mind X",
		was: "We move the catalogue to Postgres.", now: "Forget the Postgres move.", kept: "We move the catalogue to Postgres.", idle: "Don't forget the Postgres move."},
	{name: "off", language: "en", effect: replaces, says: "^take X off",
		was: "Reviewers of the payment code are Ada and Bo.", now: "Take Bo off the reviewers.", kept: "Ada reviews the code.", idle: "Take the day off."},
	{name: "back to", language: "en", effect: returns, noun: true, says: "^back to X; go|switch|revert|return back to X; go|return|revert to X",
		was: "Switch the kiosk app to Rspack.", now: "Back to Vite for the kiosk app.", kept: "Switch the kiosk app to Rspack.", idle: "Back to work on the parser."},
	{name: "may", language: "en", effect: lifts, marked: true,
		says: "you|we|they may|can|could X; it's ok|okay|fine|allowed to X; it is ok|okay|fine|allowed to X; ^feel free to X; you're|we're allowed to X; you|we are allowed to X; ^X is|are allowed|fine|ok",
		was:  "Never push to main.", now: "You may push to main now.", kept: "Never push to main.", idle: "You may push to main."},

	{name: "statt", language: "de", effect: replaces, noun: true, says: "statt X; anstatt X; anstelle von X",
		was: "Nimm den Port 8443.", now: "Nimm Port 9127 statt 8443.", kept: "Nimm den Port 8443.", idle: "Nimm für die Doku Port 9127 statt 8443."},
	{name: "nicht mehr", language: "de", effect: replaces, whole: true, says: "nicht mehr",
		was: "Poste die Builds in harbour-feed.", now: "Poste die Builds nicht mehr.", kept: "Poste die Builds in harbour-feed.", idle: "Der Kanal geht nicht mehr."},
	{name: "vergiss", language: "de", effect: revokes, noun: true, says: "^vergiss X; ^vergesst X",
		was: "Wir ziehen nach Postgres um, der Umzug ist im Mai.", now: "Vergiss den Umzug nach Postgres.", kept: "Der Umzug nach Postgres ist im Mai.", idle: "Vergiss nicht den Umzug nach Postgres."},
	{name: "zurück zu", language: "de", effect: returns, noun: true, says: "zurück zu|zum|zur X",
		was: "Stell die Kiosk App auf Rspack um.", now: "Zurück zu Vite bei der Kiosk App.", kept: "Stell die Kiosk App auf Rspack um.", idle: "Zurück zum Thema."},
	{name: "darfst", language: "de", effect: lifts, marked: true, says: "du darfst X; ihr dürft X; sie dürfen X",
		was: "Niemals auf main pushen.", now: "Du darfst jetzt auf main pushen.", kept: "Niemals auf main pushen.", idle: "Nur heute darfst du auf main pushen."},

	{name: "en lugar", language: "es", effect: replaces, noun: true, says: "en lugar|vez de X; en lugar|vez del X",
		was: "Usa el puerto 8443.", now: "Usa el puerto 9127 en lugar de 8443.", kept: "Para mí siempre asiento de pasillo.", idle: "Para ella, asiento de ventana en lugar de pasillo."},
	{name: "ya no", language: "es", effect: replaces, whole: true, says: "ya no",
		was: "Publica el resumen en harbour.", now: "Ya no publica el resumen en harbour.", kept: "Publica el resumen en harbour.", idle: "Ya no llueve."},
	{name: "mejor no", language: "es", effect: replaces, says: "^mejor no X",
		was: "Reserva tres noches en el hotel Miramonte.", now: "Mejor no vamos al Miramonte; reserva otro hotel.", kept: "Reserva tres noches en el hotel Miramonte.", idle: "Mejor no salgas."},
	{name: "olvida", language: "es", effect: revokes, noun: true, says: "^olvida X; ^olvide X",
		was: "La mudanza a Postgres empieza hoy.", now: "Olvida la mudanza a Postgres.", kept: "La mudanza a Postgres empieza hoy.", idle: "Se olvida de todo."},

	{name: "au lieu", language: "fr", effect: replaces, noun: true, says: "au lieu de|du|des X; à la place de|du|des X",
		was: "Le plafond est de 1 200 euros.", now: "Le plafond : 1 650 euros au lieu de 1 200.", kept: "Appelle toujours Monsieur Delcourt.", idle: "Pendant ses vacances, appelle Madame Pruvost au lieu de Monsieur Delcourt."},
	{name: "ne plus", language: "fr", effect: replaces, whole: true, says: "ne ~ plus",
		was: "Publie les builds dans harbour.", now: "Ne publie plus les builds.", kept: "Publie les builds dans harbour.", idle: "Il ne pleut plus."},
	{name: "oublie", language: "fr", effect: revokes, noun: true, says: "^oublie X; ^oubliez X",
		was: "La migration vers Postgres commence.", now: "Oublie la migration Postgres.", kept: "La migration vers Postgres commence.", idle: "Il oublie la migration Postgres."},

	{name: "em vez", language: "pt", effect: replaces, noun: true, says: "em vez de|do|da X",
		was: "Usa a porta 8443.", now: "Usa a porta 9127 em vez de 8443.", kept: "Usa a porta 8443.", idle: "Para ela, usa a porta 9127 em vez de 8443."},
	{name: "já não", language: "pt", effect: replaces, whole: true, says: "já não; não ~ mais",
		was: "Publica o resumo na harbour.", now: "Não publica mais o resumo.", kept: "Publica o resumo na harbour.", idle: "Já não chove."},
	{name: "esquece", language: "pt", effect: revokes, noun: true, says: "^esquece X; ^esqueça X",
		was: "A mudança para Postgres começa hoje.", now: "Esquece a mudança Postgres.", kept: "A mudança para Postgres começa hoje.", idle: "Ele esquece a mudança Postgres."},
}

// scopeWords begin the phrase that says where or when something holds, by language.
var scopeWords = map[string][]string{
	"en": {"for", "in", "on", "at", "under", "below", "during", "within", "outside"},
	"de": {"für", "in", "im", "auf", "bei", "beim", "während", "unter", "am"},
	"es": {"para", "en", "durante"},
	"fr": {"pour", "dans", "pendant", "chez", "durant"},
	"pt": {"para", "em", "na", "no", "durante"},
}

var (
	changeIdle    = wordSet("changeIdle")
	changeVerbs   = stemSet("changeVerbs")
	changeMarks   = wordSet("changeMarks")
	negations     = wordSet("negations")
	bare          = stemSet("bare")
	clauseBreaks  = wordSet("clauseBreaks")
	conditionally = wordSet("conditionally")
)

// changePhrase is one phrase of a rule.
type changePhrase struct {
	rule   *changeRule
	begins bool // where a clause begins
	pre    []string
	object bool // it has an X
	post   []string
}

// changePhrases are those of all rules, in their order.
var changePhrases = func() (all []changePhrase) {
	for i := range changeRules {
		for says := range strings.SplitSeq(changeRules[i].says, "; ") {
			p := changePhrase{rule: &changeRules[i]}
			says, p.begins = strings.CutPrefix(says, "^")
			pre, post, object := strings.Cut(says, "X")
			p.pre, p.object, p.post = strings.Fields(pre), object, strings.Fields(post)
			all = append(all, p)
		}
	}
	return all
}()

// phraseAt returns how many words a phrase takes at word i; 0 if it does not begin there.
func phraseAt(phrase []string, w []noteWord, i int) int {
	if len(phrase) == 0 || i+len(phrase) > len(w) {
		return 0
	}
	for k, want := range phrase {
		if got := w[i+k]; want != got.text && (want != "~" || got.mark) && !slices.Contains(strings.Split(want, "|"), got.text) {
			return 0
		}
	}
	return len(phrase)
}

// find returns the words that a phrase takes, from word at to word end, and those of X.
func (p *changePhrase) find(w []noteWord) (at, end, from, to int, ok bool) {
	for at = range w {
		if w[at].doubt {
			continue
		}
		switch n := phraseAt(p.pre, w, at); {
		case len(p.pre) == 0 && clauseStart(w, at):
			from = at
		case n > 0 && (!p.begins || clauseStart(w, at)):
			from = at + n
		default:
			continue
		}
		for to = from; p.object && to < len(w) && !w[to].mark && phraseAt(p.post, w, to) == 0; to++ {
			if len(p.post) == 0 && (clauseBreaks.has(w[to].text) || p.rule.noun && to > from && slices.Contains(scopeWords[p.rule.language], w[to].text)) {
				break
			}
		}
		end = to + phraseAt(p.post, w, to)
		if len(p.post) == 0 || end > to {
			return at, end, from, to, !p.object || to > from
		}
	}
	return 0, 0, 0, 0, false
}

// changeIn returns the change that a sentence asks for, or nil. before and next are the sentences
// around it in the same message. Questions, conditions, reports, and exceptions ask for none.
func changeIn(text, before, next string) *changing {
	if ch := changeInRuns(text); ch != nil {
		return ch
	}
	w := splitWords(text, nil)
	markDoubts(w)
	if strings.HasSuffix(strings.TrimRight(text, `.!")*`), "?") || unsaid.has(w) || asksBack(w) || onces.has(w) || limits.has(w) || limitsIt(splitWords(next, nil)) {
		return nil
	}
	if slices.ContainsFunc(w, func(w noteWord) bool { return conditionally.has(w.text) }) {
		return nil
	}
	for i := range changePhrases {
		p := &changePhrases[i]
		at, end, from, to, ok := p.find(w)
		if !ok || strings.Count(text[:w[max(at, end-1)].to], `"`)%2 == 1 {
			continue
		}
		if ch := p.changing(w, at, end, from, to); ch != nil {
			ch.beside = append(ch.beside, tokensOf(before)...)
			return ch
		}
	}
	return nil
}

// changing returns the change that a phrase asks for; nil if it names nothing.
func (p *changePhrase) changing(w []noteWord, at, end, from, to int) *changing {
	start, stop := at, end
	for start > 0 && !w[start-1].mark {
		start--
	}
	for stop < len(w) && !w[stop].mark {
		stop++
	}
	if p.rule.marked && !slices.ContainsFunc(w[start:stop], func(w noteWord) bool { return changeMarks.has(w.text) }) {
		return nil
	}
	if p.object && slices.ContainsFunc(w[from:to], func(w noteWord) bool { return negations.has(w.text) }) {
		return nil
	}

	ch := &changing{rule: p.rule, object: tokensIn(w[from:to])}
	outside := append(slices.Clone(w[:at]), w[end:]...)
	if p.rule.whole {
		ch.object = append(tokensIn(w[start:at]), tokensIn(w[end:stop])...)
		if len(p.pre) > 2 { // the word between "ne" and "plus"
			ch.object = append(ch.object, tokensIn(w[at+1:at+2])...)
		}
		outside = append(slices.Clone(w[:start]), w[stop:]...)
	} else if !slices.ContainsFunc(ch.object, func(t token) bool { return !bare.has(t.stem) }) { // "X is no longer needed"
		if ch.object = tokensIn(w[start:at]); p.rule.effect == takesBack {
			ch.object = nil
		}
	}
	if len(ch.object) == 0 && p.rule.effect != takesBack {
		return nil
	}
	ch.beside = tokensIn(outside)
	if !p.rule.whole {
		ok := ch.readScopes(w[:at]) && ch.readScopes(w[end:stop])
		if !ok {
			return nil
		}
	}
	return ch
}

// readScopes reads the phrases that say where or when the change holds. It returns false if one
// names nothing that an earlier statement could name: "for this file", "for her".
func (ch *changing) readScopes(w []noteWord) bool {
	words := scopeWords[ch.rule.language]
	for i := range w {
		if !slices.Contains(words, w[i].text) {
			continue
		}
		end := i + 1
		for end < len(w) && !w[end].mark && !slices.Contains(words, w[end].text) && !clauseBreaks.has(w[end].text) {
			end++
		}
		scope := tokensIn(w[i+1 : end])
		if len(scope) == 0 || isOneOf(w[i+1].text, "this", "that", "these", "those", "diese", "diesen", "dieses", "este", "esta", "ce", "cette") {
			return false
		}
		ch.scopes = append(ch.scopes, scope)
	}
	return true
}
