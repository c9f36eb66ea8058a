// Package gc decides what derived content of a session may go, and removes it. It promises:
//
//   - Only a plan decides. It is a function of the session's gc.policy, of the clock and of what a
//     [Session] returns. For each candidate it has the reason why it may go, and for each other item
//     the reason why it stays. A sweep removes what the plan has, and nothing else.
//   - Nothing goes at first sight. A candidate is marked; it goes when a later plan, at least a grace
//     away, has it still, and is judged once more, under the lock that guards it, right before it is
//     unlinked.
//   - What a record, a file of the user or a pack that was read names stays, and so does what
//     somebody has open.
//   - History stays, unless its owner made two decisions: not to keep it, and an age. Then a log may
//     be archived, which loses no byte; and a session may be removed whole, if neither log is to be
//     kept, nobody has anything open in it and no child link names it.
//   - A session that nobody uses costs a round two looks at its directory.
//
// It reaches sessions and packs through the interfaces of store.go, so that a test can plan a world
// of its own making; package gc/world has the one of a real store.
//
// # Files, from top to bottom
//
//	watch.go   a change of a gc.policy asks for a sweep
//	loop.go    Start, Round: which sessions are due
//	sweep.go   Plan and Sweep of one session: marks, removals, totals
//	plan.go    MakePlan: what may go, and why
//	policy.go  the ages of history
//	report.go  context/gc.report
//	store.go   what a collector needs of a store and of a session
//
// # Locks
//
// In this order: Collector.walking, held by a round; the mu of a session's state, held while the
// session is planned or swept; the locks of the Session, which it takes itself; Collector.mu, under
// which only the clock is asked. Watch.mu is held alone.
package gc
