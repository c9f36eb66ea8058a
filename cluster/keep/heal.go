package keep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/member"
)

const (
	maxTries = 3                // how often a replica is made anew before an operator has to look
	healTime = 10 * time.Minute // how long a replica may take to catch up; also how long a dead healer is respected
	restTime = time.Minute      // how long the two others may take to agree once the server is stopped
)

// heal repairs the replicas of this machine's server, if they lack what the two others have.
func (k *Keeper) heal(ctx context.Context) error {
	if k.Pause == nil {
		return nil
	}
	h, seq, err := Healings(ctx, k.engine)
	if err != nil {
		return err
	}
	if seq != k.healSeq {
		k.healSeq, k.healAt = seq, time.Now()
	}
	me := k.Machine.Name
	if h.Server != "" && h.Server != me {
		if time.Since(k.healAt) < healTime {
			return nil
		}
		k.Log("the keeper of " + h.Server + " has not finished a repair; another one may begin")
		h.Server, h.Streams = "", nil
		return unlessConflict(SetHealing(ctx, k.engine, seq, h))
	}
	mine := asked(h.Asked, me)
	if h.Server == "" && len(mine) == 0 && !k.suspected() {
		return nil
	}
	_, before, now, err := twice(ctx, k.engine)
	if err != nil {
		return err
	}
	found := k.watch.damaged(before, now, me)
	if h.Server == me {
		return k.finish(ctx, h, seq, before, now)
	}
	for stream, why := range mine {
		found[stream] = why
	}
	for stream := range found {
		if n := h.Tries[me+"/"+stream]; n >= maxTries {
			k.say("heal "+stream, fmt.Sprintf("ALARM: %s of %s was made anew %d times in vain; see the log of the server, then ctxfs cluster heal, or replace the machine", stream, me, n))
			delete(found, stream)
		} else if why := disagree(before, now, stream, me); why != "" {
			k.say("heal "+stream, fmt.Sprintf("ALARM: %s of %s: %s; nothing is changed, because %s. Start servers that do not run; if two replicas are damaged, ctxfs cluster restore", stream, me, found[stream], why))
			delete(found, stream)
		}
	}
	if len(found) == 0 {
		return nil
	}
	h.Server, h.Streams = me, slices.Sorted(maps.Keys(found))
	if err := SetHealing(ctx, k.engine, seq, h); err != nil {
		return unlessConflict(err) // somebody else is at it
	}
	for _, stream := range h.Streams {
		k.say("heal "+stream, fmt.Sprintf("%s of %s is made anew: %s", stream, me, found[stream]))
	}
	return k.mend(ctx, h, now)
}

// asked returns which replicas of a server are to be made anew, and why.
func asked(list []Ask, server string) map[string]string {
	found := map[string]string{}
	for _, a := range list {
		if a.Server == server {
			found[a.Stream] = a.Why
		}
	}
	return found
}

// suspected reports whether the last report, or an earlier look, found something with the machine's replicas.
func (k *Keeper) suspected() bool {
	if len(k.watch) > 0 {
		return true
	}
	for _, s := range k.report {
		if why, _ := differs(s, s, k.Machine.Name); why != "" {
			return true
		}
	}
	return false
}

// mend stops the server, sets aside what it has of streams, and starts it. When the two others do not agree
// without it, it sets nothing aside.
func (k *Keeper) mend(ctx context.Context, h Healing, now []Stream) error {
	me := k.Machine.Name
	settings, err := member.ReadServer(k.Machine.ServerFile())
	if err != nil {
		return err
	}
	var groups []string
	for _, s := range now {
		if !slices.Contains(h.Streams, s.Name) {
			continue
		}
		groups = append(groups, s.group)
		if s.Leader == me {
			if err := k.handOver(ctx, s.Name); err != nil {
				return k.abandon(ctx, err)
			}
		}
	}
	k.Log("the server is stopped, to make replicas anew")
	err = k.Pause(func() error {
		if err := k.rest(ctx, h.Streams); err != nil {
			return err
		}
		for i, stream := range h.Streams {
			to, err := setAside(settings.Store, stream, groups[i])
			if err != nil {
				return err
			}
			k.Log(fmt.Sprintf("what the server had of %s is in %s; remove it when you need the room", stream, to))
		}
		return nil
	})
	if err != nil {
		return k.abandon(ctx, err)
	}
	k.Log("the server is started, and catches up")
	k.mending = true
	return nil
}

