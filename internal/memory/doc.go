// Package memory keeps a process within its memory limit. Heavy work reserves memory before it
// starts; caches register to be emptied; an idle process returns memory to the system.
//
//	Limit.Reserve(need) → fits? → yes: reserved until release
//	                      no: shrink caches, collect garbage → fits?
//	                      no: empty caches, collect garbage  → fits, or ctxabi.ErrNoMemory
//
// # Decisions
//
//   - the limit of the process (GOMEMLIMIT, else the control group minus a part for everything
//     outside of the Go heap): OfProcess and OfGroup in limit.go
//   - refusal of work, and which work keeps memory free (Reserve, or Spare for background work):
//     limit.go
//   - size of a cache: Share and CacheBound in limit.go: an eighth of the limit; CacheBound without
//     a limit: a sixteenth of the available memory of the machine
//   - when an idle process returns memory (5 seconds without work, 8 MiB and a quarter of growth):
//     idle.go
//
// A refused read fails alone, so other users are still served. No caller waits for memory, and the
// methods of a [Cache] wait for no lock. A nil [Limit] bounds nothing.
package memory
