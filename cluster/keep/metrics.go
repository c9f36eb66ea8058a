package keep

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ContentType is the type of what WriteMetrics writes.
const ContentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// WriteMetrics writes a status in the format of OpenMetrics. It returns the writer's error.
func WriteMetrics(w io.Writer, s Status) error {
	out := bufio.NewWriter(w)
	family := func(name, kind, unit, help string) {
		fmt.Fprintf(out, "# TYPE %s %s\n", name, kind)
		if unit != "" {
			fmt.Fprintf(out, "# UNIT %s %s\n", name, unit)
		}
		fmt.Fprintf(out, "# HELP %s %s\n", name, help)
	}
	line := func(name string, value any, labels ...string) {
		var set []string
		for i := 0; i < len(labels); i += 2 {
			set = append(set, labels[i]+"="+label(labels[i+1]))
		}
		if set != nil {
			name += "{" + strings.Join(set, ",") + "}"
		}
		fmt.Fprintf(out, "%s %v\n", name, value)
	}
	const p = "ctxfs_cluster_"
	family(p+"store", "info", "", "The cluster and its store.")
	line(p+"store_info", 1, "cluster", s.Cluster, "store", s.Store, "format", strconv.Itoa(s.Format))
	family(p+"problems", "gauge", "", "How many problems ctxfs cluster status names.")
	line(p+"problems", len(s.Problems))
	family(p+"ran_unsafe", "gauge", "", "Whether the cluster has ever run without something that it needs.")
	line(p+"ran_unsafe", bit(s.Unsafe != nil))
	family(p+"hosts", "gauge", "", "How many hosts live.")
	line(p+"hosts", len(s.Hosts))
	family(p+"quorum", "gauge", "", "Whether more than half of the servers answer this machine, so that appends go on.")
	line(p+"quorum", bit(s.Quorum))
	family(p+"server_up", "gauge", "", "Whether a server answers this machine.")
	for _, server := range s.Servers {
		line(p+"server_up", bit(server.Answers), "server", server.Name)
	}
	family(p+"server_sync_always", "gauge", "", "Whether a server syncs every entry before it is acknowledged.")
	for _, server := range s.Servers {
		line(p+"server_sync_always", bit(server.SyncAlways), "server", server.Name)
	}
	family(p+"server_leads", "gauge", "", "How many streams a server leads.")
	for _, server := range s.Servers {
		line(p+"server_leads", server.Leads, "server", server.Name)
	}
	family(p+"stream_replicas", "gauge", "", "How many replicas of a stream answer.")
	for _, stream := range s.Streams {
		line(p+"stream_replicas", len(stream.Replicas), "stream", stream.Name)
	}
	family(p+"stream_led", "gauge", "", "Whether a stream has a leader, which takes appends.")
	for _, stream := range s.Streams {
		line(p+"stream_led", bit(stream.Leader != ""), "stream", stream.Name)
	}
	family(p+"stream_problems", "gauge", "", "How many problems a stream has.")
	for _, stream := range s.Streams {
		line(p+"stream_problems", len(stream.Problems), "stream", stream.Name)
	}
	for _, f := range []struct {
		name, help string
		of         func(Stream, int) uint64
	}{
		{p + "replica_entries", "Entries of a replica.", func(s Stream, i int) uint64 { return s.Replicas[i].Entries }},
		{p + "replica_last_sequence", "The last sequence of a replica.", func(s Stream, i int) uint64 { return s.Replicas[i].Last }},
		{p + "replica_lost_entries", "Entries that a replica knows to be damaged.", func(s Stream, i int) uint64 { return s.Replicas[i].Lost }},
	} {
		family(f.name, "gauge", "", f.help)
		for _, stream := range s.Streams {
			for i, r := range stream.Replicas {
				line(f.name, f.of(stream, i), "stream", stream.Name, "server", r.Server)
			}
		}
	}
	if s.Attest != nil {
		family(p+"attest_timestamp_seconds", "gauge", "seconds", "When all replicas were last looked at.")
		line(p+"attest_timestamp_seconds", s.Attest.At.Unix())
	}
	if !s.Expires.IsZero() {
		family(p+"certificate_expiry_timestamp_seconds", "gauge", "seconds", "When the certificates of this machine end.")
		line(p+"certificate_expiry_timestamp_seconds", s.Expires.Unix())
	}
	fmt.Fprintln(out, "# EOF")
	return out.Flush()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// label returns the value of a label in quotes.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
