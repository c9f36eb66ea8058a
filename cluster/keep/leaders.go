package keep

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/gate"
	"github.com/ctxfs/ctxfs/cluster/nats"
)

// elected looks at the replicas of all streams at once, because a leader of one was elected, and writes which
// leaders are whole.
func (k *Keeper) elected(ctx context.Context) error {
	note, err := k.engine.Meta(ctx, nats.MetaLeaders) // from before the look, so that a later look is never replaced
	if err != nil {
		return err
	}
	before, err := k.engine.Glance(ctx)
	if err != nil {
		return err
	}
	first := reported(before)
	list := judge(first, first)
	for range 3 { // entries are added, and trimmed, on one replica after the other
		if whole(list) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(secondLook / 2):
		}
		now, err := k.engine.Glance(ctx)
		if err != nil {
			return err
		}
		list = judge(first, reported(now))
		first = reported(now)
	}
	k.report = first
	return k.writeLeaders(ctx, note, list)
}

// writeLeaders writes which leaders were found whole, if that is something else than what stands there. It
// returns a conflict if somebody has written since.
func (k *Keeper) writeLeaders(ctx context.Context, note nats.Note, found gate.Leaders) error {
	var stands gate.Leaders
	if note.Seq > 0 {
		if err := json.Unmarshal(note.Data, &stands); err != nil {
			stands = nil // it is written anew
		}
	}
	if maps.Equal(stands, found) {
		return nil
	}
	data, err := json.Marshal(found)
	if err != nil {
		return err
	}
	if err := k.engine.SetMeta(ctx, nats.MetaLeaders, note.Seq, data); err != nil {
		return err
	}
	var bad []string
	for _, name := range journals() {
		if why := found[name].Why; why != "" {
			bad = append(bad, name+": "+why)
		}
	}
	sentence := ""
	if bad != nil {
		sentence = "ALARM: hosts make no first copies of journals of " + strings.Join(bad, "; ") + ". ctxfs cluster heal repairs a replica"
	}
	k.say("leaders", sentence)
	return nil
}
