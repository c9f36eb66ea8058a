package builder

import (
	"context"

	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// Native returns a rendering of build, which is one of x.
// It returns an error as [pack.Build.Native] does, which stands in errors.jsonl, too.
func (b *Builder) Native(x *session.Session, build *pack.Build, f native.Format) ([]byte, error) {
	return b.render(x, build, func(logs native.Logs) ([]byte, error) { return build.Native(f, logs) })
}

// render returns what made renders of build with both logs.
func (b *Builder) render(x *session.Session, build *pack.Build,
	made func(native.Logs) ([]byte, error)) ([]byte, error) {
	before := build.Size()
	e := b.entry(x.ID())
	data, err := made(func() (record.Records, record.Records, error) {
		t, err := e.Timeline(context.Background(), x)
		if err != nil {
			return nil, nil, err
		}
		return e.Readable(t, false), e.Readable(t, true), nil
	})
	if grown := build.Size() - before; grown > 0 {
		b.grow(x.ID(), grown)
	}
	if err != nil {
		report(x, err)
	}
	return data, err
}
