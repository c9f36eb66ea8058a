// Package gc decides which derived content of a session may be removed, when, and why, and removes
// it. The daemon (also for the attribute user.ctx.gc) and the verb gc call it. The caller gives a
// [Store] and gets a report; package gc/world connects it with a real store.
//
//	every minute (loop.go), or after a change of gc.policy (watch.go)
//	  → Round: Glance at each session; at most 256 due sessions
//	    → MakePlan (plan.go)    each item: goes or stays, with the reason
//	    → sweep (sweep.go)      candidate: mark it; marked a grace ago: check again, remove
//	    → Report (report.go)    context/gc.report
//
// # Decisions
//
//   - which items go: plan.go. byPolicy compares the age of an item with the keys of gc.policy
//     (pack_ttl, swap_ttl, archive_after, delete_after); protected keeps items that a record, a
//     pin, a file, a pack, an open handle, or a parent session names (gc/world/names.go finds these
//     names)
//   - fixed ages (quarantine 30 days, temporary files 24 hours): plan.go
//   - keys and defaults of gc.policy: ctxabi/policy.go
//   - history: policy.go. Records stay unless the owner sets keep_messages or keep_events to 0 and
//     an age. Then a log is archived, without loss; a session is removed whole if both logs may go,
//     no handle is open, and no child link names it
//   - packs.jsonl: rows go from the oldest on, up to the first young or open one: packs in plan.go
//   - how long a candidate waits (the grace, one minute) and the final check under the item's lock:
//     sweep.go
//   - when a session is planned again: loop.go, wake in plan.go. An idle session costs two stats a
//     round
//   - rows and format of context/gc.report: report.go
//
// # Promises
//
//   - Only a plan decides. It is a function of the policy, the clock, and the answers of a
//     [Session]. A sweep removes only items of the plan.
//   - An item is removed only if two plans, at least a grace apart, list it. [Options].Grace 0
//     removes it with the first plan.
//   - The interfaces of store.go are the only access to sessions and packs, so a test can plan a
//     world of its own.
//
// # Locks
//
// Lock order: Collector.walking, which a round holds; the mu of a session's state, held during a
// plan or a sweep; locks of the [Session]; Collector.mu, under which only the clock is called.
// Watch.mu is held alone.
//
// The verbs gc, verify, and fsck are in gc/cli.
//
// # Files, from top to bottom
//
//	watch.go   changes of gc.policy request a sweep
//	loop.go    rounds: which sessions are due
//	sweep.go   plan, marks, removals, totals
//	plan.go    MakePlan: which items go, and why
//	policy.go  ages of history
//	report.go  context/gc.report
//	store.go   interfaces to a store and a session
package gc
