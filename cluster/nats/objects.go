package nats

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// partSize is how long the parts of an object are, but the last.
const partSize = engine.MaxPayload

// Headers of the first part of an object, which is stored last: with it, the object is there.
const (
	sizeHeader = "Ctx-Size"
	shaHeader  = "Ctx-Sha256"
)

// Objects returns the store of content.
func (e *Engine) Objects() engine.Objects { return objectStore{e} }

type objectStore struct{ e *Engine }

// partPlace returns where the n-th part of an object lies.
func partPlace(key engine.Key, n int) place {
	return place{objects, objectSubject(key, strconv.Itoa(n))}
}

// parts returns how many parts an object of some bytes has.
func parts(size int64) int { return max(1, int((size+partSize-1)/partSize)) }

// partOf returns the n-th part of an object.
func partOf(data []byte, n int) []byte {
	return data[min(len(data), n*partSize):min(len(data), (n+1)*partSize)]
}

// Put implements [engine.Objects] and returns the errors documented there.
func (o objectStore) Put(ctx context.Context, key engine.Key, data []byte) error {
	if err := key.Check(); err != nil {
		return err
	}
	if len(data) > engine.MaxObject {
		return fmt.Errorf("%w: %s of %d bytes", engine.ErrTooLarge, key.Name, len(data))
	}
	want := engine.InfoOf(data)
	if is, _, err := o.head(ctx, key); err == nil {
		if is != want {
			return fmt.Errorf("%w: %s", engine.ErrDiffers, key.Name)
		}
		return o.complete(ctx, key, data)
	} else if !errors.Is(err, engine.ErrNotFound) {
		return err
	}
	for n := parts(want.Size) - 1; n > 0; n-- {
		if err := o.putPart(ctx, key, n, nil, partOf(data, n)); err != nil {
			return err
		}
	}
	for n := parts(want.Size) - 1; n > 0; n-- { // before it is named
		if err := o.comparePart(ctx, key, n, partOf(data, n)); err != nil {
			return err
		}
	}
	header := engine.Header{sizeHeader: strconv.FormatInt(want.Size, 10), shaHeader: hex.EncodeToString(want.SHA[:])}
	if err := o.putPart(ctx, key, 0, header, partOf(data, 0)); err != nil {
		return err
	}
	return o.comparePart(ctx, key, 0, partOf(data, 0))
}

