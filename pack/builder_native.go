package pack

import (
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// Native gives a rendering of build, which is one of x.
func (b *Builder) Native(x *session.Session, build *Build, f native.Format) ([]byte, error) {
	before := build.Size()
	e := b.entry(x.ID())
	data, err := build.Native(f, func() (record.Records, record.Records, error) {
		t, err := e.timeline(x)
		if err != nil {
			return nil, nil, err
		}
		return e.readable(t, false), e.readable(t, true), nil
	})
	if grown := build.Size() - before; grown > 0 {
		b.grow(x.ID(), grown)
	}
	if err != nil {
		report(x, err)
	}
	return data, err
}
