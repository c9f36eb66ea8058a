package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/cluster/servers"
)

// All three servers lose a piece of an object, its first one or another. Nobody is shown other bytes, and who has the
// content and stores it again makes the object whole for all. Other content under the name is refused.
func TestWhoStoresADamagedObjectAgainMakesItWhole(t *testing.T) {
	suite.Matrix(t, slow)
	t.Parallel()
	for _, at := range []float64{0.1, 0.99} {
		c := servers.Start(t)
		data := make([]byte, 3<<20)
		rand.Read(data)
		name := bulk.BlobName(sha256.Sum256(data))
		if err := bulk.NewStore(c.Open(t, "a").Objects(), "u1000").Put(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
		loseObject(t, c, at)
		b := bulk.NewStore(c.Open(t, "b").Objects(), "u1000")
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // it would wait for a replica that is behind
		got, err := b.Get(ctx, name, int64(len(data)))
		cancel()
		if err == nil || got != nil {
			t.Fatalf("a damaged object is read: %d bytes, %v", len(got), err)
		}
		t.Logf("damaged at %v: %v", at, err)
		other := slices.Clone(data)
		other[len(other)-1] ^= 1
		if err := b.Put(t.Context(), name, other); err == nil {
			t.Error("other content is stored under the name")
		}
		await(t, "the object is stored anew", func() bool {
			err := b.Put(t.Context(), name, data)
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
		for _, host := range []string{"a", "c"} {
			got, err := bulk.NewStore(c.Open(t, host).Objects(), "u1000").Get(t.Context(), name, int64(len(data)))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("host %s reads %d bytes of it: %v", host, len(got), err)
			}
		}
	}
}

// loseObject changes a bit of what all servers have of objects, at a place of the largest file, while they are stopped.
func loseObject(t *testing.T, c *servers.Cluster, at float64) {
	t.Helper()
	c.Shut(0, 1, 2)
	for i := range 3 {
		file, err := largest(filepath.Join(c.Store(i), "jetstream", "CTX", "streams", "CTXO"), "*.blk")
		if err == nil {
			err = flip(at)(file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Restart(t, 0, 1, 2)
}
