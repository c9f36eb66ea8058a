// Package crash holds the tests that break the daemon and the disk under it:
// SIGKILL at random moments, system calls that fail, power that goes away.
// After each of them what was acknowledged must be there, once, whole and in
// its writer's order.
//
// The load comes from writer processes (see load_test.go) that keep a journal
// outside the mount: which record was begun, acknowledged, made durable. The
// check compares the log with these journals and trusts nothing else.
//
// Random choices derive from the seed of the run (internal/suite), printed by every test; CTXFS_SEED sets it
// and CTXFS_SOAK=1 asks for the long forms.
package crash
