package search

import (
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// An index learns of changes in two ways. The store calls Grew and Named while it is open. Once after a
// start, a walk over the owner's sessions compares the stamp of each log with the one in the manifest, and
// finds the changes from before.

// Grew is called by the store; see [session.Watcher].
func (e *Engine) Grew(x *disk.Dir) {
	if n := e.peek(x.Ref()); n != nil {
		n.news.Lock()
		n.grown = append(n.grown, x)
		n.news.Unlock()
	}
}

// Named is called by the store; see [session.Watcher]. The records of a removed session leave the segments
// in the background.
func (e *Engine) Named(c session.NameChange) {
	of := c.Ref
	if c.Kind == session.RenameDir {
		of, _ = ownerOf(c.From)
	}
	if c.Kind != session.RemoveSession {
		if n := e.peek(of); n != nil {
			n.hear(c)
		}
		return
	}
	n := e.index(of)
	n.hear(c)
	n.purgeSoon()
	e.release(n)
}

// Follow has the words of sessions that are removed from now on taken out of the indexes of their owners, for a program that removes
// sessions of a store which no daemon serves. End waits until that is done; it is to be called before the store is closed.
func Follow(store *session.Store) (end func()) {
	e := New(store, Config{})
	return func() {
		e.running.Wait()
		e.Close()
	}
}

// purgeSoon has a builder take out of the segments what is of sessions that are there no more.
func (n *index) purgeSoon() {
	if n.e.c.ReadOnly || n.purging.Swap(true) {
		return
	}
	n.e.use(n)
	if !n.e.start(n.purge) {
		n.purging.Store(false)
		n.e.release(n)
	}
}

func (n *index) hear(c session.NameChange) {
	n.news.Lock()
	n.named = append(n.named, c)
	n.news.Unlock()
}

// ownerOf returns the owner of a path of the store.
func ownerOf(rel string) (of ctxabi.Ref, ok bool) {
	parts := strings.SplitN(rel, "/", 3)
	if len(parts) < 2 {
		return of, false
	}
	if parts[0] == ctxabi.SharedDir {
		return ctxabi.Ref{Space: parts[1]}, true
	}
	of.UID, ok = ctxabi.ParseUID(parts[1])
	return of, ok
}

// settle takes in the changes that Grew and Named have collected; mu is held.
func (n *index) settle() {
	n.load()
	n.news.Lock()
	named, grown := n.named, n.grown
	n.named, n.grown = nil, nil
	n.news.Unlock()
	for _, c := range named {
		if c.Kind == session.RenameDir {
			n.move(c.From, c.To)
		} else {
			n.examine(c.Ref)
		}
	}
	for _, x := range grown {
		if x.Removed() {
			continue
		}
		number, ok := n.byRef[x.Ref()]
		if !ok {
			number = n.add(x.Ref(), x.ID()).number
		}
		n.mark(number)
	}
}

// examine looks at which session stands at ref, if any; mu is held.
func (n *index) examine(ref ctxabi.Ref) {
	k := n.sessions[n.byRef[ref]]
	x, err := n.e.store.Session(ref)
	if err == nil && k != nil && (k.id == "" || k.id == x.ID()) {
		return
	}
	if k != nil {
		n.lose(k)
	}
	if err == nil {
		n.add(ref, x.ID())
	}
}

// reexamine is examine for a session that could not be read, or was found removed; mu is held.
func (n *index) reexamine(k *known) {
	x, err := n.e.store.Session(k.ref)
	if err != nil || k.id != "" && k.id != x.ID() || x.Removed() {
		n.lose(k)
		n.examine(k.ref)
	}
}

// move notes the new names of the sessions that stood below a directory; mu is held.
func (n *index) move(from, to string) {
	d := n.e.store.Disk()
	if _, err := d.FS.Stat(d.Join(to)); err != nil {
		return
	}
	if _, err := d.FS.Stat(d.Join(from)); err == nil {
		return // it was not renamed, or something else has its name by now: a walk finds out
	}
	for _, k := range n.sessions {
		rest, ok := strings.CutPrefix(k.ref.Path(), from)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if ref, err := ctxabi.ParseRef(to + rest); err == nil {
			n.call(k, ref)
		}
	}
}

// call notes another name of a session; mu is held.
func (n *index) call(k *known, ref ctxabi.Ref) {
	if other := n.sessions[n.byRef[ref]]; other != nil && other.number != k.number {
		n.lose(other)
	}
	moved := *k
	moved.ref = ref
	n.set(&moved)
	n.unsaved++
}

// seen is a session as a walk finds it.
type seen struct {
	ref    ctxabi.Ref
	stamps [2]session.Stamp
}

// walk looks at which sessions the owner has, and which of them are not as they were when they were
// indexed: once, and where a daemon may serve the store beside this process, each time.
func (n *index) walk() {
	n.looking.Lock()
	defer n.looking.Unlock()
	n.mu.Lock()
	n.settle()
	walked := n.walked && !n.e.c.ReadOnly
	n.mu.Unlock()
	if walked {
		return
	}
	var all []seen
	for ref := range n.e.store.SessionsOf(n.of) {
		stamps, err := n.e.store.Stamps(ref)
		if err != nil {
			stamps = [2]session.Stamp{}
		}
		all = append(all, seen{ref, stamps})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settle()
	there := make(map[ctxabi.Ref]bool, len(all))
	for _, s := range all {
		there[s.ref] = true
	}
	var missing []*known
	for _, k := range n.sessions {
		if !there[k.ref] {
			missing = append(missing, k)
		}
	}
	for _, s := range all {
		k := n.sessions[n.byRef[s.ref]]
		switch {
		case k == nil:
			missing = n.newcomer(s, missing)
		case k.id == "" || k.logs[0].stamp != s.stamps[0] || k.logs[1].stamp != s.stamps[1] || k.logs[0].stamp == session.Stamp{}:
			n.mark(k.number)
		case !k.stamped:
			same := *k
			same.stamped = true
			n.set(&same)
		}
	}
	for _, k := range missing {
		if n.vanished(k) {
			n.lose(k)
		}
	}
	n.walked = true
}

// newcomer makes a session known that a walk found: it may be one that was known by another name. mu
// is held.
func (n *index) newcomer(s seen, missing []*known) (still []*known) {
	if len(missing) == 0 {
		n.add(s.ref, "")
		return nil
	}
	x, err := n.e.store.Session(s.ref)
	if err != nil {
		return missing // removed meanwhile, or unreadable: it has been reported
	}
	i := slices.IndexFunc(missing, func(k *known) bool { return k.id == x.ID() })
	if i < 0 {
		n.add(s.ref, x.ID())
		return missing
	}
	k := missing[i]
	n.call(k, s.ref)
	if k.logs[0].stamp != s.stamps[0] || k.logs[1].stamp != s.stamps[1] {
		n.mark(k.number)
	}
	return slices.Delete(missing, i, i+1)
}

// admit returns the state of a session in the index, checked against its logs. It returns the error of a
// log that cannot be read.
func (n *index) admit(x *session.Session) (*known, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.settle()
	ref := x.Ref()
	if x.Removed() {
		return nil, errGone()
	}
	k := n.sessions[n.byRef[ref]]
	if k != nil && k.id != "" && k.id != x.ID() {
		n.lose(k)
		k = nil
	}
	if k == nil {
		for _, old := range n.sessions {
			if old.id == x.ID() && n.vanished(old) {
				n.call(old, ref)
				k = n.sessions[old.number]
				break
			}
		}
	}
	if k == nil {
		k = n.add(ref, x.ID())
	}
	if k.fits && k.x == x {
		return k, nil
	}
	why, err := k.fitsLogs(x)
	if err != nil {
		return nil, err
	}
	if why == nil {
		why = k.edited(x)
	}
	if why != nil {
		n.anew([]*known{k}, why)
		k = n.sessions[n.byRef[ref]]
	}
	fit := *k
	fit.fits, fit.x, fit.id = true, x, x.ID()
	n.set(&fit)
	n.unsaved++
	return &fit, nil
}

// vanished reports whether nothing stands where a session was.
func (n *index) vanished(k *known) bool {
	d := n.e.store.Disk()
	_, err := d.FS.Stat(d.Join(path.Join(k.ref.Path(), disk.IDFile)))
	return err != nil
}
