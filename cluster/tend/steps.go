package tend

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
)

// inOrder returns journals in the order of their names.
func inOrder[V any](all map[engine.Subject]V) []engine.Subject {
	return slices.SortedFunc(maps.Keys(all), func(a, b engine.Subject) int { return cmp.Compare(a.String(), b.String()) })
}

// each calls do for journals, one after the other, and returns the first error. It goes on behind one.
func (t *Tender) each(ctx context.Context, list []engine.Subject, what string, do func(s engine.Subject) error) (failed error) {
	for _, s := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(s); err != nil {
			err = fmt.Errorf("%s %s: %w", what, s, err)
			if said := err.Error(); t.said[what+s.String()] != said {
				t.said[what+s.String()] = said
				t.o.Log(said)
			}
			failed = cmp.Or(failed, err)
		}
	}
	return failed
}

// did notes what was done, or would be.
func (t *Tender) did(count *int, format string, args ...any) {
	*count++
	line := fmt.Sprintf(format, args...)
	t.r.Did = append(t.r.Did, line)
	if !t.o.DryRun {
		t.o.Log(line)
	}
}

// store returns the objects of an owner.
func (t *Tender) store(owner string) *bulk.Store { return bulk.NewStore(t.o.Engine.Objects(), owner) }

// state returns the names of an owner, read to the end of his journal.
func (t *Tender) state(ctx context.Context, owner string, look func(s *names.State)) error {
	r := t.shelf.owner(engine.Subject{Owner: owner})
	if err := r.CatchUp(ctx); err != nil {
		return err
	}
	r.View(look)
	return nil
}
