// Package keep looks after a cluster: it makes the streams of a new one, hands on who may connect, looks at
// all replicas every ten seconds, and describes what it found.
//
//	err := keep.Serve(ctx, m, "", false, os.Stderr)  // a server, and a Keeper beside it
//	s := keep.Look(ctx, m)                           // from any machine
//	keep.WriteTables(w, s)
//	keep.WriteMetrics(w, s)
//
// A keeper runs on each of the three servers' machines, under the maintenance user. They need not agree:
// who finds that another one has looked since its own last look leaves it at that, and two looks at once
// do no harm. No clock is compared with one of another machine.
//
// What is found stands in CTX_META, where each host reads it: "statement" (who may trust the cluster; see
// package nats), "attest" (a [Report]), "leaders" (which of them were found whole since their election; see
// package gate), "users", and "unsafe" (an [Unsafe]), which is never removed.
//
// # Repair
//
// Where two replicas prove each other, a third one that lacks what they have is made anew by the keeper of its
// server: it stops the server, sets aside what that has of the stream, the entries and the log of its group,
// and starts it. The server catches up from the others. It happens to one server at a time, which is whose name
// stands in "heal" (a [Healing]). Before anything is set aside, and while the server does not run, the two
// others must have the same, so that no acknowledged entry is on the stopped one alone. A stream that all
// servers have lost is never made anew: ctxfs cluster restore does that from a backup.
//
// # Files to read first
//
//	serve.go   a server and its keeper
//	keeper.go  the round of every ten seconds
//	attest.go  comparison of all replicas, alarms
//	heal.go    repair of a replica
//	look.go    report for operators
package keep
