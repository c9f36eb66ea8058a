// Package memory keeps a process within the memory it was given: by the
// environment (GOMEMLIMIT) or by its control group.
//
// Two things follow from a limit. The runtime collects garbage often enough to
// stay below it, and work that needs much memory asks for it before it begins
// ([Limit.Reserve]). What does not fit, even when all caches let go, is refused
// with ctxabi.ErrNoMemory: one user's heavy read fails, and the others are
// served. Nobody waits for memory.
//
// Without a limit, too, a process that waits returns what it does not use ([Idle]).
package memory
