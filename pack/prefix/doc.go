// Package prefix stores content that is derived from a prefix of a history. Equal prefixes give
// equal content, so the content may be dropped at any time; it only saves the time to derive it.
//
//	record ─► Section.Apply ─► Section.Encode ─► Store.Save ─► file of the session
//	file of the session ─► Store.Load ─► Section.Encode ─► Section.Apply from there on
//	batch of records ─► Lines.Append ─► line of the session ─► LoadLines
//
// A [Store] keeps one state. Content that grows with the history and is read line by line uses
// [Lines].
//
// # Where it is decided
//
//   - Whether a stored state belongs to a history: store.go (Store.Load). The header names the state
//     and its version; the rest names the position and the heads of both logs there. Whether stored
//     lines do: lines.go (LoadLines).
//   - What fsck accepts: store.go (Check).
//   - Interface of a section and its lines: section.go. The table of sections: pack/section.
package prefix
