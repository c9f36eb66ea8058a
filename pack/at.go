package pack

import (
	"context"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/tokens"
)

// maxPast is how many builds of earlier moments are remembered of a session.
const maxPast = 4

// At gives the pack of the session's first n messages, and of the events that had arrived before the next one,
// with everything else as it is now: the files and outputs of the current build. With all
// messages it is the current build. It fails as [Builder.Current] does, and with ctxabi.ErrNotFound when there are not so many.
func (b *Builder) At(ctx context.Context, x *session.Session, n int) (*Build, error) {
	now, err := b.Current(ctx, x)
	if err != nil {
		return nil, err
	}
	t, err := x.Timeline()
	if err != nil {
		return nil, err
	}
	switch all := t.Messages.Len(); {
	case n < 0 || n > all:
		return nil, ctxabi.E("read", ctxabi.AtDir, ctxabi.ErrNotFound, "there are %d messages, not %d", all, n)
	case n == all:
		return now, nil
	}
	t = t.Prefix(n)
	e := b.entry(x.ID())
	select {
	case e.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	in := e.made
	<-e.busy
	if in.Recipe == nil { // forgotten meanwhile
		return b.At(ctx, x, n)
	}
	in.Files = slices.Clone(in.Files)
	for at := range in.Recipe.Sources {
		s := &in.Recipe.Sources[at]
		if s.Type.Computed() && !slices.ContainsFunc(in.Files, func(f File) bool { return f.At == at }) {
			in.Files = append(in.Files, File{At: at, ID: s.Block, Path: s.Block, Pending: true})
		}
	}
	in.EpochReason, in.Messages, in.Tools, in.Events, in.EventsHead = "", t.Messages, nil, nil, ""
	if in.Head, err = x.Messages().HeadAt(t.Messages.Size()); err != nil {
		return nil, err
	}
	if k := len(t.Tools); k > 0 {
		last := t.Events.At(int(t.Tools[k-1].Line))
		in.Tools, in.Events = t.Tools, t.Events
		if in.EventsHead, err = x.Events().HeadAt(last.Offset + int64(last.Len) + 1); err != nil {
			return nil, err
		}
	}
	if in.Errors, err = (&failures{}).newest(in.Recipe, t.Events); err != nil {
		return nil, err
	}
	c, err := tokens.For(in.Encoding)
	if err != nil {
		return nil, err
	}
	return e.pastBuild(in.id(c.Encoding()), func() (*Build, error) {
		mm := newMemo()
		b.persistCounts(mm, x, t, c.Encoding())
		return compile(&in, mm)
	})
}

// pastBuild gives the build of an earlier moment that has the id, made by make where it is not remembered.
func (e *entry) pastBuild(id string, make func() (*Build, error)) (*Build, error) {
	e.pastMu.Lock()
	defer e.pastMu.Unlock()
	at := slices.IndexFunc(e.past, func(b *Build) bool { return b.ID == id })
	if at < 0 {
		build, err := make()
		if err != nil {
			return nil, err
		}
		at = len(e.past)
		e.past = append(e.past, build)
	}
	build := e.past[at]
	e.past = append(slices.Delete(e.past, at, at+1), build)
	if len(e.past) > maxPast {
		e.past = slices.Delete(e.past, 0, 1)
	}
	return build, nil
}

// pastSize is how many bytes the builds of earlier moments take.
func (e *entry) pastSize() (n int) {
	e.pastMu.Lock()
	defer e.pastMu.Unlock()
	for _, b := range e.past {
		n += b.Size()
	}
	return n
}
