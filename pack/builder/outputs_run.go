package builder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/pack/source"
	"github.com/ctxfs/ctxfs/session"
)

// How many sources run at once. The others wait, and of them the user goes first who runs least.
const (
	maxRuns        = 8
	maxUserRuns    = 4
	maxSessionRuns = 2
)

// Of what nobody waits for, so many run beside these.
const (
	maxBehind        = 4
	maxUserBehind    = 2
	maxSessionBehind = 1
)

// job is one run of a source, from when it is wanted until it has ended. outputs.mu guards it.
type job struct {
	out      *output
	x        *session.Session
	uid, gid uint32
	want     want   // does not change once it has started
	key      string // of what it runs for; "": it has to look at its inputs first
	wanted   time.Time
	cancel   context.CancelFunc // nil until it has started

	started, ended bool
	off            bool          // called off: what it makes is not used
	ok             bool          // it ended well
	done           chan struct{} // closed when it has ended
}

// runners counts what runs and holds what waits. outputs.mu guards it.
type runners struct {
	maxAll, maxUser, maxSession int

	waiting   []*job // oldest first
	all       int
	bySession map[string]int
	byUser    map[uint32]int
}

func (r *runners) init(all, user, session int) {
	r.maxAll, r.maxUser, r.maxSession = all, user, session
	r.bySession, r.byUser = map[string]int{}, map[uint32]int{}
}

// of returns the runners that j is one of.
func (o *outputs) of(j *job) *runners {
	if j.want.behind {
		return &o.behind
	}
	return &o.awaited
}

func (r *runners) add(j *job, n int) {
	r.all += n
	if r.bySession[j.out.session] += n; r.bySession[j.out.session] == 0 {
		delete(r.bySession, j.out.session)
	}
	if r.byUser[j.uid] += n; r.byUser[j.uid] == 0 {
		delete(r.byUser, j.uid)
	}
}

