package builder

import (
	"slices"

	"github.com/ctxfs/ctxfs/session"
)

// remember makes the memory of a source, with what was stored of it. mu is held.
func (o *outputs) remember(id, name string, good *goodRun) {
	if o.sessions[id] == nil {
		o.sessions[id] = map[string]*output{}
	}
	o.sessions[id][name] = &output{session: id, name: name, good: good}
}

// forget removes st from memory. mu is held.
func (o *outputs) forget(st *output) {
	all := o.sessions[st.session]
	if all[st.name] == st {
		delete(all, st.name)
	}
	if len(all) == 0 {
		delete(o.sessions, st.session)
	}
}

// leave drops a source that is not wanted any more, at once or when its run has ended. mu is held.
func (o *outputs) leave(st *output) {
	st.gone, st.good, st.failed = true, nil, nil
	if st.next != nil {
		st.next.end(false, true)
		st.next = nil
	}
	if st.job != nil {
		o.callOff(st.job)
	}
	if st.job == nil {
		o.forget(st)
	}
}

// retain cancels the runs and removes the outputs of all sources of the session
// but those named. Call it with all computed sources of a recipe, whether they are used at present
// or not, whenever the recipe changed, and once after a start.
func (o *outputs) retain(x *session.Session, names []string) {
	keep := make(map[string]bool, len(names))
	for _, name := range names {
		keep[name] = true
	}
	o.mu.Lock()
	for name, st := range o.sessions[x.ID()] {
		if !keep[name] {
			o.leave(st)
		}
	}
	o.dispatch()
	o.mu.Unlock()
	removeStored(x, names)
}

// evict drops the memory held for the session id. Runs go on; what is stored is read again when it is asked for.
func (o *outputs) evict(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, st := range o.sessions[id] {
		if st.job == nil {
			o.forget(st)
		}
	}
}

// size is about how many bytes are held for the session id.
func (o *outputs) size(id string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, st := range o.sessions[id] {
		n += 1 << 10
		if st.good != nil {
			n += len(st.good.data)
		}
	}
	return n
}

// Close cancels all runs and returns when nothing is left of them.
func (o *outputs) Close() {
	o.mu.Lock()
	o.closed = true
	for _, all := range o.sessions {
		for _, st := range all {
			if st.next != nil {
				st.next.end(false, true)
				st.next = nil
			}
			if st.job != nil {
				o.callOff(st.job)
			}
		}
	}
	o.mu.Unlock()
	o.cancel()
	o.runs.Wait()
}

// removeStored removes the outputs of all sources but those named.
func removeStored(x *session.Session, names []string) {
	var keep []string
	for _, name := range names {
		keep = append(keep, storedName(name))
	}
	for _, file := range x.DerivedNames(outputsDir) {
		if !slices.Contains(keep, file) {
			x.RemoveDerived(file)
		}
	}
}
