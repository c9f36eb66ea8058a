// Package scrub reads all that each server has and holds it against the others and against the chains of
// journals. It finds what no count of entries shows: a bit that changed where nobody has read since.
//
//	findings, sum, err := scrub.Stream(ctx, replicas, servers, "CTXJ_03", last, scrub.Options{})
//
// An entry is bad on a server if that cannot be read from it, or if it is another one than most servers have,
// or does not continue its journal. What is found is looked for a second time, because entries come and are
// trimmed meanwhile. An entry that is bad on all servers in the same way does not continue its journal; of
// objects, which have no chain, that is not found here: who reads an object checks its hash.
//
// A journal that was trimmed begins with an entry that is taken as it is.
//
// # Files, from top to bottom
//
//	stream.go  a stream on all servers
//	digest.go  a stretch of it on one server
package scrub
