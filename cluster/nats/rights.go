package nats

import (
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Rights are the subjects that a user of the servers may publish to and subscribe to. All others
// are refused.
type Rights struct {
	Publish, Subscribe []string
}

// Inbox returns the prefix of the subjects on which a host receives answers.
func Inbox(host string) string { return "_INBOX." + host }

// HostRights returns the rights of a host that serves the owners in served, all if there are none. The
// name of a host is its own. A host of all owners can read and write every journal and every object, and
// can remove nothing. A host of some reaches their journals and objects, asks other hosts about those alone,
// and reads the statement of the cluster.
func HostRights(host string, served ...string) Rights {
	r := Rights{
		Publish: []string{
			prefix + "h.*.r.*",
			"$KV." + hostsBucket + "." + host,
			"$JS.API.DIRECT.GET.KV_" + metaBucket + ".>",
			"$JS.API.DIRECT.GET.KV_" + hostsBucket + ".>",
		},
		Subscribe: []string{
			Inbox(host) + ".>",
			prefix + "h." + host + ".>",
			"$KV." + hostsBucket + ".>",
		},
	}
	if len(served) == 0 {
		r.Publish = append(r.Publish, prefix+"h.*.q.*.*", prefix+"j.>", prefix+"t.*", prefix+"o.>", "$JS.API.STREAM.INFO.*")
		r.Subscribe = append(r.Subscribe, prefix+"f.>")
		for i := range engine.OwnerShard + 1 {
			r.Publish = append(r.Publish, readAll(stream(i))...)
		}
		r.Publish = append(r.Publish, readAll(objects)...)
		return r
	}
	for _, owner := range served {
		r.Publish = append(r.Publish, prefix+"j.*."+owner+".*", prefix+"t."+owner, prefix+"o."+owner+".>", prefix+"h.*.q.*."+owner)
		r.Subscribe = append(r.Subscribe, prefix+"f.*."+owner+".*", prefix+"f.t."+owner)
		for i := range engine.OwnerShard {
			r.Publish = append(r.Publish, readFiltered(stream(i), fmt.Sprintf("%sj.%02x.%s.*", prefix, i, owner))...)
		}
		r.Publish = append(r.Publish, readFiltered(owners, prefix+"t."+owner)...)
		r.Publish = append(r.Publish, readFiltered(objects, prefix+"o."+owner+".*.*")...)
	}
	for i := range engine.OwnerShard + 1 {
		r.Publish = append(r.Publish, pull(stream(i))...)
	}
	r.Publish = append(r.Publish, pull(objects)...)
	return r
}

// readAll returns the requests that read any subject of a stream.
func readAll(stream string) []string {
	return append(pull(stream),
		"$JS.API.STREAM.MSG.GET."+stream,
		"$JS.API.DIRECT.GET."+stream,
		"$JS.API.DIRECT.GET."+stream+".>",
		"$JS.API.CONSUMER.CREATE."+stream+".*.>",
	)
}

// readFiltered returns the requests that read the subjects of a stream that a pattern matches.
func readFiltered(stream, pattern string) []string {
	return []string{
		"$JS.API.DIRECT.GET." + stream + "." + pattern,
		"$JS.API.CONSUMER.CREATE." + stream + ".*." + pattern,
	}
}

// pull returns the subjects of requests on a consumer. Its random name keeps others from using it.
func pull(stream string) []string {
	return []string{"$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.API.CONSUMER.DELETE." + stream + ".*"}
}

// MaintenanceRights returns the rights of the user under which journals are trimmed, and servers mended,
// in the account of the store. Host is its name as in HostRights.
func MaintenanceRights(host string) Rights {
	r := HostRights(host)
	r.Publish = append(r.Publish, "$JS.API.>", "$KV.>")
	r.Subscribe = append(r.Subscribe, "$JS.EVENT.ADVISORY.>", "$KV.>")
	return r
}
