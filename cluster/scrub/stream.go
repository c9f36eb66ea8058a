package scrub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// Replicas reads what single servers have. *nats.Engine is one.
type Replicas interface {
	// Stretch calls yield with the entries of a stream that the server called server has from the sequence
	// from to the sequence to, in their order, as far as they can be read. It returns engine.ErrUnreachable if
	// the server does not answer.
	// The subject is the zero one for an entry of no journal.
	Stretch(ctx context.Context, server, stream string, from, to uint64, yield func(s engine.Subject, e engine.Entry)) error
	// Read is that of engine.Engine.
	Read(ctx context.Context, s engine.Subject, r engine.Range) ([]engine.Entry, error)
}

// Options are how a scrub goes about it.
type Options struct {
	Share   float64 // of the time that reading may take; the rest is waited. 0: all
	Stretch uint64  // sequences at a time; 0: 4096
}

// Finding is something that is wrong on a server.
type Finding struct {
	Server  string `json:"server"` // "": on all
	Stream  string `json:"stream"`
	Journal string `json:"journal,omitempty"` // owner/session
	Seq     uint64 `json:"seq"`
	What    string `json:"what"`
}

// String returns it as a sentence, with the remedy for a journal that is bad on all servers.
func (f Finding) String() string {
	where, journal, remedy := f.Server, "", ""
	if where == "" {
		where = "all servers"
	}
	if f.Server == "" && f.Journal != "" {
		remedy = "; hosts that have read it go on to show it, and ctxfs cluster restore makes it from the last backup"
	}
	if f.Journal != "" {
		journal = " of journal " + f.Journal
	}
	return fmt.Sprintf("%s: entry %d%s on %s: %s%s", f.Stream, f.Seq, journal, where, f.What, remedy)
}

// Sum is how much was read.
type Sum struct {
	Entries int64 `json:"entries"` // of all servers together
	Bytes   int64 `json:"bytes"`
}

// maxFindings is how many findings of a stream are enough.
const maxFindings = 20

// Stream reads a stream from the sequence first to last through each of the servers. It returns what is wrong, none of
// it twice, at most 20 findings; and an error of r, if a server could not be read.
func Stream(ctx context.Context, r Replicas, servers []string, stream string, first, last uint64, o Options) (found []Finding, sum Sum, err error) {
	if o.Stretch == 0 {
		o.Stretch = 4096
	}
	known := map[string]*chains{}
	for _, server := range servers {
		known[server] = &chains{at: map[engine.Subject]journal.Position{}}
	}
	for from := max(first, 1); from <= last && len(found) < maxFindings; from += o.Stretch {
		begin := time.Now()
		to := min(last, from+o.Stretch-1)
		bad, err := look(ctx, r, known, stream, from, to, &sum)
		if err == nil && len(bad) > 0 {
			for _, c := range known {
				c.back()
			}
			var again []Finding
			if again, err = look(ctx, r, known, stream, from, to, &sum); err == nil {
				found = append(found, both(bad, again)...)
			}
		}
		if err != nil {
			return found, sum, err
		}
		if o.Share > 0 && o.Share < 1 {
			select {
			case <-ctx.Done():
				return found, sum, ctx.Err()
			case <-time.After(time.Duration(float64(time.Since(begin)) * (1/o.Share - 1))):
			}
		}
	}
	return found[:min(len(found), maxFindings)], sum, nil
}

// look reads a stretch through all servers, and returns what is wrong.
func look(ctx context.Context, r Replicas, known map[string]*chains, stream string, from, to uint64, sum *Sum) (bad []Finding, err error) {
	had := map[string]digest{}
	for _, server := range slices.Sorted(maps.Keys(known)) {
		d, err := read(ctx, r, server, stream, from, to, known[server], sum)
		if err != nil {
			return nil, err
		}
		had[server] = d
	}
	bad, err = chained(ctx, r, had, stream)
	return append(compare(had, stream), bad...), err
}

// compare returns the entries that a server has otherwise than most, or not at all.
func compare(had map[string]digest, stream string) (bad []Finding) {
	all := map[uint64]bool{}
	for _, d := range had {
		for seq := range d {
			all[seq] = true
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(all)) {
		votes, most := map[hash]int{}, hash{}
		for _, d := range had {
			sum := d[seq].sum // of zeros if it is not there
			if votes[sum]++; votes[sum] > votes[most] {
				most = sum
			}
		}
		if votes[most] == len(had) {
			continue
		}
		if votes[most] <= len(had)/2 || most == (hash{}) {
			bad = append(bad, Finding{Stream: stream, Seq: seq, What: "no two servers have the same"})
			continue
		}
		for server, d := range had {
			what := "it is another one than the two others have"
			if d[seq].sum == (hash{}) {
				what = "it cannot be read, and the two others have it"
			}
			if d[seq].sum != most {
				bad = append(bad, Finding{Server: server, Stream: stream, Seq: seq, What: what})
			}
		}
	}
	return bad
}

// chained returns the entries that do not continue their journal.
func chained(ctx context.Context, r Replicas, had map[string]digest, stream string) (bad []Finding, err error) {
	for server, d := range had {
		for seq, x := range d {
			if x.wrong == nil {
				continue
			}
			if errors.Is(x.wrong, journal.ErrGap) { // what stood before may have been trimmed
				list, err := r.Read(ctx, x.subject, engine.Range{From: 1, Count: 1})
				if err != nil {
					return nil, err
				}
				if len(list) == 0 || list[0].Seq >= seq {
					continue
				}
			}
			everywhere := true
			for _, other := range had {
				everywhere = everywhere && other[seq].wrong != nil && other[seq].sum == x.sum
			}
			f := Finding{server, stream, x.subject.Owner + "/" + x.subject.Session, seq, x.wrong.Error()}
			if everywhere {
				f.Server = ""
			}
			same := func(g Finding) bool { return g.Server == f.Server && g.Journal == f.Journal }
			if i := slices.IndexFunc(bad, same); i < 0 {
				bad = append(bad, f)
			} else if f.Seq < bad[i].Seq { // the first one of a journal is enough
				bad[i] = f
			}
		}
	}
	return bad, nil
}

// both returns the findings of two looks that are the same.
func both(a, b []Finding) (list []Finding) {
	for _, f := range a {
		if slices.Contains(b, f) {
			list = append(list, f)
		}
	}
	return list
}
