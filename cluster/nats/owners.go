package nats

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// Owners returns the owners that have a journal, in order: for a host of some owners, these. It returns
// ErrGone without a store, ErrDenied and ErrUnreachable.
func (e *Engine) Owners(ctx context.Context) (list []string, err error) {
	if e.restricted() {
		return slices.Sorted(slices.Values(e.opts.Owners)), nil
	}
	all, err := e.subjects(ctx, owners, prefix+"t.*")
	for subject := range all {
		list = append(list, strings.TrimPrefix(subject, prefix+"t."))
	}
	slices.Sort(list)
	return list, err
}

// Journals returns the journals of a shard that have entries, and how many. It is for hosts of all owners, and
// returns ErrInvalid if there is no such shard, ErrGone without a store, ErrDenied and ErrUnreachable.
func (e *Engine) Journals(ctx context.Context, shard int) (map[engine.Subject]uint64, error) {
	if err := engine.CheckShard(shard); err != nil {
		return nil, err
	}
	all, err := e.subjects(ctx, stream(shard), ">")
	list := map[engine.Subject]uint64{}
	for name, n := range all {
		s := engine.Subject{Owner: strings.TrimPrefix(name, prefix+"t.")}
		if shard != engine.OwnerShard {
			rest, _ := strings.CutPrefix(name, fmt.Sprintf("%sj.%02x.", prefix, shard))
			s.Owner, s.Session, _ = strings.Cut(rest, ".")
		}
		if s.Check() == nil {
			list[s] = n
		}
	}
	return list, err
}

// subjects returns the subjects of a stream that match a pattern and have messages, and how many.
func (e *Engine) subjects(ctx context.Context, stream, pattern string) (map[string]uint64, error) {
	all := map[string]uint64{}
	for total, seen := 1, 0; seen < total; {
		var info struct {
			Total int `json:"total"`
			State struct {
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		failed, err := e.api(ctx, "STREAM.INFO."+stream, map[string]any{"subjects_filter": pattern, "offset": seen}, &info)
		if err == nil {
			err = failed.asError(stream)
		}
		if err != nil {
			return nil, readable(err)
		}
		maps.Copy(all, info.State.Subjects)
		if seen += len(info.State.Subjects); len(info.State.Subjects) == 0 {
			break
		}
		total = info.Total
	}
	return all, nil
}
