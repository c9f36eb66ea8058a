package tend

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
)

// checkpointEntries is how many entries the journal of an owner has before it is checkpointed.
const checkpointEntries = 500

// namesPrefix begins the names of the states of owners among the objects.
const namesPrefix = "s/names/"

// checkpoints checkpoints the journals of owners that have become long.
func (t *Tender) checkpoints(ctx context.Context) error {
	all, err := t.o.Engine.Journals(ctx, engine.OwnerShard)
	if err != nil {
		return err
	}
	return t.each(ctx, inOrder(all), "checkpoint", func(s engine.Subject) error {
		if all[s] < checkpointEntries {
			return nil
		}
		if !t.o.DryRun {
			err := names.NewReplica(t.o.Engine, t.o.Host, s, names.Options{}).Checkpoint(ctx)
			if errors.Is(err, engine.ErrBusy) {
				return nil // the next time
			}
			if err != nil {
				return err
			}
		}
		t.did(&t.r.Checkpoints, "the journal of %s is trimmed to its state", s)
		if t.o.DryRun {
			return nil
		}
		return t.oldStates(ctx, s.Owner)
	})
}

// oldStates removes the states of an owner but the last two: who was about to read an older one reads
// the journal again.
func (t *Tender) oldStates(ctx context.Context, owner string) error {
	list, err := t.o.Engine.Objects().List(ctx, owner, namesPrefix)
	if err != nil {
		return err
	}
	number := func(name string) uint64 {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, namesPrefix), "-")
		n, _ := strconv.ParseUint(digits, 10, 64)
		return n
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
	for _, name := range list[min(2, len(list)):] {
		if err := t.o.Engine.Objects().Delete(ctx, engine.Key{Owner: owner, Name: name}); err != nil {
			return err
		}
	}
	return nil
}
