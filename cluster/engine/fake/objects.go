package fake

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// objects is the store of content as one host sees it.
type objects struct{ h *Host }

// enter checks what all calls check, and locks mu if it returns no error.
func (o objects) enter(ctx context.Context, key engine.Key) error {
	if err := key.Check(); err != nil {
		return err
	}
	h := o.h
	h.s.mu.Lock()
	err := h.reach(ctx)
	if err == nil && !h.serves(key.Owner) {
		err = fmt.Errorf("%w: objects of %s", engine.ErrDenied, key.Owner)
	}
	if err != nil {
		h.s.mu.Unlock()
	}
	return err
}

func (o objects) Put(ctx context.Context, key engine.Key, data []byte) error {
	if len(data) > engine.MaxObject {
		return engine.ErrTooLarge
	}
	if err := o.enter(ctx, key); err != nil {
		return err
	}
	defer o.h.s.mu.Unlock()
	old, ok := o.h.s.objects[key]
	switch {
	case ok && !bytes.Equal(old, data):
		return fmt.Errorf("%w: %s", engine.ErrDiffers, key.Name)
	case !ok && o.h.s.full:
		return engine.ErrFull
	case !ok:
		o.h.s.objects[key] = bytes.Clone(data)
	}
	return nil
}

func (o objects) Get(ctx context.Context, key engine.Key, off, n int64) ([]byte, error) {
	if off < 0 {
		return nil, fmt.Errorf("%w: offset %d", engine.ErrInvalid, off)
	}
	if err := o.enter(ctx, key); err != nil {
		return nil, err
	}
	defer o.h.s.mu.Unlock()
	data, ok := o.h.s.objects[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", engine.ErrNotFound, key.Name)
	}
	data = data[min(off, int64(len(data))):]
	if n >= 0 {
		data = data[:min(n, int64(len(data)))]
	}
	return bytes.Clone(data), nil
}

func (o objects) Stat(ctx context.Context, key engine.Key) (engine.ObjectInfo, error) {
	if err := o.enter(ctx, key); err != nil {
		return engine.ObjectInfo{}, err
	}
	defer o.h.s.mu.Unlock()
	data, ok := o.h.s.objects[key]
	if !ok {
		return engine.ObjectInfo{}, fmt.Errorf("%w: %s", engine.ErrNotFound, key.Name)
	}
	return engine.InfoOf(data), nil
}

func (o objects) List(ctx context.Context, owner, prefix string) (names []string, err error) {
	if err := o.enter(ctx, engine.Key{Owner: owner, Name: "x"}); err != nil {
		return nil, err
	}
	defer o.h.s.mu.Unlock()
	for key := range o.h.s.objects {
		if key.Owner == owner && strings.HasPrefix(key.Name, prefix) {
			names = append(names, key.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (o objects) Delete(ctx context.Context, key engine.Key) error {
	if err := o.enter(ctx, key); err != nil {
		return err
	}
	defer o.h.s.mu.Unlock()
	if !o.h.maintains {
		return fmt.Errorf("%w: to delete objects", engine.ErrDenied)
	}
	delete(o.h.s.objects, key)
	return nil
}
