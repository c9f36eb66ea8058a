// Package embed runs a server for clusters of ctxfs: nats-server as a library, with the settings without
// which a cluster does not keep what it acknowledges. It is a module of its own, so that ctxfs itself
// carries the client alone. The program is cmd/ctxfs-server.
//
//	ctxfs-server --config server.json
//	ctxfs-server --config server.json --witness
//	ctxfs-server --config server.json --print     # the settings as nats-server reads them
//	ctxfs-server --new-key FILE                   # a key pair for a user
//
// ctxfs cluster serve starts it. At SIGHUP it reads the file anew: users come and go without a restart.
//
// A cluster has three servers, each on a machine and a disk of its own. They tolerate the loss of any one
// of them. A [member.Server] describes one server; the three differ in name, addresses and certificates alone.
//
// # What is settled here
//
//   - Every entry is synced before it is acknowledged (sync_interval: always), by two of three servers.
//   - Links between servers are TLS 1.3 with certificates of both sides, links of hosts are TLS 1.3, unless
//     all addresses are those of one machine. There is no setting to leave it out.
//   - Users have keys (NKEYs): the server knows the public ones alone. A host reaches the owners it
//     serves, the maintenance user trims, and the system user asks servers how they are. What each may
//     do stands in package nats ([nats.HostRights], [nats.MaintenanceRights]).
//   - Entries are encrypted on the disk (ChaCha20-Poly1305) with the key in KeyFile. It is made at the
//     first start. Who loses it loses what the server has.
//   - Monitoring answers on loopback alone.
//   - Servers do not tell clients or each other of further addresses: who is in the cluster stands in the
//     settings.
//
// A witness is the third server of two hosts: it holds its replica as the others do, and accepts no hosts
// but those on its own machine.
//
// # Files, from top to bottom
//
//	server.go  a server that runs
//	text.go    the settings as nats-server reads them; what an operator writes is in package member
package embed
