// Package runner is a second process that does what belongs to a user outside
// the store: it opens a workspace file as the owner of a session. The process
// that serves FUSE never opens such a path itself and never forks: it talks
// to readers over sockets and waits no longer than it was told to.
//
// # Processes
//
//	daemon (Client) ──control──► broker
//	   │                            │ forks, and hands over the socket of
//	   ├──socket──► reader of uid 1000
//	   └──socket──► reader of uid 1001 ...
//
// [Start] forks the broker once, before there is a mount. The broker touches no
// user's path and sees no content: it starts readers, kills them and reaps
// them. A reader runs as its user, with that user's groups, without
// capabilities or a way to gain any, and opens what it is asked to open.
// The client talks to it directly (one hop, as every look at a pack waits for it), ends it
// when it is idle or old, and asks for another, with growing pauses, when it
// dies. A path that hangs (a dead network mount, a file inside the very mount
// the daemon serves) holds one slot of one user's reader, and nothing else
// waits for it. When the broker itself is gone, the client answers from what
// it knows and marks it stale.
//
// All three are the same program: the hidden verb "runner" calls [Main].
//
// # Trust
//
// A reader belongs to its user, who may stop or kill it. Each has a socket of
// its own, where the client takes nothing but answers of bounded size to what
// it asked, and gives up on a reader that does not answer.
//
// Commands that make content (generators) will run in the readers' place, as
// another kind of request; nothing of that is built yet.
package runner
