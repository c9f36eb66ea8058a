package world

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/gc"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/search"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// caches are the directories of derived content that can be made again from the history, or by
// running the recipe's commands.
var caches = []string{"dedup", "notes", search.Dir, "outputs"}

// swapDir has what left the prompts of budgets and recipes that are no longer used. There is no
// other copy.
const swapDir = "swap"

func (s *sweptSession) Items(ctx context.Context) (list []gc.Item, err error) {
	x := s.x
	r, remembered := s.c.builder.Remembered(x)
	if remembered {
		list = append(list, memoryItem(r))
	}
	for _, b := range x.Blobs() {
		list = append(list, s.blobItem(b))
	}
	for _, k := range x.Caches(caches...) {
		list = append(list, s.cacheItem(k))
	}
	for _, k := range x.Caches(swapDir) {
		it := s.cacheItem(k)
		it.Why = "rows for earlier budgets and recipes have no other copy"
		list = append(list, it)
	}
	for _, k := range x.Quarantined() {
		list = append(list, quarantineItem(k))
	}
	for _, l := range []*log.Log{x.Messages(), x.Events()} {
		it, err := logItem(x, l)
		if err != nil {
			return nil, err
		}
		list = append(list, it)
	}
	whole, err := s.wholeItem()
	return append(list, whole), err
}

func memoryItem(r builder.Remembered) gc.Item {
	return gc.Item{Kind: gc.Memory, Path: ctxabi.PackFile, Size: int64(r.Size), Used: r.Used}
}

func (s *sweptSession) blobItem(b blob.Blob) gc.Item {
	return gc.Item{Kind: gc.Blob, Path: path.Join(ctxabi.DedupBlobDir, b.ID), Size: b.Size, Used: s.x.BlobUsed(b)}
}

// cacheItem returns the item of a cache. A cache was used when a pack of the session was, as far as
// this process knows.
func (s *sweptSession) cacheItem(k session.Usage) gc.Item {
	it := gc.Item{Kind: gc.Cache, Path: k.Name, Size: k.Size, Used: k.Time}
	if r, ok := s.c.builder.Remembered(s.x); ok && r.Used.After(it.Used) {
		it.Used = r.Used
	}
	return it
}

func (s *sweptSession) removeCache(it gc.Item, confirm func(gc.Item) (bool, error)) (freed int64, done bool, err error) {
	return s.x.SweepCache(strings.TrimPrefix(it.Path, ctxabi.InternalDir+"/"), func(k session.Usage) (bool, error) { return confirm(s.cacheItem(k)) })
}

func quarantineItem(k session.Usage) gc.Item {
	return gc.Item{Kind: gc.Quarantine, Path: k.Name, Size: k.Size, Used: k.Time}
}

// logItem returns the item of a log: the bytes of it that are not archived.
func logItem(x *session.Session, l *log.Log) (gc.Item, error) {
	k, err := x.LogFile(l)
	it := gc.Item{Kind: gc.Log, Path: l.Name(), Size: k.Size, Used: k.Time}
	if k.Size < log.SealMin {
		it.Why = fmt.Sprintf("fewer than %d bytes are new", log.SealMin)
	}
	return it, err
}

// wholeItem returns the item of the session. It was used when something of it was read last, as far
// as this process knows.
func (s *sweptSession) wholeItem() (gc.Item, error) {
	x := s.x
	it := gc.Item{Kind: gc.Whole, Path: ".", Used: x.Created()}
	p := x.Policy()
	if p.DeleteAfter == 0 || p.KeepMessages || p.KeepEvents {
		return it, nil // its age does not matter
	}
	later := func(t time.Time) {
		if t.After(it.Used) {
			it.Used = t
		}
	}
	all, err := x.Everything(reportName) // which a dry run writes
	if err != nil {
		return it, err
	}
	it.Size = all.Size
	later(all.Time)
	later(x.Updated())
	if r, ok := s.c.builder.Remembered(x); ok {
		later(r.Used)
	}
	rows, err := s.Packs()
	if n := len(rows); n > 0 {
		later(rows[n-1].At)
	}
	return it, err
}

// Remove removes an item under the lock that guards it; see [gc.Session].
func (s *sweptSession) Remove(ctx context.Context, it gc.Item, confirm func(gc.Item) (bool, error)) (freed int64, done bool, err error) {
	x := s.x
	switch it.Kind {
	case gc.Memory:
		n, done, err := s.c.builder.ForgetIf(x, func(r builder.Remembered) (bool, error) { return confirm(memoryItem(r)) })
		return int64(n), done, err
	case gc.Blob:
		return x.SweepBlob(path.Base(it.Path), func(b blob.Blob) (bool, error) { return confirm(s.blobItem(b)) })
	case gc.Cache:
		return s.removeCache(it, confirm)
	case gc.Quarantine:
		return x.SweepQuarantined(it.Path, func(k session.Usage) (bool, error) { return confirm(quarantineItem(k)) })
	case gc.Log:
		return s.seal(ctx, it, confirm)
	case gc.Whole:
		done, err := x.RemoveIf(func() (bool, error) {
			it, err := s.wholeItem()
			if err != nil {
				return false, err
			}
			return confirm(it)
		})
		if done {
			s.c.builder.Forget(x.ID())
		}
		return it.Size, done, err
	}
	return 0, false, ctxabi.E("gc", it.Path, ctxabi.ErrProtected, "a %s cannot be removed", it.Kind)
}

// seal archives a log. No byte of the history goes: what is freed is what the archive is smaller.
func (s *sweptSession) seal(ctx context.Context, it gc.Item, confirm func(gc.Item) (bool, error)) (int64, bool, error) {
	l := s.x.Messages()
	if it.Path == ctxabi.EventsFile {
		l = s.x.Events()
	}
	is, err := logItem(s.x, l)
	if err == nil {
		var ok bool
		if ok, err = confirm(is); !ok {
			return 0, false, err
		}
	}
	if err != nil {
		return 0, false, err
	}
	raw, packed, err := l.Seal(ctx)
	return raw - packed, raw > 0, err
}
