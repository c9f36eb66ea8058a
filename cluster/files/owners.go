package files

import (
	"context"
	"errors"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// split returns the owner of a path of the store and the path relative to him: "agent/coder/memory/x". ok is
// false for what is no owner's.
func split(name string) (owner ctxabi.Ref, rel string, ok bool) {
	top, rest, _ := strings.Cut(name, "/")
	who, rel, _ := strings.Cut(rest, "/")
	switch top {
	case ctxabi.HomeDir:
		owner.UID, ok = ctxabi.ParseUID(who)
	case ctxabi.SharedDir:
		owner.Space, ok = who, ctxabi.ValidName(who) == nil
	}
	return owner, rel, ok
}

// inSession reports whether a path relative to an owner lies among the sessions of an agent.
func inSession(rel string) bool {
	_, below, ok := names.SplitHome(rel)
	return ok && (below == ctxabi.SessionDir || strings.HasPrefix(below, ctxabi.SessionDir+"/"))
}

// explain returns an error as the users of files see it: one of ctxabi.
func explain(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*ctxabi.Error](err); ok {
		return err
	}
	for _, known := range []struct {
		cause, kind error
		why         string
	}{
		{engine.ErrUnknown, ctxabi.ErrIO, "the cluster did not say whether it was done; look before you do it again"},
		{engine.ErrUnreachable, ctxabi.ErrUnreachable, "it was not done; wait until the cluster answers"},
		{engine.ErrBusy, ctxabi.ErrUnreachable, "it was not done; try again"},
		{context.DeadlineExceeded, ctxabi.ErrUnreachable, "it was not done; wait until the cluster answers"},
		{engine.ErrFull, ctxabi.ErrNoSpace, "it was not done; make room on the servers"},
		{engine.ErrDenied, ctxabi.ErrDenied, "this host may not write what belongs to this owner"},
		{engine.ErrGone, ctxabi.ErrIO, "the cluster has lost what hosts share; restore it"},
	} {
		if errors.Is(err, known.cause) {
			return &ctxabi.Error{Op: op, Path: name, Kind: known.kind, Why: known.why, Err: err}
		}
	}
	return err
}
