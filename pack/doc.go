// Package pack compiles a session into a prompt. The caller gives an [Input]: recipe, files,
// outputs of generators, both logs, and the budget. [CompileWith] returns a [Build] with pack.md,
// pack.json, pack.report.md, and the source of the native renderings.
//
// CompileWith is a pure function: it reads no file and no clock, and equal inputs give equal bytes.
// Package pack/builder calls it, keeps the result, and decides when to compile again.
//
// # Read of context/pack.md
//
//	fs/generation.go   lookup and open ask for the current Build and serve its bytes
//	builder.Current    returns the last Build if no input changed; else, for one caller at a time:
//	  source           Gather: recipe, settings, files, trust; Snapshot: both logs, redacted
//	  builder          compute: outputs of the generators that Input.Plan wants; summaries
//	  pack             layout: strategy, limits, sources (settle.go, budget.go, chain.go)
//	                   fill:   fold the journal, one step tighter until it fits (build.go, journal)
//	                   decide, recall: recorded decisions and old records (decisions.go, recall)
//	                   render: bytes, epoch, report (build.go, epoch.go, render_report.go)
//	builder.Opened     records in packs.jsonl that the Build was read
//
// # Where it is decided
//
//   - Order of the steps, and when a tighter fold is tried: build.go (Input.complete, draft.fill).
//   - Token limits: budget.go. share divides the budget among the sources and keeps a part for the
//     conversation, ClassOf says which sources are required, capOf limits one source, defaultCaps
//     has the default caps, agentWrites what the agent wrote. demand.go adds up the requests of all
//     sources. blocks.go (layout.serve) cuts blocks in the order of their priority.
//   - Which sources are used, and when a fallback replaces one: chain.go (layout.useChain).
//   - Text of each source type, and its trust: content.go. Native renderings quote history and
//     agent data.
//   - Strategy, journal rules, and settled point: settle.go. Derived notes: notes_wanted.go.
//   - Which generators a pack needs: planned.go (Input.Plan), computed.go.
//   - Last block of the prompt (progress, failed attempts, last request): footer.go
//     (draft.makeGoal). Which reported errors still count: lessons.go (layout.openErrors).
//   - Tokens for recall: recall_block.go. Tokens for recorded decisions: decisions.go.
//   - Id of a pack: input.go (Input.Around, Input.IDOf). Version of the bytes: build.go
//     (RendererVersion).
//   - When an epoch begins, and why: epoch.go. Prefix that a pack shares with the previous one:
//     shared.go.
//   - Whether the required blocks fit: required.go (Input.CheckFits). Images and thinking in native
//     renderings: native_frame.go. Times in outputs of generators: times.go.
//   - Items and omissions of pack.json: render_json.go, render_json_items.go.
//
// CompileWith fails with ErrOverBudget if the required blocks leave no tokens for the conversation,
// with ErrNoData if a source with on_missing: error has no content, and with ErrIO if a record
// cannot be read.
//
// # Order of a pack
//
//	STABLE   system_role, tools, skills, the leading system and developer records
//	SESSION  other sources before the journal, sections of the strategy
//	JOURNAL  zones of compacted records, then the live records from the compaction boundary on
//	DYNAMIC  decisions since the last compaction, sources after the journal, the goal
//
// Sources of one phase keep the order of the recipe, which may name another phase. Sources before
// the journal see the history up to the settled point: the last compaction or, before any, the
// first request. So they change only at a compaction. Sources after the journal see the last
// request and the open todos.
//
// # Invariants
//
//   - The exact token count of pack.md is at most the budget.
//   - While Epoch is equal, the first Prefix bytes begin the pack of the same files with one more
//     record.
//   - Each message and each shown tool event is in exactly one item or omission of pack.json. Pins
//     and the system prompt are verbatim. Each omission names a path that returns the content.
//   - Blocks begin with "# Context Block: <id>", records with "## <line> <role>". Content that
//     looks like framing is fenced (record/framing.go).
//   - A [Memo] changes only the duration of a build. A Build never changes. A Memo and a [Compiler]
//     are not safe for concurrent use.
//
// # Files to read first
//
//	build.go   steps of a build, from Input to Build
//	input.go   everything that decides the bytes of a pack
//	settle.go  layout: strategy, journal rules, settled point
//	budget.go  token limits of sources and journal
//	chain.go   choice between a source and its fallbacks
//
// # Packages
//
//	recipe   context.yaml: keys, imports, defaults, problems
//	source   inputs from disk: recipe, files, settings, logs, trust
//	builder  cache of packs, generators, summarizer, workspace memory
//	blocks   text of built-in sources; conditions and strategies
//	journal  compaction, share of each record, zones of compacted records
//	recall   passages of old records for the current request
//	native   request bodies of providers
//	record   one record: framing, shortening, images
//	cli      verbs: pack, recipe
//	finds    findings in records, stored with the session
//	prefix   stored state of a prefix of the history; interface of a section
//	section  table of sections derived without a model: files, runs
//	swap     content that left the prompt, and repeated content
//	project  memory of a workspace
package pack
