package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/member"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// remembered is what a machine knows of the store that it has seen.
type remembered struct {
	Store string `json:"store"`
}

// store sees to it that there is the store of this cluster. It makes one if the machine is to, and has
// never seen one; it returns ErrGone if the one that it has seen is not there, and never makes another.
func (k *Keeper) store(ctx context.Context) error {
	var mine remembered
	data, err := os.ReadFile(k.Machine.StoreFile())
	if err == nil {
		err = json.Unmarshal(data, &mine)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s: %w", member.ErrConfig, k.Machine.StoreFile(), err)
	}
	if mine.Store == "" {
		if err := k.make(ctx); err != nil {
			return err
		}
	}
	s, err := k.engine.Statement(ctx)
	if err != nil {
		return err
	}
	switch mine.Store {
	case s.Store:
		return nil
	case "":
		k.Log("the store of the cluster is " + s.Store)
		return member.WriteJSON(k.Machine.StoreFile(), remembered{s.Store})
	}
	return fmt.Errorf("%w: the cluster has the store %s, and this machine has seen %s", engine.ErrGone, s.Store, mine.Store)
}

// make makes the streams if there are none, as soon as all servers answer. It returns ErrUnreachable until
// then, and on machines that are to wait for another one.
func (k *Keeper) make(ctx context.Context) error {
	survey, err := k.engine.Survey(ctx)
	if err != nil {
		return err
	}
	whole := true // all streams have replicas, so that there may be a statement
	for _, s := range survey.Streams {
		whole = whole && len(s.Replicas) > 0
	}
	if whole {
		if _, err := k.engine.Statement(ctx); !errors.Is(err, engine.ErrGone) {
			return err
		}
	}
	if !k.Machine.Makes {
		return fmt.Errorf("%w: the machine where the cluster was made makes its streams, and has not yet", engine.ErrUnreachable)
	}
	if n := len(survey.Servers); n < len(k.Machine.Servers) {
		return fmt.Errorf("%w: %d of %d servers answer; all are needed to make the streams", engine.ErrUnreachable, n, len(k.Machine.Servers))
	}
	o, err := k.Machine.Maintenance()
	if err != nil {
		return err
	}
	o.Timeout, o.Unsafe = makeTimeout, k.Unsafe
	ctx, cancel := context.WithTimeout(ctx, makeTimeout)
	defer cancel()
	if _, err := nats.Create(ctx, o, nats.Share{}); err != nil {
		return fmt.Errorf("the streams of the cluster: %w", err)
	}
	k.Log("the streams of the cluster are made")
	return nil
}
