// Package runner is a second process that does what belongs to a user outside
// the store: it opens a workspace file as the owner of a session. The process
// that serves FUSE never opens such a path itself and never forks: it talks
// to the runner over a socket and waits no longer than it was told to.
package runner
