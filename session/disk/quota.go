package disk

import (
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Writer identifies the process that wrote a record.
type Writer struct{ UID, PID uint32 }

// Quotas counts what each user has staged.
type Quotas struct {
	mu   sync.Mutex
	used map[uint32]*staged
}

type staged struct {
	bytes  int64
	stages int
}

// Take counts n more bytes as staged by a user, the first of a stage where first is set. It returns
// ctxabi.ErrQuota, and counts nothing, if these are too many.
func (q *Quotas) Take(uid uint32, n int64, first bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[uid]
	if u == nil {
		u = new(staged)
	}
	if u.bytes+n > ctxabi.MaxStaged || first && u.stages >= ctxabi.MaxStages {
		return ctxabi.E("append", "", ctxabi.ErrQuota,
			"uid %d has %d MiB in %d unfinished records; the limits are %d MiB and %d: finish or close some",
			uid, u.bytes>>20, u.stages, ctxabi.MaxStaged>>20, ctxabi.MaxStages)
	}
	if q.used == nil {
		q.used = map[uint32]*staged{}
	}
	q.used[uid] = u
	u.bytes += n
	if first {
		u.stages++
	}
	return nil
}

// Give counts n bytes as staged no more; last ends their stage.
func (q *Quotas) Give(uid uint32, n int64, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.used[uid]
	u.bytes -= n
	if last {
		u.stages--
	}
	if *u == (staged{}) {
		delete(q.used, uid)
	}
}
