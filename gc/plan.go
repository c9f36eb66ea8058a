package gc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Ages that are fixed, whatever the policy is.
const (
	QuarantineAge = 30 * 24 * time.Hour // of bytes that were no record
	TmpAge        = 24 * time.Hour      // of what nobody owns in the store's tmp directory
)

// Candidate is an item with the decision's reason: to remove it, or to leave it.
type Candidate struct {
	Item
	Reason string // why it may be removed, or why it is left
}

// Plan lists what a sweep of a session would remove and what it would leave, each with the reason. It
// is not changed after [MakePlan].
type Plan struct {
	At     time.Time
	Policy ctxabi.Policy
	Go     []Candidate
	Stay   []Candidate
	Next   time.Time // when another plan may differ although the session has not changed; zero: never

	before time.Time // rows of packs.jsonl older than this go
}

// recheck is after what time an item is planned again that only a name or an open handle protects,
// which may end at any moment.
const recheck = 10 * time.Minute

// verdict is the result of a rule for an item.
type verdict struct {
	goes   bool
	reason string
	next   time.Time // when it may differ; zero: never
}

func stays(format string, args ...any) verdict { return verdict{reason: fmt.Sprintf(format, args...)} }

// aged is the rule that all share: an item goes if it was not used for an age that is not 0.
func aged(now time.Time, it Item, key string, age time.Duration) verdict {
	old := now.Sub(it.Used)
	switch {
	case age == 0:
		return stays("%s=0", key)
	case old < age:
		return verdict{reason: fmt.Sprintf("used %s ago, %s=%s", span(old), key, span(age)), next: it.Used.Add(age)}
	}
	return verdict{goes: true, reason: fmt.Sprintf("not used for %s, %s=%s", span(old), key, span(age))}
}

// rule returns the verdict for an item by itself: by its age, the policy and its Why.
func rule(now time.Time, p ctxabi.Policy, it Item) verdict {
	v := byPolicy(now, p, it)
	if v.goes && it.Why != "" {
		v = verdict{reason: it.Why, next: now.Add(recheck)}
	}
	return v
}

// byPolicy returns the verdict for an item by its age and the policy alone.
func byPolicy(now time.Time, p ctxabi.Policy, it Item) verdict {
	switch it.Kind {
	case Memory:
		return aged(now, it, "pack_ttl", p.PackTTL)
	case Cache:
		return aged(now, it, "swap_ttl", p.SwapTTL)
	case Blob:
		if p.DedupMinRefs == 0 {
			return stays("dedup_min_refs=0")
		}
		return aged(now, it, "swap_ttl", p.SwapTTL)
	case Quarantine:
		return aged(now, it, "quarantine", QuarantineAge)
	case Tmp:
		return aged(now, it, "tmp", TmpAge)
	case Log:
		keep := "keep_" + strings.TrimSuffix(it.Path, ".jsonl")
		age, _ := HistoryAges(p, it.Path)
		switch {
		case it.Path == ctxabi.MessagesFile && p.KeepMessages || it.Path == ctxabi.EventsFile && p.KeepEvents:
			return stays("%s=1", keep)
		case age > 0 && it.Size == 0:
			return stays("all of it is archived")
		}
		return aged(now, it, "archive_after", age)
	case Whole:
		_, messages := HistoryAges(p, ctxabi.MessagesFile)
		_, events := HistoryAges(p, ctxabi.EventsFile)
		var keeps []string
		if p.KeepMessages {
			keeps = append(keeps, "keep_messages=1")
		}
		if p.KeepEvents {
			keeps = append(keeps, "keep_events=1")
		}
		if p.DeleteAfter > 0 && len(keeps) > 0 {
			return stays("%s", strings.Join(keeps, ", "))
		}
		return aged(now, it, "delete_after", min(messages, events))
	}
	return stays("it is never removed")
}

// protected returns what protects an item that its age lets go, or "" if nothing does.
func protected(ctx context.Context, x Session, p ctxabi.Policy, it Item, names map[string]Named) (string, error) {
	switch it.Kind {
	case Blob:
		id := it.Path[strings.LastIndexByte(it.Path, '/')+1:]
		if n := names[id]; n.Count >= p.DedupMinRefs {
			by := strings.Join(n.By, ", ")
			if n.Count > len(n.By) {
				by += fmt.Sprintf(" and %d more", n.Count-len(n.By))
			}
			return "named by " + by, nil
		}
		if n := x.Open(it.Path); n > 0 {
			return open(n), nil
		}
	case Whole:
		if n := x.Open(""); n > 0 {
			return open(n), nil
		}
		parents, err := x.Parents(ctx)
		if err != nil {
			return "", err
		}
		if len(parents) > 0 {
			return "a child of " + strings.Join(parents, ", "), nil
		}
	}
	return "", nil
}

func open(n int) string {
	if n == 1 {
		return "open in one handle"
	}
	return fmt.Sprintf("open in %d handles", n)
}

