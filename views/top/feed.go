package top

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/views/overview"
)

const (
	showEvery  = 100 * time.Millisecond // between two pieces of rows that take long
	askEvery   = 2 * time.Second        // whether the mount serves
	silentFrom = 5 * time.Second        // without an answer
	lookShare  = 3                      // a prompt is made anew after so many times as long as the last one took
)

// What the feed sends to the screen.
type (
	listMsg struct{ entries []overview.Entry }
	rowsMsg struct {
		rows []overview.Row
		left int // rows that an order still waits for
	}
	detailMsg struct{ *detail }
	promptMsg struct {
		ref    string
		prompt *prompt
		err    error
	}
	mountMsg struct{ state mountState }
)

// mountState is whether the mount serves.
type mountState int

const (
	serves mountState = iota
	isGone
	isSilent
)

// wish is what the screen wants to know. The last wish counts.
type wish struct {
	shown  []string // the sessions whose rows are on the screen
	all    bool     // the order needs the rows of all
	detail string   // the session that is looked at; ""
	paused bool
}

// feed reads the mount for the screen, which it never holds up.
type feed struct {
	c     *Config
	watch *overview.Watcher
	send  func(tea.Msg)
	wake  chan struct{} // holds one token when there is something new to do
	turn  chan struct{} // holds one token when the screen was paused, or goes on
	looks sync.WaitGroup

	mu      sync.Mutex
	wish    wish                 // guarded by mu, as all that follows
	fresh   map[string]bool      // of the sessions on the screen, those whose rows stand as they are
	known   map[string]time.Time // when the sessions had changed whose rows were read
	relist  listing
	again   bool               // what was read of the session that is looked at is not as it stands,
	stale   bool               // nor is its prompt
	looking context.CancelFunc // ends the look at a session; nil: there is none
	nextTry time.Time          // of a look
}

// listing is whether a list of all sessions is due.
type listing int

const (
	noList listing = iota
	asListed
	anew
)

func newFeed(c *Config, send func(tea.Msg)) *feed {
	return &feed{c: c, watch: c.Source.Watcher(), send: send, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1),
		fresh: map[string]bool{}, known: map[string]time.Time{}, relist: anew}
}

// want replaces the wish.
func (f *feed) want(w wish) {
	f.mu.Lock()
	if w.detail != f.wish.detail {
		f.again, f.stale, f.nextTry = true, true, time.Time{}
		if f.looking != nil {
			f.looking()
		}
	}
	// Rows that leave the screen are not watched any more, so nobody knows how they stand.
	maps.DeleteFunc(f.fresh, func(ref string, _ bool) bool { return !slices.Contains(w.shown, ref) })
	turned := f.wish.paused != w.paused
	f.wish = w
	if turned && !w.paused {
		f.missed()
	}
	f.mu.Unlock()
	if turned {
		signal(f.turn)
	}
	signal(f.wake)
}

// missed marks all rows as out of date, since anything may have changed. f.mu is held.
func (f *feed) missed() {
	f.relist, f.again, f.stale = anew, true, true
	clear(f.fresh)
}

// signal leaves a token, where there is none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (f *feed) poke() { signal(f.wake) }

// run reads until ctx ends.
func (f *feed) run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { f.watch.Run(ctx) })
	all.Go(func() { f.hear(ctx) })
	all.Go(func() { f.ask(ctx) })
	for ctx.Err() == nil {
		select {
		case <-f.wake:
			f.read(ctx)
		case <-ctx.Done():
		}
	}
	all.Wait()
	f.looks.Wait()
}

// hear marks the sessions of which the watcher sends a notice as changed. While the screen is paused it does not
// listen, and nothing is watched.
func (f *feed) hear(ctx context.Context) {
	var told chan overview.Notice
	for {
		f.mu.Lock()
		paused := f.wish.paused
		f.mu.Unlock()
		if paused && told != nil {
			f.watch.Leave(told)
			told = nil
		} else if !paused && told == nil {
			told = f.watch.Join()
		}
		select {
		case n, ok := <-told:
			if ok {
				f.heard(n)
				continue
			}
			told = nil
			f.forget() // it was behind
		case <-f.turn:
		case <-ctx.Done():
			if told != nil {
				f.watch.Leave(told)
			}
			return
		}
	}
}

func (f *feed) forget() {
	f.mu.Lock()
	f.missed()
	f.mu.Unlock()
	f.poke()
}

func (f *feed) heard(n overview.Notice) {
	f.mu.Lock()
	if n.Session == "" {
		f.relist = max(f.relist, asListed)
	} else {
		delete(f.fresh, n.Session)
		if n.Session == f.wish.detail {
			f.again, f.stale = true, true
		}
	}
	f.mu.Unlock()
	f.poke()
}

