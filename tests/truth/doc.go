// Package truth checks prompts against stories: testdata has cases with records, a budget, and
// texts that the prompt must contain and must not contain (testdata/README.md has the format).
//
//	case (case.go) → records, with ordinary work as filler (filler.go)
//	  → session of a real mount; its prompt is read whenever the agent would read it
//	  → pack.md and the bodies of providers → findings (judge.go)
//
// testdata/open.txt lists the cases that the present prompt does not satisfy. The test fails if a
// case that is not listed has findings, and if a listed one has none: the list only shrinks.
package truth
