package node

import (
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/host"
)

// Status returns what a node says of itself: keys and values, in the order in which they are shown.
func (n *Node) Status() [][2]string {
	s := n.Stats()
	count, oldest := n.Followed()
	state := "ok"
	if why := n.stopped.Load(); why != nil {
		state = "stopped"
	} else if count > 0 && !oldest.IsZero() && time.Since(oldest) > 3*host.ConfirmEvery {
		state = "stale since " + oldest.UTC().Format(time.RFC3339)
	}
	list := [][2]string{{"cluster", n.o.Cluster}, {"cluster_host", n.o.Name}, {"cluster_state", state}}
	if n.extra != nil {
		list = append(list, n.extra()...)
	}
	add := func(name string, v any) { list = append(list, [2]string{"cluster_" + name, fmt.Sprint(v)}) }
	add("freshness", n.o.Freshness)
	add("followed", count)
	add("entries_own", s.Own)
	add("requests_forwarded", s.Handed)
	add("requests_taken", s.Taken)
	add("conflicts", s.Conflicts)
	add("unknown_outcomes", s.Unknown)
	add("lost", s.Lost)
	return list
}