// namedBy returns, for the reason of a blob that goes, how often it is named.
func namedBy(n Named, least int) string {
	if n.Count == 0 {
		return "nothing names it"
	}
	return fmt.Sprintf("named %d times, dedup_min_refs=%d", n.Count, least)
}

// MakePlan returns the plan of a session at the time now. It returns the errors of x, and ctx.Err()
// if ctx ended.
func MakePlan(ctx context.Context, x Session, now time.Time) (*Plan, error) {
	p := &Plan{At: now, Policy: x.Policy()}
	if err := p.packs(x); err != nil {
		return nil, err
	}
	items, err := x.Items(ctx)
	if err != nil {
		return nil, err
	}
	var old []string // blobs of which the names matter
	verdicts := make([]verdict, len(items))
	for i, it := range items {
		verdicts[i] = rule(now, p.Policy, it)
		if it.Kind == Blob && verdicts[i].goes {
			old = append(old, it.Path[strings.LastIndexByte(it.Path, '/')+1:])
		}
	}
	var names map[string]Named
	if len(old) > 0 {
		if names, err = x.Names(ctx, old); err != nil {
			return nil, err
		}
	}
	for i, it := range items {
		v := verdicts[i]
		if v.goes {
			why, err := protected(ctx, x, p.Policy, it, names)
			if err != nil {
				return nil, err
			}
			if why != "" {
				v = verdict{reason: why, next: now.Add(recheck)}
			} else if it.Kind == Blob {
				v.reason += ", " + namedBy(names[it.Path[strings.LastIndexByte(it.Path, '/')+1:]], p.Policy.DedupMinRefs)
			}
		}
		p.add(it, v)
	}
	return p, ctx.Err()
}

func (p *Plan) add(it Item, v verdict) {
	if v.goes {
		p.Go = append(p.Go, Candidate{it, v.reason})
		return
	}
	p.Stay = append(p.Stay, Candidate{it, v.reason})
	p.wake(v.next)
}

func (p *Plan) wake(t time.Time) {
	if !t.IsZero() && (p.Next.IsZero() || t.Before(p.Next)) {
		p.Next = t
	}
}

// packs plans the rows of packs.jsonl. They go from the oldest on, up to the first that is young
// enough or whose pack is open.
func (p *Plan) packs(x Session) error {
	rows, err := x.Packs()
	if err != nil || len(rows) == 0 {
		return err
	}
	it := Item{Kind: Packs, Path: ctxabi.PacksFile}
	ttl := p.Policy.PackTTL
	gone := 0
	why := verdict{}
	for _, r := range rows {
		it.Used = r.At
		if why = aged(p.At, it, "pack_ttl", ttl); !why.goes {
			break
		}
		if n := x.Open(ctxabi.ServedDir + "/" + r.ID + ".md"); n > 0 {
			why = verdict{reason: r.ID + " is " + open(n), next: p.At.Add(recheck)}
			break
		}
		gone++
	}
	if gone > 0 {
		// Rows at the same moment go together: the time is what they are dropped by.
		p.before = rows[gone-1].At.Add(1)
		if gone < len(rows) && rows[gone].At.Before(p.before) {
			p.before = rows[gone].At
			for gone > 0 && !rows[gone-1].At.Before(p.before) {
				gone--
			}
		}
	}
	if gone > 0 {
		it.Used, it.Size = rows[gone-1].At, x.PackBytes(p.before)
		v := aged(p.At, it, "pack_ttl", ttl)
		v.reason = fmt.Sprintf("%s read until %s, pack_ttl=%s", count(gone, "pack"), it.Used.UTC().Format(time.RFC3339), span(ttl))
		p.add(it, v)
	}
	if left := len(rows) - gone; left > 0 {
		it.Used, it.Size = rows[len(rows)-1].At, 0
		why.reason = count(left, "pack") + ", " + why.reason
		p.add(it, why)
	}
	return nil
}

// stillGoes reports whether an item goes by the policy, the names and the handles as they are now.
// It is called under the lock that guards the item.
func stillGoes(ctx context.Context, x Session, now time.Time, it Item) (bool, error) {
	p := x.Policy()
	if !rule(now, p, it).goes {
		return false, nil
	}
	var names map[string]Named
	if it.Kind == Blob {
		var err error
		if names, err = x.Names(ctx, []string{it.Path[strings.LastIndexByte(it.Path, '/')+1:]}); err != nil {
			return false, err
		}
	}
	why, err := protected(ctx, x, p, it, names)
	return why == "" && err == nil, err
}

// soonest returns the shortest age of a policy: nothing that is made after a plan goes earlier than
// that.
func soonest(p ctxabi.Policy) time.Duration {
	ages := slices.DeleteFunc([]time.Duration{p.PackTTL, p.SwapTTL, p.ArchiveAfter, p.DeleteAfter, QuarantineAge}, func(d time.Duration) bool { return d == 0 })
	return slices.Min(ages)
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
