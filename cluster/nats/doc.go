// Package nats is the engine on NATS JetStream, 2.15.2 or later, with three replicas, each of which
// writes every entry through to its disk before it answers.
//
//	e, err := nats.Open(ctx, nats.Options{Servers: urls, Host: "a", Auth: client.UserInfo("a", secret)})
//	defer e.Close()
//	seq, err := e.Append(ctx, subject, last, id, header, payload)
//
// # What lies where
//
//	CTXJ_00 … CTXJ_0f  ctx.v1.j.<shard>.<owner>.<session>        journals of sessions
//	CTXT               ctx.v1.t.<owner>                          journals of owners
//	CTXO               ctx.v1.o.<owner>.<base32hex(name)>.<part>  objects in parts of 512 KiB
//	KV_CTX_META        $KV.CTX_META.<key>                        the statement and settings of the cluster
//	KV_CTX_HOSTS       $KV.CTX_HOSTS.<host>                      hosts that live, in memory
//	                   ctx.v1.f.<shard>.<owner>.<session>        entries as they come, republished
//	                   ctx.v1.f.t.<owner>                        the same of owners
//	                   ctx.v1.h.<host>.q.<request>.<owner>       requests to a host
//	                   ctx.v1.h.<host>.r.<token>                 answers to a host
//
// [Create] makes the streams once, under the maintenance user, and never again: a stream that is gone
// is a loss ([engine.ErrGone]) and not a reason to make an empty one.
//
// # Two links
//
// An engine has two connections, to two servers if it knows two. What gets no answer for [HedgeAfter]
// goes over the other one, the same message under the same id, and so on until the time limit. The link
// that answered first is preferred from then on, and the feeds move there. So a host whose server is
// cut off from the others waits for an election and not for its own connection to fail.
//
// An answer that says "duplicate" counts only when the entry at its sequence is ours: servers remember
// ids for the stream and not for the subject. A refusal counts only when no earlier attempt of the same
// Append is without an answer; else the engine looks which entry stands behind the expected one.
//
// # Safety
//
// [Open] returns [engine.ErrUnsafe] if a server is too old, if a server does not report that it syncs
// always, if a stream has fewer than three replicas or other settings than it needs, or if a link that
// leaves the machine is not TLS 1.3. With Options.Unsafe it goes on, and [Engine.Unsafe] returns the
// reasons for ever. Reports of the servers come from the maintenance user, who alone can ask all of them
// ([Engine.Certify]); hosts read its statement.
//
// # Rights
//
// [HostRights] and [MaintenanceRights] are what users of the server have to be allowed. A host that
// serves some owners reads through consumers whose filter stands in the subject of the request, because
// the faster requests name the journal in their body, where no server looks for rights. Its Last asks a
// replica and not the leader.
//
// # Files to read first
//
//	open.go      links, and checks of the servers
//	append.go    an entry after another
//	exchange.go  a request over two links
//	follow.go    feeds
//	streams.go   names and settings of streams
package nats