// ask looks whether the mount serves. A daemon that is stopped answers nobody, so it is asked beside everything else.
func (f *feed) ask(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	answer := make(chan mountState, 1)
	state, waits := serves, false
	var since time.Time
	for {
		select {
		case <-tick.C:
		case now := <-answer:
			waits = false
			if now != state {
				if now == serves {
					f.forget()
				}
				state = now
				f.send(mountMsg{state})
			}
			continue
		case <-ctx.Done():
			return
		}
		switch {
		case !waits:
			waits, since = true, time.Now()
			go func() { answer <- f.c.state() }() // it may never come back
		case state != isSilent && time.Since(since) > silentFrom:
			state = isSilent
			f.send(mountMsg{state})
		}
	}
}

// state asks the mount for a name of its root. It hangs where the daemon is stopped.
func (c *Config) state() mountState {
	if _, _, ok := mounts.At(c.Source.Root); !ok {
		return isGone
	}
	if overview.Answers(c.Source.Root) != nil {
		return isGone
	}
	return serves
}

// read does the reads that are wished, those for the screen first.
func (f *feed) read(ctx context.Context) {
	f.mu.Lock()
	relist := f.relist
	f.relist = noList
	f.mu.Unlock()
	switch relist {
	case anew:
		f.send(listMsg{f.c.matching(f.watch.List())})
	case asListed:
		f.send(listMsg{f.c.matching(f.watch.Listed())})
	}
	for ctx.Err() == nil {
		f.readDetail()
		f.look(ctx)
		f.mu.Lock()
		w := f.wish
		var due []string
		for _, ref := range w.shown {
			if !f.fresh[ref] {
				due = append(due, ref)
			}
		}
		f.mu.Unlock()
		w.watch(f.watch)
		left := 0
		if len(due) == 0 && w.all {
			due = f.unread()
			left = len(due)
		}
		if len(due) == 0 || !f.readRows(ctx, due, left) {
			return
		}
	}
}

// watch has the watcher look at what a wish shows, and at nothing else.
func (w *wish) watch(by *overview.Watcher) {
	if w.paused {
		by.Keep()
		return
	}
	by.Keep(append(w.shown, w.detail)...)
	for _, ref := range w.shown {
		by.Show(ref, overview.AsRow)
	}
	if w.detail != "" {
		by.Show(w.detail, overview.AsWhole)
	}
}

// unread returns the sessions that changed since their rows were read, those that changed last first.
func (f *feed) unread() (refs []string) {
	entries := f.c.matching(f.watch.Listed())
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range entries {
		if at, ok := f.known[e.Ref]; !ok || at.Before(e.Updated) {
			refs = append(refs, e.Ref)
		}
	}
	return refs
}

// readRows reads rows until something else is wished, and sends them in pieces. left is how many an order waits for. It
// reports whether there may be more to do.
func (f *feed) readRows(ctx context.Context, refs []string, left int) bool {
	watched := left == 0
	var rows []overview.Row
	sent := time.Now()
	for _, ref := range refs {
		e, ok := f.c.Source.Entry(ref)
		f.mu.Lock()
		if watched {
			f.fresh[ref] = true // a notice that comes from now on counts
		}
		f.known[ref] = time.Now()
		if ok {
			f.known[ref] = e.Updated
		}
		f.mu.Unlock()
		if ok {
			rows = append(rows, f.c.Source.Row(e))
		}
		left--
		if ctx.Err() != nil {
			return false
		}
		if len(f.wake) > 0 {
			break
		}
		if time.Since(sent) >= showEvery {
			f.send(rowsMsg{rows, max(0, left)})
			rows, sent = nil, time.Now()
		}
	}
	f.send(rowsMsg{rows, max(0, left)})
	return len(f.wake) == 0
}

// readDetail reads the session that is wished, where what was read of it is not as it stands.
func (f *feed) readDetail() {
	f.mu.Lock()
	ref, due := f.wish.detail, f.again
	f.again = false
	f.mu.Unlock()
	if ref != "" && due {
		f.send(detailMsg{f.c.detailOf(ref)})
	}
}

// look begins a look at the prompt of the session that is wished, where none goes on and the last one is not as it stands.
func (f *feed) look(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ref := f.wish.detail
	if ref == "" || f.looking != nil || !f.stale {
		return
	}
	if wait := time.Until(f.nextTry); wait > 0 {
		time.AfterFunc(wait, f.poke)
		return
	}
	f.stale = false
	ctx, f.looking = context.WithCancel(ctx)
	f.looks.Go(func() {
		began := time.Now()
		if p, err := f.c.promptOf(ctx, ref); ctx.Err() == nil {
			f.send(promptMsg{ref, p, err})
		}
		f.mu.Lock()
		defer f.poke()
		defer f.mu.Unlock()
		f.looking()
		f.looking = nil
		if f.wish.detail == ref {
			f.nextTry = time.Now().Add(lookShare * time.Since(began))
		}
	})
}
