// Package runner is a second process that does what belongs to a user outside
// the store: it opens a workspace file as the owner of a session. The process
// that serves FUSE never opens such a path itself and never forks: it talks
// to the runner over a socket and waits no longer than it was told to.
//
// # Processes
//
//	daemon (Client) ──socket──► broker ──socket──► reader of uid 1000
//	                                   └─socket──► reader of uid 1001 ...
//
// [Start] forks the broker once, before there is a mount. The broker touches no
// user's path: it passes requests on, starts one reader a user, ends readers
// that are idle or old, and starts them again, with growing pauses, when they die. A
// reader runs as its user, with that user's groups, without capabilities or a
// way to gain any, and opens what it is asked to open. A path that hangs (a
// dead network mount, a file inside the very mount the daemon serves) holds
// one slot of one user's reader, and nothing else waits for it.
//
// All three are the same program: the hidden verb "runner" calls [Main].
//
// # Trust
//
// A reader belongs to its user, who may stop or kill it. So the broker takes from
// it only answers to what it was asked, of bounded size, and gives up on one
// that does not answer. When the broker itself is gone, the client answers
// from what it knows and marks it stale.
//
// Commands that make content (generators) will run in the readers' place, as
// another kind of request; nothing of that is built yet.
package runner