// pick takes the job that may start next, or nil: the oldest one of the user with the fewest runs.
func (r *runners) pick() *job {
	best := -1
	for i, j := range r.waiting {
		if r.all >= r.maxAll || r.bySession[j.out.session] >= r.maxSession || r.byUser[j.uid] >= r.maxUser {
			continue
		}
		if best < 0 || r.byUser[j.uid] < r.byUser[r.waiting[best].uid] {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	j := r.waiting[best]
	r.waiting = slices.Delete(r.waiting, best, best+1)
	return j
}

// wait returns when j has ended, ctx is done, or j has been waited for long
// enough: for wait since start, and since it was first wanted.
func (j *job) wait(ctx context.Context, start time.Time, wait time.Duration) {
	var late <-chan time.Time
	if wait >= 0 {
		rest := j.rest(start, wait)
		if rest <= 0 {
			return
		}
		timer := time.NewTimer(rest)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-j.done:
	case <-late:
	case <-ctx.Done():
	}
}

// rest is how long whoever waits since start for wait at most waits still.
func (j *job) rest(start time.Time, wait time.Duration) time.Duration {
	if j.wanted.Before(start) {
		start = j.wanted
	}
	return wait - time.Since(start)
}

// end returns how j ended. outputs.mu is held.
func (j *job) end(ok, off bool) {
	j.ended, j.ok, j.off = true, ok, j.off || off
	close(j.done)
}

// join returns the job whose end makes st what fresh wants: one that is there
// already, or fresh. mu is held; dispatch must follow.
func (o *outputs) join(st *output, fresh *job) *job {
	if j := st.job; j != nil && j.want.entry != fresh.want.entry && !j.off {
		o.callOff(j)
	}
	switch j := st.job; {
	case j == nil:
		st.job = fresh
		r := o.of(fresh)
		r.waiting = append(r.waiting, fresh)
		return fresh
	case !j.started:
		j.follow(fresh)
		return j
	case !j.off && j.key == fresh.key && j.want.cache.Strategy != recipe.CacheNever:
		return j
	case st.next == nil:
		st.next = fresh
	default:
		st.next.follow(fresh)
	}
	return st.next
}

// follow makes a job that has not started run for what fresh wants.
func (j *job) follow(fresh *job) {
	j.x, j.uid, j.gid, j.want, j.key = fresh.x, fresh.uid, fresh.gid, fresh.want, fresh.key
}

// callOff ends a job that is st.job: at once when it waits, else as soon as nothing is left of it. mu is held.
func (o *outputs) callOff(j *job) {
	if j.started {
		j.off = true
		j.cancel()
		return
	}
	r := o.of(j)
	r.waiting = slices.DeleteFunc(r.waiting, func(w *job) bool { return w == j })
	j.out.job = nil
	j.end(false, true)
}

// dispatch starts what may start. mu is held.
func (o *outputs) dispatch() {
	for _, r := range []*runners{&o.awaited, &o.behind} {
		for !o.closed {
			j := r.pick()
			if j == nil {
				break
			}
			r.add(j, 1)
			j.started = true
			var ctx context.Context
			ctx, j.cancel = context.WithCancel(o.ctx)
			o.runs.Go(func() { o.lead(ctx, j) })
		}
	}
}

// lead takes a job from its start to its end.
func (o *outputs) lead(ctx context.Context, j *job) {
	defer j.cancel()
	key := j.key // changed by nobody else once it has started
	if key == "" {
		l := o.check(ctx, j.uid, j.gid, &j.want, patientCheck)
		l.late = false // what is not known by now counts as no input
		key = j.want.key(l)
		o.mu.Lock()
		j.key = key
		o.mu.Unlock()
	}
	r, f := o.run(ctx, j)
	if r != nil {
		r.key, r.entry, r.maker, r.ended = key, j.want.entry, j.want.maker, o.now().Round(0)
		if ctx.Err() == nil {
			keepStored(j.x, j.want.name, r)
		}
	}
	o.finish(j, r, f)
}

// finish notes what a job came to and lets the next one wait.
func (o *outputs) finish(j *job, r *goodRun, f *failedRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of(j).add(j, -1)
	st := j.out
	switch {
	case j.off || o.closed:
		j.off = true
	case r != nil:
		st.good, st.failed = r, nil
	default:
		f.key, f.entry, f.count = j.key, j.want.entry, 1
		if last := st.failed; last != nil && last.key == f.key {
			f.count = last.count + 1
		}
		f.until = o.now().Add(min(firstPause<<min(f.count-1, 10), maxPause))
		st.failed = f
	}
	st.job = nil
	j.end(r != nil && !j.off, false)
	if next := st.next; next != nil {
		st.next = nil
		if same := next.key == j.key && next.want.cache.Strategy != recipe.CacheNever; same && !j.off {
			next.end(j.ok, false)
		} else {
			st.job = next
			r := o.of(next)
			r.waiting = append(r.waiting, next)
		}
	}
	if st.gone && st.job == nil {
		o.forget(st)
	}
	o.dispatch()
}

// maxLastSaid is how many bytes of a message a report shows.
const maxLastSaid = 300

// lastSaid returns the last line of standard error, after a colon; "" if there is none.
func lastSaid(stderr string) string {
	stderr = strings.TrimSpace(stderr)
	line := stderr[strings.LastIndexByte(stderr, '\n')+1:]
	if line == "" {
		return ""
	}
	return ": " + strings.ToValidUTF8(line[:min(len(line), maxLastSaid)], "")
}

// run runs the stages of j. Exactly one of its results is not nil.
func (o *outputs) run(ctx context.Context, j *job) (*goodRun, *failedRun) {
	var data []byte
	var note runNotes
	var root string
	var held []source.Held
	if j.want.hold != nil {
		var err error
		if root, held, err = j.want.hold(); err != nil {
			return nil, &failedRun{reason: "it was not run: " + err.Error()}
		}
	}
	for i, c := range j.want.stages {
		c.Root, c.Held = root, held
		label := ""
		if n := len(j.want.stages); n > 1 {
			label = fmt.Sprintf("stage %d of %d: ", i+1, n)
		}
		if i > 0 {
			c.Stdin = data
		} else if j.want.feed != nil {
			var err error
			if c.Stdin, err = j.want.feed(ctx); err != nil {
				return nil, &failedRun{reason: fmt.Sprintf("its input could not be read: %v", err)}
			}
		}
		out, err := o.generators.Run(ctx, j.uid, j.gid, c)
		note.add(label, &out)
		switch {
		case err != nil:
			return nil, &failedRun{reason: fmt.Sprintf("%sit could not be run: %v", label, err), note: note.String()}
		case out.Failed != "" && j.want.behind:
			return nil, &failedRun{reason: out.Failed + lastSaid(out.Stderr), note: note.String()}
		case out.Failed != "":
			return nil, &failedRun{reason: label + out.Failed, note: note.String()}
		case len(out.Data) > source.MaxGenerated:
			return nil, &failedRun{reason: fmt.Sprintf("%sit gave %d bytes, %d are allowed", label, len(out.Data), source.MaxGenerated), note: note.String()}
		}
		data = out.Data
	}
	if len(j.want.stages) == 0 {
		return nil, &failedRun{reason: "it has no command"}
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, &failedRun{reason: "it is not text", note: note.String()}
	}
	sum := sha256.Sum256(data)
	path := j.want.stages[len(j.want.stages)-1].Output
	return &goodRun{data: data, sha256: hex.EncodeToString(sum[:]), path: path, note: note.String()}, nil
}

// runNotes gathers what a report says of a run.
type runNotes struct {
	sandbox string
	lines   []string
}

func (n *runNotes) add(label string, out *source.Output) {
	if out.Sandbox != "" {
		n.sandbox = out.Sandbox
	}
	if s := strings.TrimRight(strings.ToValidUTF8(out.Stderr, "\uFFFD"), "\n"); s != "" {
		n.lines = append(n.lines, label+"stderr: "+s)
	}
}

func (n *runNotes) String() string {
	lines := n.lines
	if n.sandbox != "" {
		lines = slices.Insert(slices.Clone(lines), 0, "sandbox: "+n.sandbox)
	}
	return strings.Join(lines, "\n")
}
