// Package engine is what a cluster of ctxfs hosts needs of a replicated log, and nothing more: the
// [Engine] has seven methods. A session, and the names of an owner, are one subject each: a journal of
// entries in one order. What an entry means is the matter of the journal above; an engine keeps its
// bytes.
//
//	seq, err := e.Append(ctx, s, last, id, header, payload) // stored behind last, or not at all
//	list, err := e.Read(ctx, s, engine.Range{From: last + 1})
//	end, err := e.Last(ctx, s, true)
//	feed, err := e.Follow(ctx, s)
//	err := e.Trim(ctx, s, snapshot)
//	state, err := e.Attest(ctx, s.Shard())
//	objects := e.Objects()
//
// # Sequences
//
// An entry has a sequence, a number above zero that the engine chooses. On one subject sequences only
// grow. They have gaps, because subjects of one shard share them and because entries are trimmed.
// Whether an entry is missing is therefore for the chain of the journal to find, not for sequences. An
// engine never invents an entry and never changes its bytes knowingly; that it did neither is for the
// chain, too.
//
// # What an answer of Append means
//
//	seq, nil        the entry is on the disks of a majority, once, right behind the expected one
//	*Conflict       this entry is not stored and never will be. With Last above the expected sequence,
//	                somebody else's entry stands there. With Last below it, the subject was trimmed as a
//	                whole (Last is 0), or the engine has lost entries, or its answer is an old one: the
//	                caller must never go on behind Last, but find out which
//	ErrBusy         an entry of somebody is under way on this subject. This one is not stored and never
//	                will be; try again soon
//	ErrIDTaken      another entry has this id. This one is not stored
//	ErrUnreachable  nothing was sent, or nobody was there to take it. This one is not stored
//	ErrUnknown      the entry may be stored, or may come to be stored later
//
// After ErrUnknown the caller must append nothing else to the subject before it knows. It finds out by
// a fence: an entry of any content under an id of its own, with the same expected sequence. As at most
// one entry can ever stand behind an expected one, either the fence is stored, and then the earlier
// entry never will be, or a [Conflict] leads to the entry that is.
//
// An id is used for one entry alone. The same entry under the same id may be appended again, also
// through another host, as long as the engine remembers ids ([IDWindow]): it is stored once and the
// sequence is the same.
//
// # What readers see
//
// Last with leader set returns the last entry as of some moment during the call: it is at or behind all
// entries whose Append had returned before. There is one exception: a leader that was cut off from the
// other servers goes on to answer until it notices, for some seconds. So an answer that ends before what
// the caller has read is an old one or a loss, and only an Append proves that nothing newer exists. Last
// without leader, and Read, may come from a replica that is behind: what they return is true, but newer
// entries may be missing. Their end is never the end of the subject. Follow is a hint that is fast: it delivers what it can, in any order, perhaps twice, and
// reports on Lost when it may have missed something; a breach in the network may keep even that from it.
// Whoever follows asks Last from time to time.
//
// An entry with an empty ID was not stored by Append. Servers that are open to others may have such. A
// journal counts them and passes over them, but they take a place: what comes next expects their sequence.
//
// # Files, from top to bottom
//
//	engine.go   the interface, entries and ranges
//	objects.go  content beside the journals
//	attest.go   whether replicas agree
//	subject.go  names of journals, and their shards
//	errors.go   what can go wrong
package engine
