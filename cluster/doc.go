// Package cluster holds no code. It describes the layer that lets several hosts share one tree of
// sessions: each session is a journal on replicated servers, and the store of a host is a copy of
// the journals. Package session sees a Committer only; package fs sees the interfaces Cluster and
// Files.
//
//	engine   interface of the replicated log; tests (enginetest), an engine in memory (fake)
//	nats     the engine on NATS JetStream
//	journal  bytes of an entry, and the chain of a journal
//	replica  copy of one session's journal in a store: verifies entries, applies them
//	host     committer of a store: orders, batches, and commits appends and changes
//	peers    requests between hosts: commit this for me, how far is your copy
//	rows     blobs and pack content in the journal
//	names    names of agents and sessions, shared files; keeper makes them true on a host's disk
//	files    ordinary files that hosts share, for package fs
//	node     one mount: builds all parts, keeps sessions up to date
//	bulk     bodies, parts of logs, and snapshots in the object store
//	tend     snapshots by hosts; trim, parking, and collection by a maintainer
//	carry    publish and withdraw: a session into the cluster, and out of it
//	gate     refuses a leader that may have lost the end of a journal
//	cli      verbs: cluster, session publish, session withdraw; the cluster of a mount
//	member   keys, certificates, and settings of one machine
//	embed    the server program, a module of its own
//	keep     care for the servers: creation, attestation, repair
//	scrub    comparison of all replicas
//	backup   backup into plain files, and restore
//
// An append to a session of the cluster:
//
//	session/log commit → node.Commit (node/commit.go) → Host.Commit (host/host.go)
//	→ queue (host/queue.go): one entry for all waiting requests of the session
//	→ order, place (host/commit.go), or handOver to the journal's home (host/handoff.go, peers)
//	→ journal.Seal → Engine.Append (nats/append.go): a majority of the servers has it on disk
//	→ Copy.Apply (replica/apply.go) → Log.Apply: this host's files → the writer gets its answer
//	other hosts: Engine.Follow → replica → Log.Apply
//
// Where is it decided?
//
//   - Order of entries, conflicts, unknown outcomes: host/commit.go; host that commits for a
//     journal: host/handoff.go.
//   - Sessions in the cluster, freshness of a read, an unreachable cluster: node.
//   - Entries that may be trimmed, size of snapshots: tend. Rights of users: nats/rights.go.
//   - Files that hosts share: Shared in names/shared.go. Health of servers: keep.
//
// The packages import session, its sub-packages, ctxabi, internal/, and each other. Only the
// commands of ctxfs import them.
//
// Open first: engine/engine.go (contract of the log), host/commit.go (one commit), node/node.go
// (the parts of a mount).
package cluster
