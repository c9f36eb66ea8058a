// Package host is one host of a cluster: the committer of its store, whose sessions are copies of
// journals that all hosts share.
//
//	h := host.New(host.Options{Name: "a", Engine: e, Peers: p, Names: n})
//	s, err := session.Open(dir, session.Options{Committer: h})
//	h.Attach(s)
//	h.Follow(ctx, x)                    // the session x is kept up to date
//	err = h.Fresh(ctx, x, time.Second)  // it has all that was acknowledged a second ago
//
// Package session does not know of it: it asks its Committer, as it asks [session.Local].
//
// # One commit
//
// What is appended to a session, to either log, and what is changed of its settings, notes and children
// waits in one queue. While there is something in it, one goroutine holds the turns of the session's
// logs, takes what waits, up to [journal.MaxRows] rows and [journal.MaxBody] bytes, and makes one entry
// of it. So there is one order over all of it, and who waits for nothing waits for one entry alone. A
// change of children, and one of a note that depends on what it was, is an entry of its own. A body
// that is larger than an entry may have becomes an object first.
//
// The home of a journal is the host of its last entry, as long as it is alive. Another host hands its
// requests over to the home ([peers.Peers]). It commits itself when the home does not take them or
// does not answer within [HandOver]. A home lets another host be home after three entries in a row
// that were all for that one. Who is home decides about speed alone: each entry has the sequence that
// it expects in front of it, and an engine stores one entry behind another.
//
//	stored        the entry is applied here, and then those who wait are answered
//	Conflict      with a higher sequence: the journal is read. What stands in it is answered, the rest is
//	              ordered anew; records for a certain place are refused if that is taken
//	Conflict      with a lower one, or with 0: the leader is asked. This host never goes on behind what
//	              it has not read; if the leader lacks entries too, nothing more is stored
//	ErrBusy       it is tried again after a pause, and the journal is looked at now and then
//	ErrUnknown    the journal is read, and another entry is put at the same place: one of both stands
//	              there. If that cannot be done, those who wait are told that the outcome is unknown,
//	              and the next thing that is stored is a fence, an entry without rows at that place
//	no answer of the home: as ErrUnknown, but an entry of this host has to stand there, since a request
//	              that comes late is void behind an entry of the one who asked
//
// # Promises
//
//   - What was acknowledged stands in the journal, once, and in this host's copy.
//   - What was refused with an error of another kind than ctxabi.ErrIO does not stand there and never will.
//   - Requests with the same key, among the last 1,024 of a log, are committed once, whichever host
//     commits them.
//   - Readers never wait for the cluster; see [Host.Fresh] for those who want to.
//   - Who waits is answered after Options.Timeout, or soon after it where many wait. A context ends the wait only as long as
//     nothing was sent.
//   - A host has a goroutine for a session while something waits to be committed, and one while it follows it.
//
// # Locks
//
// What belongs to the journal of a session is for the holder of the turns of its logs ([log.Hold]).
// Host.mu and member.mu are taken last and hold none of the others.
//
// # Files, from top to bottom
//
//	host.go     the host, and what package session asks it
//	snapshot.go snapshots, as the journal names them
//	follow.go   copies that are kept up to date, and beginnings and ends of journals
//	history.go  what control files held before
//	take.go     what other hosts ask
//	queue.go    what waits to be committed
//	commit.go   a group of requests into the journal
//	handoff.go  homes
//	member.go   one session
//	request.go  one request, and what became of it
//	stuck.go    journals that cannot be continued
//	recent.go   keys of the last rows
package host
