package nats

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Keys of CTX_META beside the statement. Every host can read them, and the maintenance user writes them.
const (
	MetaUsers   = "users"   // who may connect
	MetaAttest  = "attest"  // what the last look at all replicas found
	MetaHeal    = "heal"    // which replicas are repaired
	MetaLeaders = "leaders" // which leaders were found whole: see package gate
	MetaScrub   = "scrub"   // what the last scrub found
	MetaUnsafe  = "unsafe"  // what the cluster ran without, once
)

// Note is what lies under a key of CTX_META.
type Note struct {
	Data []byte
	Seq  uint64 // 0 if there is nothing
}

// Meta returns what lies under a key of CTX_META. It returns ErrDenied or ErrUnreachable, and ErrInvalid
// for a key with other bytes than those of a name.
func (e *Engine) Meta(ctx context.Context, key string) (Note, error) {
	p, err := metaPlace(key)
	if err != nil {
		return Note{}, err
	}
	m, found, err := e.lastOf(ctx, p)
	if err != nil || !found {
		return Note{}, err
	}
	if m.ID == "" {
		return Note{}, fmt.Errorf("%w: %s is not from the maintenance user", engine.ErrUnreachable, key)
	}
	return Note{m.Payload, m.Seq}, nil
}

// SetMeta writes what lies under a key of CTX_META, if what was there has the sequence after. It returns
// *Conflict if not, and the errors of engine.Engine's Append. It is for the maintenance user.
func (e *Engine) SetMeta(ctx context.Context, key string, after uint64, data []byte) error {
	p, err := metaPlace(key)
	if err != nil {
		return err
	}
	_, err = e.store(ctx, p, after, engine.Entry{ID: key + "-" + rand.Text(), Payload: data})
	return err
}

func metaPlace(key string) (place, error) {
	if key == "" || strings.Trim(key, hostBytes) != "" || "$KV."+metaBucket+"."+key == statementKey {
		return place{}, fmt.Errorf("%w: key %q", engine.ErrInvalid, key)
	}
	return place{"KV_" + metaBucket, "$KV." + metaBucket + "." + key}, nil
}

// Hosts returns the names of the hosts that live. It is for the maintenance user, and returns ErrDenied
// for others, ErrGone without a store, and ErrUnreachable.
func (e *Engine) Hosts(ctx context.Context) (list []string, err error) {
	var info struct {
		State struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	key := "$KV." + hostsBucket + "."
	failed, err := e.api(ctx, "STREAM.INFO.KV_"+hostsBucket, map[string]any{"subjects_filter": key + ">"}, &info)
	if err == nil {
		err = failed.asError(hostsBucket)
	}
	for subject := range info.State.Subjects {
		list = append(list, strings.TrimPrefix(subject, key))
	}
	slices.Sort(list)
	return list, readable(err)
}