// complete compares an object that is there with data, which has its hash, and stores the parts that the servers have
// lost. What they can read is never replaced.
func (o objectStore) complete(ctx context.Context, key engine.Key, data []byte) error {
	for n := range parts(int64(len(data))) {
		_, found, err := o.e.lastOf(ctx, partPlace(key, n))
		if err == nil && !found && n > 0 { // the first part was read just now
			err = o.putPart(ctx, key, n, nil, partOf(data, n))
		}
		if err == nil {
			err = o.comparePart(ctx, key, n, partOf(data, n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putPart stores a part, or compares it with the one that is there.
func (o objectStore) putPart(ctx context.Context, key engine.Key, n int, header engine.Header, data []byte) error {
	for {
		_, err := o.e.store(ctx, partPlace(key, n), 0, engine.Entry{ID: "o-" + rand.Text(), Header: header, Payload: data})
		if _, ok := errors.AsType[*engine.Conflict](err); ok {
			m, err := o.part(ctx, key, n)
			if err == nil && (!bytes.Equal(m.Payload, data) || header != nil && header[shaHeader] != m.Header[shaHeader]) {
				err = fmt.Errorf("%w: part %d of %s", engine.ErrDiffers, n, key.Name)
			}
			return err
		}
		if !errors.Is(err, engine.ErrBusy) {
			return err
		}
		if !o.e.pause(ctx) {
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, ctx.Err())
		}
	}
}

// comparePart reads a part back.
func (o objectStore) comparePart(ctx context.Context, key engine.Key, n int, want []byte) error {
	m, err := o.part(ctx, key, n)
	if err == nil && !bytes.Equal(m.Payload, want) {
		err = fmt.Errorf("%w: part %d of %s", engine.ErrDiffers, n, key.Name)
	}
	return err
}

// part reads a part that is known to be there, though a replica may not have it yet. It returns
// ErrUnreachable if none has it within the time limit.
func (o objectStore) part(ctx context.Context, key engine.Key, n int) (message, error) {
	ctx, cancel := context.WithTimeout(ctx, o.e.opts.Timeout)
	defer cancel()
	for {
		m, found, err := o.e.lastOf(ctx, partPlace(key, n))
		if err == nil && found && m.ID == "" {
			err = fmt.Errorf("%w: part %d of %s was not stored by a host of ours", engine.ErrDiffers, n, key.Name)
		}
		if err != nil || found {
			return m, err
		}
		if !o.e.pause(ctx) {
			return m, fmt.Errorf("%w: part %d of %s is not there", engine.ErrUnreachable, n, key.Name)
		}
	}
}

// head reads the first part of an object, and from its header the size and hash of the whole. It returns
// ErrNotFound if there is no object.
func (o objectStore) head(ctx context.Context, key engine.Key) (info engine.ObjectInfo, first []byte, err error) {
	p := partPlace(key, 0)
	m, found, err := o.e.lastOf(ctx, p)
	if err == nil && !found && !o.e.restricted() { // the replica may be behind
		m, found, err = o.e.ask(ctx, p.stream, map[string]any{"last_by_subj": p.subject})
	}
	for range 3 {
		if err != nil || found || !o.e.restricted() || !o.e.pause(ctx) {
			break
		}
		m, found, err = o.e.lastOf(ctx, p)
	}
	if err != nil {
		return info, nil, err
	}
	if !found {
		return info, nil, fmt.Errorf("%w: %s", engine.ErrNotFound, key.Name)
	}
	if m.ID == "" {
		return info, nil, fmt.Errorf("%w: %s was not stored by a host of ours", engine.ErrDiffers, key.Name)
	}
	sum, bad := hex.DecodeString(m.Header[shaHeader])
	info.Size, err = strconv.ParseInt(m.Header[sizeHeader], 10, 64)
	if bad != nil || err != nil || copy(info.SHA[:], sum) != len(info.SHA) || info.Size < 0 || info.Size > engine.MaxObject || int64(len(m.Payload)) != min(info.Size, partSize) {
		return info, nil, fmt.Errorf("%w: the first part of %s", engine.ErrDiffers, key.Name)
	}
	return info, m.Payload, nil
}

// Stat implements [engine.Objects] and returns the errors documented there.
func (o objectStore) Stat(ctx context.Context, key engine.Key) (engine.ObjectInfo, error) {
	if err := key.Check(); err != nil {
		return engine.ObjectInfo{}, err
	}
	info, _, err := o.head(ctx, key)
	return info, err
}

// Get implements [engine.Objects] and returns the errors documented there.
func (o objectStore) Get(ctx context.Context, key engine.Key, off, n int64) ([]byte, error) {
	if off < 0 {
		return nil, fmt.Errorf("%w: offset %d", engine.ErrInvalid, off)
	}
	if err := key.Check(); err != nil {
		return nil, err
	}
	if data, ok := o.within(ctx, key, off, n); ok {
		return data, nil
	}
	info, first, err := o.head(ctx, key)
	if err != nil {
		return nil, err
	}
	from, to := min(off, info.Size), info.Size
	if n >= 0 {
		to = min(info.Size, from+min(n, info.Size))
	}
	data := make([]byte, 0, to-from)
	for k := int(from / partSize); int64(k)*partSize < to; k++ {
		part := first
		if k > 0 {
			m, err := o.part(ctx, key, k)
			if err != nil {
				return nil, err
			}
			part = m.Payload
		}
		start := int64(k) * partSize
		if int64(len(part)) != min(partSize, info.Size-start) {
			return nil, fmt.Errorf("%w: part %d of %s has %d bytes", engine.ErrDiffers, k, key.Name, len(part))
		}
		data = append(data, part[max(0, from-start):min(int64(len(part)), to-start)]...)
	}
	if from == 0 && to == info.Size && engine.InfoOf(data) != info {
		return nil, fmt.Errorf("%w: %s", engine.ErrDiffers, key.Name)
	}
	return data, nil
}

// within returns n bytes of an object from off on, where these lie behind its first part and one replica has all of
// them: the first part, which would tell how long the object is, need not be sent then. ok is false where Get has to
// look at it.
func (o objectStore) within(ctx context.Context, key engine.Key, off, n int64) (data []byte, ok bool) {
	if off < partSize || n <= 0 || n > engine.MaxObject {
		return nil, false
	}
	data = make([]byte, 0, n)
	for start := off / partSize * partSize; start < off+n; start += partSize {
		m, found, err := o.e.lastOf(ctx, partPlace(key, int(start/partSize)))
		to := min(off+n-start, partSize)
		if err != nil || !found || m.ID == "" || int64(len(m.Payload)) < to {
			return nil, false
		}
		data = append(data, m.Payload[max(0, off-start):to]...)
	}
	return data, true
}

// List implements [engine.Objects] and returns the errors documented there.
func (o objectStore) List(ctx context.Context, owner, prefix string) (names []string, err error) {
	if err := (engine.Key{Owner: owner, Name: "x"}).Check(); err != nil {
		return nil, err
	}
	for from := uint64(1); ; {
		list, err := o.e.pull(ctx, objects, "ctx.v1.o."+owner+".*.0", engine.Range{From: from, Count: engine.MaxCount, Bytes: engine.MaxBytes}, true)
		if err != nil {
			return nil, readable(err)
		}
		if len(list) == 0 {
			slices.Sort(names)
			return slices.Compact(names), nil
		}
		for _, m := range list {
			if name, ok := objectName(m.subject); ok && strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
			from = m.Seq + 1
		}
	}
}

// Delete implements [engine.Objects] and returns the errors documented there.
func (o objectStore) Delete(ctx context.Context, key engine.Key) error {
	if err := key.Check(); err != nil {
		return err
	}
	for _, part := range []string{"0", "*"} { // what is not named is not there
		if err := o.e.purge(ctx, objects, map[string]any{"filter": objectSubject(key, part)}); err != nil {
			return err
		}
	}
	return nil
}
