package keep

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// watch is what a keeper has seen of replicas of its server that differ from the others, by stream.
type watch map[string]watched

// watched is a replica that differs, as it was at the last look.
type watched struct {
	replica engine.Replica
	behind  bool      // it may become whole by itself
	since   time.Time // when it began, or when one that is behind last went on
}

const (
	stallTime = 15 * time.Second // how long replicas may be behind when none of them goes on
	sureTime  = 3 * time.Second  // how long one may differ that lacks no end
)

// damaged returns which replicas of a server are to be made anew, and why, of two looks at all replicas. As
// long as one that is behind goes on, none that is behind is damaged: servers catch up a few at a time.
func (w watch) damaged(before, now []Stream, server string) map[string]string {
	found, late, goesOn := map[string]string{}, map[string]string{}, false
	for _, s := range now {
		i := slices.IndexFunc(before, func(b Stream) bool { return b.Name == s.Name })
		if i < 0 {
			continue
		}
		why, behind := differs(before[i], s, server)
		seen, ok := w[s.Name]
		if why == "" {
			goesOn = goesOn || ok && seen.behind
			delete(w, s.Name)
			continue
		}
		r, _ := replicaOf(s, server)
		if !ok || seen.behind != behind {
			seen = watched{r, behind, time.Now()}
		}
		goesOn = goesOn || behind && (!ok || seen.replica != r)
		seen.replica = r
		w[s.Name] = seen
		switch d := time.Since(seen.since); {
		case !behind && d >= sureTime:
			found[s.Name] = why
		case behind && d >= stallTime:
			late[s.Name] = why
		}
	}
	if !goesOn {
		maps.Copy(found, late)
		return found
	}
	for name, seen := range w {
		if seen.behind {
			seen.since = time.Now()
			w[name] = seen
		}
	}
	return found
}

// differs returns why the replica of a server is not as the two others, "" if it is or if these do not agree
// with each other. behind means that it may become so by itself.
func differs(before, now Stream, server string) (why string, behind bool) {
	if apart(before, now, server) != "" {
		return "", false
	}
	mine, ok := replicaOf(now, server)
	var good engine.Replica
	end := uint64(0) // what all should have
	for _, r := range now.Replicas {
		if r.Server != server {
			good = r
		}
	}
	for _, r := range before.Replicas {
		if r.Server != server {
			end = max(end, r.Last)
		}
	}
	switch {
	case !ok:
		return "the server has no replica of it", true
	case !now.Attested:
		return "", false
	case mine.Last < end:
		return fmt.Sprintf("it ends at %d, and the two others at %d", mine.Last, end), true
	case mine.Lost > 0:
		return fmt.Sprintf("it has lost %d entries", mine.Lost), false
	case !complete(mine):
		return fmt.Sprintf("it has %d entries and %d gaps between %d and %d", mine.Entries, mine.Deleted, mine.First, mine.Last), false
	case mine.First != good.First || mine.Deleted != good.Deleted:
		return fmt.Sprintf("it begins at %d with %d gaps, and the two others at %d with %d", mine.First, mine.Deleted, good.First, good.Deleted), false
	}
	return "", false
}

// disagree returns why the replicas of a stream on the two servers beside one do not prove each other, "" if
// they do.
func disagree(before, now []Stream, stream, beside string) string {
	find := func(list []Stream) Stream {
		for _, s := range list {
			if s.Name == stream {
				return s
			}
		}
		return Stream{}
	}
	return apart(find(before), find(now), beside)
}

// apart is disagree for one stream.
func apart(before, now Stream, beside string) string {
	var two []engine.Replica
	for _, r := range now.Replicas {
		if r.Server != beside {
			two = append(two, r)
		}
	}
	if len(two) < 2 {
		return "the two others do not both answer"
	}
	if now.Attested {
		if a, b := two[0], two[1]; !complete(a) || !complete(b) || a.First != b.First || a.Deleted != b.Deleted {
			return fmt.Sprintf("%s and %s do not agree", a.Server, b.Server)
		}
	}
	for _, r := range two {
		for _, b := range before.Replicas {
			if b.Server != beside && b.Last > r.Last {
				return fmt.Sprintf("%s ends at %d, and %s at %d", r.Server, r.Last, b.Server, b.Last)
			}
		}
	}
	return ""
}

// replicaOf returns what a server has of a stream.
func replicaOf(s Stream, server string) (engine.Replica, bool) {
	for _, r := range s.Replicas {
		if r.Server == server {
			return r, true
		}
	}
	return engine.Replica{}, false
}
