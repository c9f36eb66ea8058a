// Package member is what a machine of a cluster has on its disk: the settings of a server, keys and
// certificates, and the tokens with which machines join.
//
//	tokens, err := member.Make(dir, plan)    // on the first machine
//	m, err := member.Join(dir, word, false)  // on each other one
//	m, err := member.Read(dir)
//	e, err := nats.Open(ctx, options)        // of m.Host() or m.Maintenance()
//
// A directory holds one machine. It is for its owner alone, and so is each file, which is the old one or
// the new one at any moment. cluster.json is written last: without it there is no machine. Who made the
// cluster has ca.key, with which certificates are signed; it stays on that machine.
//
// A token is all that a machine needs, its secret keys among it, as one word. It needs no connection to
// join, and who has it can be that machine: send it as you would send a key. A token that was lost is made
// worthless by a new one for the same name ([Machine.Admit]).
//
// # Files, from top to bottom
//
//	token.go    a machine joins
//	users.go    machines come and go
//	make.go     a cluster is made
//	uids.go     users mean the same everywhere
//	certs.go    certificates
//	machine.go  what a machine knows
//	files.go    files are written
//	server.go   the settings of a server
package member
