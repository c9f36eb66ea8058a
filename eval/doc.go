// Package eval measures how good packs are, without a model: it replays
// sessions, builds the pack at cuts through each of them, and looks at what the
// agent needed next.
//
// # How it measures
//
// A [Session] is read from its messages alone, and questions about it, if there are some. At a cut the history is all that came
// before it; the next five messages of the agent say what it needed. Every [Method]
// makes its pack of the same history, from the same renderings of records
// and with the same exact tokens, so that only the choice of what to show is compared. Only
// cuts at which the history exceeds the budget count: where all of it fits, there is nothing to choose.
// Figures are means over the cuts of a session, then over sessions. The prefix share, and what a call costs, compare the
// packs that the model is asked with: one for each message of the agent. [Stretches] choose half of all, to tune by
// the one and judge by the other. Package exam, below this one, asks readers.
//
// # Words, identifiers, lines
//
// A word is a run of letters, digits and any of / . _ : @ # -, without what of these
// stands at its ends. An identifier is a word of 4 to 120 characters with one
// of / . _ : @ #, or with a letter and a digit, or in camelCase; or one of at least three digits and no letters.
// A line ends at a newline, or at one that is written \n. The arguments of calls are unescaped before words and lines are
// taken; in all other text an escape ends a word. That a
// string stands in a pack is worth little when what it belongs to does not: the context of an identifier is
// kept where it stands in a line that has at least three fifths of the words of one of the lines it
// stood in before, and not much else. A line of a single word counts together with the line before it.
// docs/eval.md says what each figure means.
//
// # Files, from top to bottom
//
//	derived.go          how much of what is planted the derived notes find
//	derived_phrases.go  what is planted
//	report.go           the figures as tables
//	run.go              all sessions, and the means over them
//	replay.go           one session, cut by cut
//	questions.go        what is known of a session at its end
//	state.go            one method on its way through a session: what its calls cost
//	outputs.go          what is left of large outputs
//	stretches.go        which half of the sessions is measured
//	past.go             what of the history is needed next
//	method.go           the methods
//	baselines.go        those without ctxfs
//	compiled.go         that of ctxfs
//	prefix.go           what a pack shares with the one before it
//	part.go             a part of a session as a session of its own
//	load.go             sessions, from files
//	set.go              histories with questions, from one file
//	lines.go            lines of text, and what they resemble
//	words.go            the words of a line
//	escapes.go          the escapes in JSON
package eval
