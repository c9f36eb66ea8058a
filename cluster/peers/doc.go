// Package peers is what hosts of a cluster ask each other: to commit something to a journal whose home
// the other one is, and how far the other one's copy is.
//
//	receipt, err := p.Append(ctx, "b", &peers.Append{Subject: s, From: "a", Next: i, Requests: list})
//	head, err := p.Head(ctx, "b", s)
//
// Who asks must bear that a request is lost, late, or answered to nobody. A request that is late does no
// harm: it has the number of the journal's entry that came next when it was made, and it is void once an
// entry of the one who asked stands there or behind. So who has no answer puts an entry of its own into
// the journal, and knows.
//
// # Files, from top to bottom
//
//	peers.go  requests and answers
//	form.go   the same in bytes
package peers
