// Package handles divides the file descriptors of the process among its users, so that a client
// that opens many files cannot stop the daemon.
//
// There are three kinds of descriptors:
//
//   - clients of the mount hold open files: [Keep] counts them and refuses one more with [ErrShort]
//     while operations still have descriptors left
//   - caches keep files open for reuse, at most [Idle] of them: an owner of such files registers a
//     close function with [OnShortage]
//   - all others are open for the length of one operation
//
// Every open of the process goes through [Open] or [Do]: if descriptors run out, Open makes caches
// close their files and tries again, for about a quarter of a second.
//
// # Decisions
//
// All of them are in handles.go:
//
//   - the limit: the soft RLIMIT_NOFILE, which the Go runtime raises to the hard one at start;
//     Limit
//   - shares of the limit (cached files at most half and 1,024; 256 or a quarter reserved): Shares
//   - fairness between users in a daemon of root: Keep
//   - order of attempts when descriptors run out: Open, giveUp
//
// No function waits for a lock of a caller. A close function of OnShortage must not wait for locks.
package handles
