package keep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/nats"
	"github.com/ctxfs/ctxfs/cluster/scrub"
)

const (
	scrubShare   = 0.05                // of the time, when a keeper scrubs by itself
	objectsEvery = 30 * 24 * time.Hour // how often objects are read, too
	scrubAgain   = 10 * time.Minute    // when a scrub that failed begins again
)

// Scrub reads all that each server has, under the name of a machine, in a share of the time, and writes what it has found, with the journals that hosts cannot continue. What is bad
// on one server alone it asks to be made anew. progress is called with each stream before it is read. It returns
// ErrUnreachable if not all three servers have the stream that it reads, and the errors of livingHosts and AskToHeal.
func Scrub(ctx context.Context, e *nats.Engine, by string, objects bool, share float64, progress func(stream string)) (s Scrubbed, err error) {
	before, _, err := readScrubbed(ctx, e)
	if err != nil {
		return s, err
	}
	survey, err := e.Survey(ctx)
	if err != nil {
		return s, err
	}
	s = Scrubbed{By: by, Objects: before.Objects}
	for _, x := range survey.Streams {
		journals := x.Shard >= 0
		if !x.Attested || !journals && !objects {
			continue
		}
		progress(x.Name)
		var servers []string
		var first, last uint64
		for i, r := range x.Replicas {
			servers = append(servers, r.Server)
			if first, last = min(first, r.First), max(last, r.Last); i == 0 {
				first = r.First
			}
		}
		if len(servers) < x.Wanted {
			return s, fmt.Errorf("%w: %d servers of %d have %s", engine.ErrUnreachable, len(servers), x.Wanted, x.Name)
		}
		found, sum, err := scrub.Stream(ctx, e, servers, x.Name, first, last, scrub.Options{Share: share})
		s.Entries, s.Bytes = s.Entries+sum.Entries, s.Bytes+sum.Bytes
		s.Findings = append(s.Findings, found...)
		if err != nil {
			return s, err
		}
	}
	asks := repairable(s.Findings) // what hosts say is no reason against it
	hosts, err := livingHosts(ctx, e)
	if err != nil {
		return s, err
	}
	s.Findings = append(s.Findings, stuck(hosts)...)
	if s.At = time.Now().UTC().Truncate(time.Second); objects {
		s.Objects = s.At
	}
	if err := putScrubbed(ctx, e, func(Scrubbed) Scrubbed { return s }); err != nil {
		return s, err
	}
	if len(asks) > 0 {
		return s, AskToHeal(ctx, e, asks...)
	}
	return s, nil
}

// repairable returns which replicas can be made anew: of streams that one server alone has otherwise.
func repairable(findings []scrub.Finding) (list []Ask) {
	bad := map[string][]scrub.Finding{}
	for _, f := range findings {
		bad[f.Stream] = append(bad[f.Stream], f)
	}
	for stream, of := range bad {
		server := of[0].Server
		if server != "" && !slices.ContainsFunc(of, func(f scrub.Finding) bool { return f.Server != server }) {
			list = append(list, Ask{server, stream, of[0].String()})
		}
	}
	return list
}

// scrub scrubs when it is due: so long after the last scrub of any keeper, or after the first look of one. So servers
// that are started each day scrub, too.
func (k *Keeper) scrub(ctx context.Context) error {
	if k.ScrubEvery <= 0 {
		return nil
	}
	last, seq, err := readScrubbed(ctx, k.engine)
	if err == nil && last.At.IsZero() && last.Since.IsZero() {
		err = putScrubbed(ctx, k.engine, func(s Scrubbed) Scrubbed {
			if s.Since.IsZero() {
				s.Since = time.Now().UTC().Truncate(time.Second)
			}
			return s
		})
		if err == nil {
			last, seq, err = readScrubbed(ctx, k.engine)
		}
	}
	if err != nil {
		return err
	}
	if k.scrubAt.IsZero() || seq != k.scrubSeq {
		k.scrubSeq = seq
		k.scrubAt = last.due(k.ScrubEvery, time.Now())
		var bad []string
		for i, f := range last.Findings {
			if i == 3 {
				bad = append(bad, fmt.Sprintf("and %d more", len(last.Findings)-i))
				break
			}
			bad = append(bad, f.String())
		}
		sentence := ""
		if bad != nil {
			sentence = "ALARM: a scrub has found " + strings.Join(bad, "; ") + ". What one server has otherwise is made anew"
		}
		k.say("scrub", sentence)
	}
	if time.Now().Before(k.scrubAt) || !k.scrubbing.CompareAndSwap(false, true) {
		return nil
	}
	k.scrubAt = time.Now().Add(scrubAgain)
	age := time.Since(last.Objects)
	objects := age >= objectsEvery || age < -objectsEvery // then a clock was wrong
	e := k.engine
	k.others.Go(func() {
		defer k.scrubbing.Store(false)
		s, err := Scrub(ctx, e, k.Machine.Name, objects, scrubShare, func(string) {})
		if err == nil {
			k.Log(fmt.Sprintf("a scrub has read %d entries, %d MiB, of all servers: %d findings", s.Entries, s.Bytes>>20, len(s.Findings)))
		} else if ctx.Err() == nil {
			k.Log(fmt.Sprintf("a scrub did not end, and begins again: %v", err))
		}
	})
	return nil
}