// handOver makes another server lead a stream.
func (k *Keeper) handOver(ctx context.Context, stream string) error {
	for end := time.Now().Add(restTime); time.Now().Before(end); {
		if err := k.engine.StepDown(ctx, stream, ""); err != nil && !errors.Is(err, engine.ErrUnknown) {
			return err
		}
		s, err := k.engine.Glance(ctx)
		if err != nil {
			return err
		}
		for _, x := range s.Streams {
			if x.Name == stream && x.Leader != "" && x.Leader != k.Machine.Name {
				return nil
			}
		}
		if !wait(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%w: no other server leads %s", engine.ErrUnreachable, stream)
}

// rest waits until the two other servers have the same of streams, and one of them leads: then nothing that
// was acknowledged is on the stopped one alone.
func (k *Keeper) rest(ctx context.Context, streams []string) error {
	var why string
	for end := time.Now().Add(restTime); time.Now().Before(end); {
		_, before, now, err := twice(ctx, k.engine)
		if err == nil {
			why = ""
			for _, stream := range streams {
				for _, s := range now {
					if s.Name == stream && (s.Leader == "" || s.Leader == k.Machine.Name) {
						why = "nobody leads " + stream
					}
				}
				if w := disagree(before, now, stream, k.Machine.Name); w != "" {
					why = w
				}
			}
			if why == "" {
				return nil
			}
		}
		if !wait(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%w: nothing is set aside, because %s", engine.ErrUnreachable, why)
}

// finish looks whether the replicas that were made anew are whole.
func (k *Keeper) finish(ctx context.Context, h Healing, seq uint64, before, now []Stream) error {
	if !k.mending { // an earlier process began it
		h.Server, h.Streams = "", nil
		return unlessConflict(SetHealing(ctx, k.engine, seq, h))
	}
	var left []string
	for i, s := range now {
		if slices.Contains(h.Streams, s.Name) {
			if why, _ := differs(before[i], s, k.Machine.Name); why != "" || len(s.Problems) > 0 {
				left = append(left, s.Name)
			}
		}
	}
	if len(left) > 0 && time.Since(k.healAt) < healTime {
		return nil // it catches up
	}
	for _, stream := range h.Streams {
		key := k.Machine.Name + "/" + stream
		if slices.Contains(left, stream) {
			h.Tries[key]++
			continue
		}
		delete(h.Tries, key)
		h.Asked = slices.DeleteFunc(h.Asked, func(a Ask) bool { return a.Server == k.Machine.Name && a.Stream == stream })
		k.say("heal "+stream, fmt.Sprintf("%s of %s is whole again", stream, k.Machine.Name))
	}
	whole := slices.DeleteFunc(slices.Clone(h.Streams), func(s string) bool { return slices.Contains(left, s) })
	if err := repaired(ctx, k.engine, k.Machine.Name, whole); err != nil {
		return err
	}
	if len(left) > 0 {
		k.Log(fmt.Sprintf("%s did not become whole in %v", strings.Join(left, ", "), healTime))
	}
	h.Server, h.Streams = "", nil
	k.mending = false
	clear(k.watch)
	return unlessConflict(SetHealing(ctx, k.engine, seq, h))
}

// abandon ends a repair that did not succeed, for the reason cause, which it returns.
func (k *Keeper) abandon(ctx context.Context, cause error) error {
	h, seq, err := Healings(ctx, k.engine)
	if err == nil && h.Server == k.Machine.Name {
		for _, stream := range h.Streams {
			h.Tries[h.Server+"/"+stream]++
		}
		h.Server, h.Streams = "", nil
		err = SetHealing(ctx, k.engine, seq, h)
	}
	return errors.Join(fmt.Errorf("the repair of a replica: %w", cause), unlessConflict(err))
}
