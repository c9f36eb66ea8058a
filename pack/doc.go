// Package pack compiles a session into a prompt.
//
// A pack is a pure function of the recipe, the history's prefix, the files that
// the recipe names and what its generators made, the budget, the encoding and
// [RendererVersion]. [CompileWith] is that function: it reads no file, no clock and no session.
//
// # The way of a pack
//
//	inputs  session, agent's home, workspace ─► source.Gatherer ─► Input
//	        commands of the recipe ─► build.Builder ──────────────► Input
//	build   Input ─► layout:   strategy, conditions, chains of sources
//	              ─► budget:   who gets how many tokens
//	              ─► journal:  fold ─► pieces and zones ─► parts
//	              ─► footer:   recorded decisions, recall, goal
//	              ─► script:   whether every provider's form fits; if not, fold tighter
//	              ─► render:   pack.md, pack.json, pack.report.md ─► Build
//	view    Build ─► fs: the files of a session; native: bodies of requests
//
// # Packages
//
// pack rests on blocks, recall, native, journal, finds and record, in this order, and on recipe. source, swap and build stand above it.
//
// # Files, from top to bottom
//
//	demand.go             what a recipe's sources ask for
//	computed_past.go      outputs of generators for an earlier moment
//	planned.go            what is known before generators run
//	build.go              CompileWith: a pack from its inputs
//	render_report.go      pack.report.md
//	render_json.go        pack.json
//	native_frame.go       what native renderings are made from
//	epoch.go              what must not change for the prefix to stay
//	chain.go              sources and their fallbacks
//	blocks.go             one block, its cap and its cut
//	content.go            what a source shows
//	required.go           what must stand verbatim, and whether it fits
//	render_json_items.go  items and omissions of pack.json
//	shared.go             what a pack shares with the one before
//	settle.go             the settled point and the layout
//	recall_block.go       the block of old records
//	notes_wanted.go       which derived notes are shown
//	build_native.go       renderings and size of a build
//	footer.go             the goal
//	times.go              the present time, lifted out of the head
//	left.go               what left the prompt
//	memo.go               what a build reuses of those before
//	decisions.go          recorded decisions behind the journal
//	budget.go             who gets how many tokens
//	borders.go            tokens of a beginning
//	input.go              all that a pack is made from, and its id
//	redaction.go          what was redacted
//	footer_style.go       the words of the goal
//	summaries.go          summaries that may stand in the pack
//
// # Order
//
//	STABLE   system_role, tools, skills
//	         the leading system and developer records of the history
//	SESSION  what else the recipe lists before the journal, and the sections of the strategy
//	JOURNAL  first user record; the user's words, summary, files and runs, and key lines of what is behind the boundary,
//	         the last user request behind the boundary, the newest records behind it folded to a line each, a line for each range
//	         that is left out; then everything from the boundary on
//	DYNAMIC  what stands after it, and the current goal: the footer
//
// Within a phase blocks stand in the order of the recipe. A source can name another phase.
//
// # The settled point
//
// What stands before the journal sees the records up to the last compaction, or up to the
// first request of the user while there was none: what a recipe chooses there is
// chosen for the last request among them, and task_contains looks at it.
// After the journal, where the built-in recipe has memories, knowledge and playbooks, the task is the last request
// of all, and the open todos. The other conditions hold or not at once. Compactions are counted by the first of the folds (below), which
// knows nothing of the blocks, so that what a block shows never moves the point it is chosen by.
//
// # Who gets how much
//
// Pins and the system prompt are required: they stand verbatim, or there is no pack. A file without
// max_tokens stands whole as long as the journal keeps an eighth of the limit. All other
// blocks have a cap: their max_tokens, or that of their type, which grows with the limit (budget.go).
// The journal's room is the rest. It is shared out before anything is rendered, by what the recipe
// says and which files there are; a source whose condition looks at the history counts as if it held, and
// a generator with its cap, so that neither refolds history. What is cut ends with a line that names the path of the rest.
//
// # What is computed
//
// computed_file and pipeline run commands through source.Generators. A source has one run at a time, shared by
// all who ask, and a new one when what its cache goes by has changed: the command, its declared inputs or
// the history, or its age (build/outputs.go). A build waits as long as the
// recipe states; then it takes the last good output and is marked stale. Outputs are inputs of
// [CompileWith]. They are kept with the session, so that a restart alone runs nothing. What was
// imported or may be written by others runs only when the owner trusts it (source/trust.go).
//
// # Promises
//
//   - Budget: the exact number of tokens of pack.md is at most the budget.
//   - Roles: the leading records stand in the head of every rendering as the system's, from the first pack to the last.
//   - Prefix: while epoch is the same, the first PrefixBytes bytes of a pack
//     begin the pack of the same files with one record more.
//   - Accounting: every record of messages.jsonl, and every tool event that the
//     journal shows, stands in exactly one item or omission, without a journal in an omission; pins and the system prompt stand verbatim, and so does the last
//     request of the user up to a quarter of the budget.
//   - Determinism: the same inputs give the same bytes, in this process or the
//     next; an incremental build equals one from scratch.
//   - Nothing that is left out is without a path that gives it back.
//
// # Tool events
//
// A tool_call or tool_result of events.jsonl that no message speaks of stands
// in the journal, too, where it arrived: behind the messages that were there
// before it (record.Merged). It is left out when a message in front of it,
// no more than 1,024 back, makes the call of its id or carries its result:
// that message is its twin, or will be followed by it. An event without an id
// has no twin. One that was shown stays when a message speaks of the same call
// later, since a pack's prefix does not change. Decisions that events record stand in blocks (decisions.go): behind the journal, and
// before the conversation once a compaction came. All other events have no part in a pack, and none of these is accounted for.
//
// From there on an event is a record like a message. The result of an event's
// call stays with it, it weighs what it shows, and one more event is one record
// more. The journal is folded over the places of that one order (record/timeline.go);
// a session without such events is folded over its messages as they are.
//
// # How the journal stays within its room
//
// A fold over the index (journal/history.go) decides by weights, so that it
// depends on the records' prefix and on nothing else; only until the first compaction it counts
// exactly. It shows every record
// in full or, above its share, head and tail; when the records since the
// boundary outgrow the room, one compaction moves the boundary so far that it
// does not happen again soon: what stands for the older records is made to fill the journal to
// its low mark in exact tokens, so that what came since is what the next compaction frees. Weights are estimates. Where the exact count of
// a pack overflows nevertheless, or a single group of calls and results is too
// large, the fold is done again a step tighter (budget.go) until it fits; which
// step fits is a function of the inputs, and part of the epoch.
//
// # What stands for the records behind the boundary
//
// At a compaction, and only then, three zones are made (journal/zones.go) of what lies
// behind the boundary: the newest groups of calls and results are folded, one
// line a record; the user's words are kept, message by message; a summary says what was done, found
// and decided over the whole range and what failed; key lines of the older ones are chosen, in runs, by
// the identifiers that nothing else in the pack shows, but not those that a later change took out of a file.
// They are a function of the records up to the one that brought the compaction, look at a
// window of these that does not grow with the history, and stay as they are until the next one. A
// journal with max_iterations or truncate_head drops records and has no zones.
// In pack.json the folded records are items; the summary and the key lines are
// extra: their records are counted where they stand or are left out.
//
// A journal with max_iterations has one more reason for a compaction: the newest
// iterations are live, exactly so many. An iteration is one answer of the assistant with its
// calls and their results, and in front of it what the user said to bring it about; it stays
// whole when results come late. With truncate_head a compaction frees no more than is needed, and the first request leaves, too.
//
// # What stands above already
//
// A result among the live records that repeats an earlier one of them, exactly or mostly, is shown as a reference to it and
// what differs (journal/repeats.go). It weighs in the fold what it weighs without; so the boundary knows nothing of it, and when
// a compaction takes the earlier one away there is room for it in full.
//
// # Recall
//
// After the journal a pack shows parts of old records that matter for what is asked now (recall/recall.go): the passages of the
// records behind the boundary that answer the last request best and, the longer the agent has been at work, what it does
// at the moment. They stand word by word, each below the heading of its record, and repeat nothing that stands in the
// pack. They take what the journal and all others leave of the footer's share, so that they never move the boundary or
// change the epoch. The index over old records is made anew when the boundary moves, over a window of them.
//
// Where the newest record is the user's, all records are looked at, those included that the journal shows in part
// (recall/question.go), and where it asks, all room that is free is recall's: what answers stands with what it answers, a call with its result. The index of
// the terms of all records (recall/terms.go) answers for each prefix of a history as one that was made of it alone; it only saves time.
// Without a journal all records can be recalled. Their items are extra, too.
//
// # Native renderings
//
// The bodies of requests to providers (native/render.go) are made from what pack.md shows, when they are asked for. What
// decides whether they fit and are valid is worked out with every pack from
// ids and weights alone (native/script.go): a fold whose renderings may not fit is done a step tighter.
//
// # Framing
//
// Blocks begin with "# Context Block: <id>", messages with "## <line> <role>",
// calls in one with "[call <line>.<n>]", which is also how a result names
// the call that it answers. Tool events begin with "## e<line> tool_call" or
// "## e<line> tool", and their calls with "[call e<line>]". The heading of a record that is folded says so,
// and so does that of a part that is recalled: "## <line> <role> (recalled)". Content is never altered. Where a line of it looks
// like one of these, or where it leaves a code fence open, it stands in a
// fence longer than any run of backticks in it; a reader that knows lines and
// fences can therefore take every pack apart again, whatever the records hold.
package pack
