package keep

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ctxfs/ctxfs/cluster/nats"
)

// WriteTables writes a status as tables for people. It returns the error of the writer.
func WriteTables(w io.Writer, s Status) error {
	store := "no store yet"
	if s.Store != "" {
		store = fmt.Sprintf("store %s, format %d", s.Store, s.Format)
	}
	fmt.Fprintf(w, "Cluster %s: %s\n\n", s.Cluster, store)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVER\tADDRESS\tANSWERS\tVERSION\tSYNC\tLEADS")
	for _, x := range s.Servers {
		sync := "?"
		if x.SyncAlways {
			sync = "always"
		} else if s.Store != "" && x.Answers {
			sync = "no"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\n", x.Name, x.Address, yesNo(x.Answers), orNone(x.Version), sync, x.Leads)
	}
	if len(s.Streams) > 0 {
		fmt.Fprintln(table, "\nSTREAM\tLEADER\tREPLICAS\tENTRIES\tLAST\tBEHIND")
	}
	for _, x := range s.Streams {
		var entries, first, last uint64
		for i, r := range x.Replicas {
			entries, last = max(entries, r.Entries), max(last, r.Last)
			if first = min(first, r.Last); i == 0 {
				first = r.Last
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\n", x.Name, orNone(x.Leader), len(x.Replicas), entries, last, last-first)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := writeHosts(w, s.Hosts); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if s.Attest != nil {
		fmt.Fprintf(w, "All replicas were looked at %s by %s\n", s.Attest.At.Format(time.RFC3339), s.Attest.By)
	}
	if s.Scrub != nil {
		fmt.Fprintf(w, "All journals were read from each server until %s by %s: %d entries, %d MiB\n", s.Scrub.At.Format(time.RFC3339), s.Scrub.By, s.Scrub.Entries, s.Scrub.Bytes>>20)
	}
	if s.Healing != nil && s.Healing.Server != "" {
		fmt.Fprintf(w, "%s is made anew on %s\n", strings.Join(s.Healing.Streams, ", "), s.Healing.Server)
	}
	if !s.Expires.IsZero() {
		fmt.Fprintf(w, "Certificates of this machine end on %s\n", s.Expires.Format(time.DateOnly))
	}
	if s.Unsafe != nil {
		fmt.Fprintf(w, "UNSAFE: since %s it has run, for a time at least, although %s\n", s.Unsafe.Since.Format(time.RFC3339), strings.Join(s.Unsafe.Reasons, "; "))
	}
	if len(s.Problems) == 0 {
		_, err := fmt.Fprintln(w, "No problems")
		return err
	}
	_, err := fmt.Fprintf(w, "\nProblems:\n- %s\n", strings.Join(s.Problems, "\n- "))
	return err
}

// writeHosts writes the table of the hosts that live, if there are any.
func writeHosts(w io.Writer, hosts []nats.HostRow) error {
	if len(hosts) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nHOST\tVERSION\tSINCE\tSESSIONS\tBEHIND\tPROCESS")
	for _, h := range hosts {
		behind := "-"
		if h.BehindMs > 0 {
			behind = (time.Duration(h.BehindMs) * time.Millisecond).Round(time.Second).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", h.Host, orNone(h.Version), h.Since.UTC().Format(time.RFC3339), h.Sessions, behind, orNone(h.Address))
	}
	return table.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// orNone returns a word, or a dash for none.
func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
