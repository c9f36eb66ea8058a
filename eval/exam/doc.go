// Package exam runs a reading exam (`ctxfs eval exam`): readers with nothing but a prompt answer
// questions about the history that the prompt was made of. People or models outside write the
// questions, answers, and grades; [Prepare] writes their sheets and [AddUp] adds up the grades.
//
//	Prepare (prepare.go), called again whenever files arrive:
//	  1 sessions → prefixes (prefixes.go) → sheets for authors of questions
//	  2 questions → prompts of methods (prompts.go) → readers (square.go) → folders (sheets.go)
//	  3 answers → sheets for graders (sheets.go)
//	grades → AddUp (score.go) → intervals (interval.go) → tables (report.go)
//
// Decisions: cuts of a session: makePrefixes (prefixes.go). Compared methods: prompts.go. Reader of
// each prompt: assign (square.go): no reader sees a session twice, and readers and graders never
// see a method's name. Kinds of questions, names and checks of files: files.go. Grades needed for a
// verdict: leastJudged (score.go). Interval of a difference: interval.go.
//
// Questions are older than prompts and must not change after prompts exist. Methods are compared by
// the differences of their grades for the same question.
//
// # Files, from top to bottom
//
//	report.go    tables of scores, state of an exam
//	score.go     sums of grades, verdicts
//	interval.go  confidence interval of a mean difference
//	prepare.go   steps up to the grades
//	sheets.go    files for readers and graders
//	prompts.go   methods and their prompts
//	square.go    assignment of prompts to readers
//	prefixes.go  histories cut from sessions
//	files.go     files from outside, checked
package exam
