package follower

import (
	"context"
	"errors"
	"fmt"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Keep says which side Resolve keeps.
type Keep int

// Sides of a divergence.
const (
	KeepMine    Keep = iota // append the records that the database lacks
	KeepCluster             // set the copy aside, and follow the database
)

// Resolve ends the state Ahead or Forked of a copy. In both cases the copy is set aside, and a new
// one follows the database. KeepMine then appends the records of the old copy that the database
// lacks, with their own keys; it drops settings and other rows. Resolve returns an error if the
// copy did not diverge, the errors of the store, and those of Commit. After a failure of KeepMine the
// records are in the copy that was set aside.
func (c *Copy) Resolve(ctx context.Context, keep Keep) error {
	if s := c.State(); s != Ahead && s != Forked {
		return fmt.Errorf("cannot resolve a copy that is %s", s)
	}
	common, err := c.commonPrefix(ctx)
	if err != nil {
		return err
	}
	records, err := c.startAnew(common)
	if err != nil {
		return err
	}
	if err := c.catchUpUntil(ctx); err != nil || keep == KeepCluster {
		return err
	}

	stored, err := c.storedKeys(common)
	if err != nil {
		return err
	}
	for _, r := range records {
		if !isRecords(r.Kind) || r.Key != (arrival.Key{}) && stored[r.Key] {
			continue
		}
		if _, err := c.Commit(ctx, r); err != nil {
			return fmt.Errorf("cannot append a record of the copy that was set aside: %w", err)
		}
	}
	return nil
}

// startAnew sets the files aside and makes the copy an empty one. It returns the records of the old
// copy from an entry on.
func (c *Copy) startAnew(from uint64) ([]Request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	records, err := c.files.RecordsFrom(from)
	if err == nil {
		err = c.files.SetAside()
	}
	if err != nil {
		return nil, err
	}
	c.reset()
	c.state = Following
	return records, nil
}

// storedKeys returns the keys of records that the copy has from an entry on.
func (c *Copy) storedKeys(from uint64) (map[arrival.Key]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	records, err := c.files.RecordsFrom(from)
	keys := map[arrival.Key]bool{}
	for _, r := range records {
		keys[r.Key] = true
	}
	return keys, err
}

// commonPrefix returns how many entries the copy and the database have in common.
func (c *Copy) commonPrefix(ctx context.Context) (uint64, error) {
	at := shared.Position{}
	for {
		page, err := c.host.store.Read(ctx, c.journal, at.I)
		if err != nil {
			return 0, err
		}
		if err := c.host.store.Fence(ctx, page.Server); err != nil {
			return 0, err
		}
		if at.I == 0 {
			at = shared.Start(page.Root)
		}

		for _, e := range page.Entries {
			_, next, err := shared.Open(at, e)
			if err != nil && !errors.Is(err, shared.ErrChain) {
				return 0, err
			}
			c.mu.Lock()
			chain, known := c.files.ChainAt(next.I)
			c.mu.Unlock()
			if err != nil || !known || chain != next.Chain {
				return at.I, nil
			}
			at = next
		}
		if at.I >= page.Next {
			return at.I, nil
		}
	}
}
