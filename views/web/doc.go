// Package web shows sessions in a browser (`ctxfs ui`). [Listen] gets a [Config] and returns a
// [Server] for the calling user's own browser. It reads the files of a mount. Previews, for example
// with another budget, come from Config.Look, which changes nothing.
//
//	request → guard.check (guard.go, peer.go) → route (server.go)
//	  → page without data (pages.go), then its parts: home.go, session.go, packview.go,
//	    timeview.go, notes.go, family.go → looks.go (open session) → template → answer.go
//	/events → watch.go: one stream of changes for all tabs
//
// # Decisions
//
//   - Access: guard.go. Refused are connections of other users (peer.go), names other than
//     127.0.0.1, other origins, and browsers without the key of this start. The key expires
//     (entryTime); entry.go writes the file that redeems it, by the only request that is no GET.
//   - Routes: server.go. Pages of a session and their order: viewList (pages.go).
//   - Limits: texts, connections, and preview time in server.go; records in session.go; rows in
//     timeview.go. One preview at a time, which cancels the one before: looks.go.
//   - Security headers: policy (guard.go). Texts of sessions are text, never HTML.
//   - Layout of treemaps: treemap.go. Words for sizes, places, and errors: words.go.
//
// # Files to read first
//
//	server.go    Config, Listen, routes
//	guard.go     access to the pages
//	pages.go     frame of all pages, assets
//	packview.go  the pack as the model sees it
//	looks.go     open sessions and previews
package web
