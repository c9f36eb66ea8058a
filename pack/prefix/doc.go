// Package prefix stores content that is derived from a prefix of a history. Equal prefixes give
// equal content, so the content may be dropped at any time; it only saves the time to derive it.
//
//	record ─► Section.Apply ─► Section.Encode ─► Store.Save ─► file of the session
//	file of the session ─► Store.Load ─► Section.Encode ─► Section.Apply from there on
//
// # Where it is decided
//
//   - Whether a stored state belongs to a history: store.go (Store.Load). The header names the state
//     and its version; the rest names the position and the heads of both logs there.
//   - What fsck accepts: store.go (Check).
//   - Interface of a section and its lines: section.go. The table of sections: pack/section.
package prefix
