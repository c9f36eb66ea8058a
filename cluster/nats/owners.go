package nats

import (
	"context"
	"slices"
	"strings"
)

// Owners returns the owners that have a journal, in order: for a host of some owners, these. It returns
// ErrGone without a store, ErrDenied and ErrUnreachable.
func (e *Engine) Owners(ctx context.Context) (list []string, err error) {
	if e.restricted() {
		return slices.Sorted(slices.Values(e.opts.Owners)), nil
	}
	for total := 1; len(list) < total; {
		var info struct {
			Total int `json:"total"`
			State struct {
				Subjects map[string]uint64 `json:"subjects"`
			} `json:"state"`
		}
		failed, err := e.api(ctx, "STREAM.INFO."+owners, map[string]any{"subjects_filter": prefix + "t.*", "offset": len(list)}, &info)
		if err == nil {
			err = failed.asError(owners)
		}
		if err != nil {
			return nil, readable(err)
		}
		for subject := range info.State.Subjects {
			list = append(list, strings.TrimPrefix(subject, prefix+"t."))
		}
		if total = info.Total; len(info.State.Subjects) == 0 {
			break
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
