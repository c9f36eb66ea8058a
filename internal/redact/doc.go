// Package redact replaces secrets (keys, tokens, passwords) in texts and JSON with placeholders
// such as [redacted:github-pat]. Packs, searches, and exports call it with the records of a
// session.
//
//	record → Ledger.Record (ledger.go) → JSON: each string with its key (document.go)
//	  → escapes of terminals removed (terminal.go)
//	  → keywords, windows around them (window.go) → rules (gitleaks.go, contexts.go)
//	  → plausible? (plausible.go) → allowed? (allow.go) → placeholder (engine.go)
//
// # Decisions
//
//   - which texts are secrets: rules of gitleaks (gitleaks.toml, read by gitleaks.go) and further
//     rules for texts of agents in contexts.go. A rule has keywords, an expression, and an entropy.
//     The engine of gitleaks is not used, because it brings archives, configuration, and logging
//   - false positives (code, paths, hashes, public names): plausible.go
//   - fields with a name that makes the value a secret: named in document.go
//   - the allow list of the mount: allow.go. No text can allow itself
//   - a secret that occurs again without its context: ledger.go. A value is redacted in all later
//     records if isCarried (plausible.go) accepts its length and its characters. A record depends
//     only on itself and on earlier records, so the prefix of a prompt never changes
//   - where in a text a rule searches: window.go; overlapping findings, placeholder: engine.go
//   - version of the rules, for caches: Fingerprint in engine.go
//
// # Promises
//
// A placeholder names the kind of the secret and nothing else: no counter, no length, no hash. The
// same text gives the same bytes, redacting twice changes nothing, bytes outside of secrets stay,
// and JSON stays JSON. A [Redactor] and a [Ledger] are safe for concurrent use.
//
// # Files, from top to bottom
//
//	ledger.go     records of a session, in order
//	document.go   JSON: each string with its key
//	engine.go     findings in a text, and their replacement
//	gitleaks.go   rules of gitleaks
//	contexts.go   further rules
//	window.go     parts of a text in which a rule searches
//	plausible.go  values that are no secrets
//	terminal.go   texts with terminal escapes
//	allow.go      allow list
package redact
