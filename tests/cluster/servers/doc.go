// Package servers runs a cluster of three ctxfs-server processes on this machine, and breaks it: links
// between servers, and between a host and a server, go through proxies that can be cut, silenced and
// slowed down; processes are killed, stopped and started again; disks are filled and files changed.
//
//	c := servers.Start(t)
//	e := c.Open(t, "a")               // the engine of host a
//	n := c.Leader(t, subject.Shard())
//	c.Isolate(n)                      // silent: nobody is told
//	c.Heal()
//	c.Kill(n)
//	c.Restart(t, n)
//
// All links are TLS, and each user has a key. The names of the users are those of Users.
//
// [Make] runs a cluster that the verbs of ctxfs have made, as an operator does; nothing stands between its
// servers.
//
// # Files, from top to bottom
//
//	made.go     a cluster that ctxfs cluster makes
//	faults.go   what goes wrong
//	power.go    disks whose power is cut
//	cluster.go  three servers and their users
//	node.go     one server process
//	proxy.go    one link
//	certs.go    certificates
package servers
