// Package node is one mount of a cluster: everything that the store of a host needs, put together. Package host
// commits and follows sessions, names/keeper keeps names, nats reaches the servers; a node opens and closes
// them, decides what is kept up to date, and answers what package fs asks.
//
//	n, err := node.Open(ctx, node.Options{Nats: machine.Host(), Freshness: time.Second})
//	s, err := session.Open(dir, session.Options{Committer: n, Parts: n.Parts()})
//	err = n.Attach(s)
//	fs.Mount(ctx, fs.Options{Store: s, Cluster: n, …})
//	n.Close()                              // before the store
//
// # What is in the cluster
//
// A session is in the cluster if the journal of its owner names it: one that was made through a mount of the
// cluster, or published. One that was in the store before is of this host alone: it can be read, nothing can
// be changed in it, and `ctxfs session publish` brings it into the cluster. One that was withdrawn from the
// cluster is of this host alone, too, and can be changed here. A store that was attached once has
// a file [session.ClusterFile], which names the cluster; package session refuses to open it to write without one,
// since what was written then would be in no journal, and Attach refuses it for another cluster.
//
// # What is up to date
//
//	names     whoever looks into a home enters its owner: his journal is read and followed from then on. A
//	          look-up waits until names were confirmed within Options.Freshness, but not longer than
//	          Bound: then what is on this host is shown
//	sessions  likewise, when something of it is looked up or opened. It is followed while it is open, and for
//	          Idle after it was looked at
//
// Where nothing is known of an owner or of a session yet, there is nothing to show: the look-up waits for
// Options.Timeout and fails with ctxabi.ErrUnreachable. What was confirmed longer ago than Options.Freshness may be
// behind: see [Node.Behind].
//
// # A cluster that is down
//
// A node whose store has copies already begins without its cluster, too: they are read from the start, what needs
// the cluster waits as it does when the host is cut off, and the node goes on trying to reach it ([Node.Status] names
// the reason). A node with a new store is refused, because there is nothing to read.
//
// # Who lives
//
// A host tells every five seconds that it lives. The name of a host is its own: Open refuses one that answers or was
// heard of within 15 s. Should two mounts have one name all the same, the one that began earlier commits nothing
// any more.
//
// # Where other packages plug in
//
// parts.go has a line for each: kinds of rows, what restores a session from a snapshot, what reads parts that lie
// among the objects, what has to agree before a session is opened of which this host has no copy.
//
// # Files to read first
//
//	open.go      a node on servers
//	node.go      a node on any engine
//	commit.go    commits of the store
//	owners.go    owners that are kept up to date
//	sessions.go  sessions that are followed
package node
