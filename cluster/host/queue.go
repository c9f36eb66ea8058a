package host

import (
	"context"
	"runtime"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// submit has requests committed and returns what became of the first. It returns when ctx ends only as
// long as nothing was sent.
func (m *member) submit(ctx context.Context, r *request) answer {
	m.enqueue(r)
	return m.await(ctx, r)
}

// enqueue puts requests into the queue, and sees to it that somebody commits them.
func (m *member) enqueue(list ...*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, list...)
	if !m.works && len(m.queue) > 0 {
		m.works = true
		m.h.tasks.Add(1)
		go m.work()
	}
}

// await returns what became of a request in the queue.
func (m *member) await(ctx context.Context, r *request) answer {
	select {
	case a := <-r.done:
		return a
	case <-ctx.Done():
	}
	m.mu.Lock()
	for i, q := range m.queue {
		if q == r {
			m.queue = append(m.queue[:i:i], m.queue[i+1:]...)
			m.mu.Unlock()
			return answer{err: ctx.Err()}
		}
	}
	m.mu.Unlock()
	return <-r.done // it may be stored; who commits it does not wait for ever
}

// yields is how often a worker steps back behind a group of several requests. Writers that were just answered ask
// again meanwhile and stand in the next group; else they would stand in every second one, and groups be half as large.
const yields = 4

// work commits what is in the queue until it is empty.
func (m *member) work() {
	defer m.h.tasks.Done()
	for {
		release := log.Hold(m.x.Messages(), m.x.Events())
		group := m.take()
		if group != nil {
			m.commit(group)
		}
		release()
		switch {
		case group == nil:
			return
		case len(group) > 1:
			for range yields {
				runtime.Gosched()
			}
		}
	}
}

// take takes the next requests that can stand in one entry out of the queue; nil: it is empty, and
// nobody works on it any more. What has to stand alone does, and a key stands there once.
func (m *member) take() (group []*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := 0
	keys := map[arrival.Key]bool{}
	for _, r := range m.queue {
		size += r.size()
		if len(group) == journal.MaxRows || size > journal.MaxBody || keys[r.Key] ||
			len(group) > 0 && (r.Alone || group[0].Alone) {
			break
		}
		keys[r.Key] = true
		group = append(group, r)
	}
	if m.queue = m.queue[len(group):]; len(m.queue) == 0 {
		m.queue = nil
	}
	if group == nil {
		m.works = false
	}
	return group
}
