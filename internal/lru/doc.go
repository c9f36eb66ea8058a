// Package lru orders values by their last use, with their sizes, for caches that evict the values
// unused for longest.
//
// A [Cache] (lru.go) never evicts by itself. Its user decides which values go and when:
// [Cache.Trim] evicts down to a total size, [Cache.Keep] down to a count, and a loop over
// [Cache.Oldest] by any other rule. The caches of ctxfs differ in that rule: bytes or counts,
// entries in use, limits that change.
//
// A Cache has no lock: its user holds one around every call.
package lru
