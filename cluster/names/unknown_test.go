package names

import (
	"context"
	"errors"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/fake"
)

// A name that a host had committed itself was refused as one that is taken, when a snapshot had come in between.
func TestWhatASnapshotMayHaveIsUnknown(t *testing.T) {
	c := newCluster()
	x := c.replicas[0]
	c.hosts[0].Inject(fake.LoseAck)
	x.pause = func(ctx context.Context, tries int) {
		if tries > 1 {
			return
		}
		if err := c.keeper.Checkpoint(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, err := x.Commit(t.Context(), CreateSession{"a", "s", id(1), owner}); !errors.Is(err, engine.ErrUnknown) {
		t.Errorf("the snapshot may have it, and did: %v", err)
	}
}
