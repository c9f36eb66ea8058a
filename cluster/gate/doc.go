// Package gate keeps a host from taking the beginning of a journal for the whole of it.
//
// A replica that has lost the end of a journal, and has become the leader, shows a beginning that is whole by
// its chain. A host with a copy notices: its copy goes on where the journal ends. A host without one cannot. So
// before it makes its first copy of a journal, it asks whether the leader of the shard was found whole, by a
// look at all replicas, since it was elected:
//
//	g := gate.New(engine)
//	err := g.Pass(ctx, subject)
//
// Who looks is ctxfs cluster serve (package keep): every ten seconds, and at once when a leader is elected. It
// writes [Leaders] to CTX_META. An election has a name: when the leader took office, by the leader's own clock.
// That is compared for being equal, and never with a clock.
//
// A host of some owners may not ask who leads. It goes by the last look, so it may pass for as long as that is
// from before an election.
//
// A cluster at which nobody ever looked, of servers that ctxfs cluster serve does not run, lets all pass:
// [Gate.Unattested] names that. Once somebody has looked, somebody must.
//
// # Files
//
//	gate.go  all of it
package gate
