// Package web shows sessions in a browser: ctxfs ui. It is a client of the mount like any other: it
// reads files. What has to be compiled to be seen, such as a prompt of another budget, it asks of
// [Config.Look], which changes nothing.
//
// # What it promises
//
//   - It answers the calling user's own browser and nobody else: connections of other users, names
//     other than 127.0.0.1, pages of other origins and browsers without the key of this start are
//     refused ([guard]). No answer is kept, framed or lent to another page.
//   - Nothing is changed by looking. There is one request that is no GET: it redeems the key.
//   - A page stands at once. Its parts, which may have to be made, come after it.
//   - Work is bounded: one preview at a time, which ends the one before; two minutes for each;
//     texts, records and lists are cut and say so.
//   - What a session says is text. It runs nothing, and turns or hides no other part of a page.
//   - Pages follow what is appended: one watcher for all streams, one stream for all tabs.
//
// # Files, from top to bottom
//
//	server.go    the server, and what it is asked for
//	entry.go     the file that opens the page, and its key
//	home.go      all sessions, and searches
//	session.go   one session: its records as a ribbon
//	packview.go  what the model sees
//	timeview.go  what calls sent over time, earlier prompts, comparisons
//	notes.go     what a session knows, and what was refused
//	family.go    children, forks, and what the collector would remove
//	pages.go     the frame of all pages, and their assets
//	watch.go     what changed, as a stream of events
//	answer.go    parts of pages, and errors
//	looks.go     sessions that are open to be looked at
//	treemap.go   rectangles by size
//	words.go     sizes, places, errors in words
//	guard.go     who is answered
//	peer.go      whose connection it is
package web
