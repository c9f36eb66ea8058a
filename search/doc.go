// Package search finds records by their text. [Engine.Session] searches one session and
// [Engine.Owner] all sessions of an owner or an agent; a [Query] names the words, filters, and
// tokens, and [Engine.Render] writes the [Result] as text or JSON. The mount serves it as
// context/search, the command line as a verb.
//
//	Query ─► index of the owner, brought up to date within the wait   owner.go, session.go
//	      ─► matcher: best records of all segments                    match.go, walk.go
//	      ─► finder: verbatim texts, passages, groups of hits         search.go, rank.go
//	      ─► records that belong to a hit                             with.go
//	      ─► Render: excerpts within the tokens                       render.go, search/excerpt
//	new records ─► tail ─► segment files ─► merged segments           index_read.go, save.go
//
// # Where it is decided
//
//   - Filters after the "?", limits of a query, default number of hits and tokens: query.go.
//   - Order of the hits: match.go (hit.better), then rank.go (finder.before, finder.settle). When
//     records are one hit: rank.go (finder.group).
//   - How long a search waits for the index: engine.go (Config.Wait). Afterwards it searches what
//     is indexed, and the newest records of one session (index_read.go: snapshot.behind); the
//     Result says what is missing.
//   - How new records are indexed: a search reads up to inlineBytes of a session itself (index.go);
//     a builder in the background reads more, one at a time (index_build.go). Appends and packs
//     never wait for it.
//   - When segments are written and merged: index.go (tailBytes, chunkBytes), save.go,
//     segment/merge.go (Due).
//   - Which sessions changed, moved, or were removed: changes.go. When words of a removed session
//     leave the files: tidy.go (index.purge).
//   - Damaged index: session.go (gathered.repair), index.go (index.dropSegment):
//     it is dropped and rebuilt. Checks of fsck: check.go.
//   - Files of an index, search/ in the owner's internal directory, and their version: manifest.go.
//   - Which indexes stay in memory: engine.go (Engine.grown). Secrets in answers: redaction.go.
//   - Snapshot of a session for one search: sessions.go (snapshot).
//
// Errors: ErrMalformed for a wrong query, ErrIO if records cannot be read, ErrNoMemory if there is
// no memory for the search, or the error of the context. A damaged or missing index is no error. A
// search never opens sessions of another owner.
//
// # Locks
//
// An [Engine] is safe for concurrent use. The order in an index is looking, work, mu; news is a
// leaf. The holder of work brings the index up to date; mu guards its tables. A search reads a
// snapshot, which stays readable while segments are merged.
//
// The verb search is in search/cli.
//
// # Files to read first
//
//	engine.go      Engine, configuration, memory
//	session.go     path of a search, and repair
//	search.go      hits of a query
//	index.go       index of an owner
//	index_read.go  new records in the index
package search
