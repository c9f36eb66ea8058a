package node

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
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
	} else if why := n.missing(); why != nil {
		state = "not reached: " + strings.ReplaceAll(why.Error(), "\n", " ")
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
	behind := time.Duration(0)
	if count > 0 && !oldest.IsZero() {
		behind = time.Since(oldest)
	}
	add("behind_seconds", int(behind.Seconds()))
	add("entries_own", s.Own)
	add("requests_forwarded", s.Handed)
	add("requests_taken", s.Taken)
	add("conflicts", s.Conflicts)
	add("unknown_outcomes", s.Unknown)
	add("lost", s.Lost)
	add("gaps", s.Gaps)
	add("repaired", s.Repaired)
	add("homes", n.Homes())
	add("parts_fetched_bytes", n.parts.fetched())
	return list
}

// missing returns why the cluster was not reached yet; nil if it was.
func (n *Node) missing() error {
	if n.away == nil {
		return nil
	}
	return n.away()
}

// WriteMetrics writes what Status returns in the format of OpenMetrics: numbers as gauges, the rest as labels of
// one line. It returns the error of the writer.
func (n *Node) WriteMetrics(w io.Writer) error { return writeMetrics(w, n.Status()) }

func writeMetrics(w io.Writer, list [][2]string) error {
	var out, labels bytes.Buffer
	for _, kv := range list {
		name := "ctxfs_" + kv[0]
		if _, err := strconv.ParseFloat(kv[1], 64); err == nil {
			fmt.Fprintf(&out, "# TYPE %s gauge\n%s %s\n", name, name, kv[1])
			continue
		}
		if labels.Len() > 0 {
			labels.WriteByte(',')
		}
		fmt.Fprintf(&labels, "%s=%s", kv[0], quoteLabel(kv[1]))
	}
	fmt.Fprintf(&out, "# TYPE ctxfs_mount info\nctxfs_mount_info{%s} 1\n# EOF\n", labels.String())
	_, err := w.Write(out.Bytes())
	return err
}

// quoteLabel returns the value of a label in quotes.
func quoteLabel(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
