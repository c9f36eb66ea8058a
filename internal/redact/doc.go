// Package redact finds secrets in text: keys, tokens and passwords, by the
// rules of a kept library and a few of its own. It promises:
//
//   - A secret is replaced by what kind of thing it is, [redacted:github-pat], and by
//     nothing that could tell it: no counter, no length, no hash. The same text gives the same bytes, always.
//   - What was redacted once stays as it is: redacting it again changes nothing.
//   - What is allowed stays, by the list of whoever mounts. No text can allow itself.
//   - A text is never damaged: what is not a secret keeps its bytes, JSON stays JSON.
//
// # Words
//
// A rule says what a secret looks like: words that must stand near it, an expression, how random it must be. The rules of
// gitleaks, which its authors keep, are embedded as they are (gitleaks.toml); their engine is not used, because it brings
// archives, configuration and logging with it. Where agents' transcripts are full of something that gitleaks does not
// look for, there are rules in contexts.go.
//
// A finding is carried when its value can be told apart from ordinary words: then it is a secret wherever it
// stands later, in whatever context. A [Ledger] is the order in which a session's records came to know such values: a record
// is redacted by what it and the records in front of it say, so that what stands in a prompt's prefix never changes.
//
// # Files, from top to bottom
//
//	ledger.go     a session's records, in order
//	document.go   JSON: each string by itself, with the key that it stands under
//	engine.go     from a text to its findings
//	gitleaks.go   the library's rules, read
//	contexts.go   the rules beside them
//	window.go     where in a text a rule has to look
//	plausible.go  what a value looks like that is no secret
//	terminal.go   texts with colours in them
//	allow.go      the list of what is allowed
package redact
