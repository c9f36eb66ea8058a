package keep

import (
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// journals returns the names of the streams of journals.
func journals() (list []string) {
	for shard := range engine.OwnerShard + 1 {
		list = append(list, nats.StreamOf(shard))
	}
	return list
}

// whole reports whether all leaders of journals are.
func whole(list gate.Leaders) bool {
	for _, name := range journals() {
		if l, ok := list[name]; !ok || l.Why != "" {
			return false
		}
	}
	return true
}

// judge returns which leaders are whole, of two looks at all replicas, of which the first may be the second.
func judge(before, now []Stream) gate.Leaders {
	list := gate.Leaders{}
	for _, s := range now {
		for _, b := range before {
			if b.Name == s.Name {
				list[s.Name] = gate.Leader{Server: s.Leader, Election: s.Election, Why: lacks(b, s)}
			}
		}
	}
	return list
}

// lacks returns why the leader of a stream may lack entries, "" if it does not: it has all that it should by
// its own account and all that any replica had before, and another replica agrees with it. Two replicas are
// enough for that: the third one may be the damaged one, or may not run.
func lacks(before, now Stream) string {
	var leader *engine.Replica
	for i := range now.Replicas {
		if now.Replicas[i].Server == now.Leader {
			leader = &now.Replicas[i]
		}
	}
	if leader == nil || now.Election == "" {
		return "no leader answers"
	}
	if !complete(*leader) {
		return fmt.Sprintf("%s, which leads, lacks entries between %d and %d", leader.Server, leader.First, leader.Last)
	}
	led := uint64(0) // where the leader ended before
	for _, r := range before.Replicas {
		if r.Last > leader.Last {
			return fmt.Sprintf("%s, which leads, ends at %d, and %s at %d", leader.Server, leader.Last, r.Server, r.Last)
		}
		if r.Server == leader.Server {
			led = r.Last
		}
	}
	for _, r := range now.Replicas {
		if r.Server != leader.Server && complete(r) && r.First == leader.First && r.Deleted == leader.Deleted && r.Last >= led {
			return ""
		}
	}
	return fmt.Sprintf("no other replica agrees with %s, which leads", leader.Server)
}

// complete reports whether a replica has all that it should by its own account.
func complete(r engine.Replica) bool {
	return engine.Attestation{Replicas: []engine.Replica{r}}.Problems() == nil
}
