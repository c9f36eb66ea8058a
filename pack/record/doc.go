// Package record reads single records and renders them as packs show them: framed, shortened, or
// split into parts for native renderings. [Records] is a snapshot of a log. [Merged] numbers
// messages and tool events in the order of their arrival.
//
//	log ─► Records, Merged                       records.go, timeline.go
//	record ─► Rendering: heading and parts       read.go (messages), event.go (tool events)
//	       ─► Write: text within a token limit   shorten.go, framing.go
//	       ─► ContentsOf: portions for providers portion.go
//	       ─► ExcerptOf, Fold: short form         excerpt.go
//
// # Where it is decided
//
//   - Headings and marks of pack.md: framing.go, read.go. When content is fenced: framing.go
//     (NeedsFence).
//   - How a record is shortened: shorten.go (Rendering.Write, Rendering.shorten). Results use
//     compress/result, arguments of calls compress/toolcall, other text its head and tail.
//   - Line of a compacted record: excerpt.go (Fold, FoldedResult).
//   - Place of a tool event among the messages: timeline.go. Which events have no message as a
//     twin: session/log/timeline.go.
//   - Requests of the user, and results: read.go (IsUser, IsResult).
//   - Parts of a shortened record for providers: portion.go (ContentsOf). Tool names: portion.go
//     (ToolName).
//   - Tokens of an image: image_tokens.go. Line that replaces an image: image_mark.go. Forms of
//     images: image.go.
//   - Which answers belong to question tools: replies.go. Unreadable records: unread.go.
//
// Content is never altered. A reader that knows headings and fences can split every pack again.
//
// # Files to read first
//
//	read.go      a message as a pack shows it
//	shorten.go   shortened records
//	framing.go   headings, marks, and fences
//	portion.go   parts of a record for native renderings
//	timeline.go  both logs in one order
package record
