// Package exam is a reading exam: it shows how well a reader who sees nothing but a prompt answers questions about the
// history that the prompt was made of. ctxfs writes and adds up; questions, answers and grades
// come from people or models outside.
//
// [Prepare] goes as far as it can with what is there, and is called again whenever more is:
//
//  1. It cuts sessions into prefixes, and writes them for the authors of questions.
//  2. When there are questions about each prefix, it makes the prompts of each method, and a folder for each reader,
//     who sees prompts under no name of a method, and no session twice.
//  3. When there are all answers, it writes sheets for graders, who see answers under no name of a reader.
//
// The questions are older than the prompts: they may not change once prompts are made. [Grade]s are then added up by
// [AddUp], per method and kind of question. Methods are compared by the differences of their grades for the same question.
//
// # Files, from top to bottom
//
//	report.go    the score as tables
//	score.go     grades, added up
//	interval.go  how sure a mean difference is
//	prepare.go   the steps up to the grades
//	sheets.go    what readers and graders get
//	prompts.go   the methods
//	square.go    who reads what
//	prefixes.go  histories, cut from sessions
//	files.go     what people and models write, checked
package exam
