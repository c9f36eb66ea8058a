package tend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/replica"
)

const (
	// ParkAfter is how long a journal has the same end before it is parked.
	ParkAfter = 7 * 24 * time.Hour
	// Every is how often a maintainer looks for what can be trimmed.
	Every = time.Minute

	slowEvery = time.Hour // what is parked or collected
)

// Engine is what a maintainer needs of a cluster.
type Engine interface {
	engine.Engine

	// Owners returns the owners that have a journal.
	Owners(ctx context.Context) ([]string, error)
	// Journals returns the journals of a shard that have entries, and how many.
	Journals(ctx context.Context, shard int) (map[engine.Subject]uint64, error)
}

// Options say what a maintainer works with.
type Options struct {
	Engine       Engine // of the maintenance user
	Host         string // its name in entries of owners
	Dir          string // where it keeps what it remembers, and reads journals that are to be parked
	Handlers     map[journal.Kind]replica.Handler
	ParkAfter    time.Duration                           // 0: ParkAfter; less: nothing is parked
	CollectAfter time.Duration                           // 0: bulk.KeepFor; less: nothing is collected
	Turn         func(ctx context.Context) (bool, error) // whether this maintainer is the one that works now; nil: it is
	DryRun       bool                                    // say what would be done, and do nothing of it
	Now          func() time.Time                        // nil: time.Now
	Uptime       func() (boot string, up time.Duration)  // a name of the machine's present run, and how long it has run; nil: of this one
	Log          func(string)                            // takes a sentence for the operator; nil: nobody
}

// Tender looks after the journals and objects of a cluster. One goroutine uses it.
type Tender struct {
	o     Options
	shelf *Shelf
	walks map[engine.Subject]*walk
	said  map[string]string // the last error about a journal
	slow  time.Duration     // how long the machine had run when it looked last at what can be parked or collected; 0: it never did
	r     *Report
}

// Report is what one round did.
type Report struct {
	Checkpoints int // of owners' journals
	Trimmed     int // journals
	Parked      int
	Ended       int      // journals of sessions without a name, which are gone
	Collected   int      // objects
	Unnamed     int      // objects that nothing names, and that are not due
	Did         []string // a line for each of it
}

// New returns a maintainer.
func New(o Options) *Tender {
	o.ParkAfter, o.CollectAfter = cmp.Or(o.ParkAfter, ParkAfter), cmp.Or(o.CollectAfter, bulk.KeepFor)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Uptime == nil {
		o.Uptime = uptime
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	t := &Tender{o: o, walks: map[engine.Subject]*walk{}, said: map[string]string{}}
	t.shelf = NewShelf(ShelfOptions{Engine: o.Engine, Host: o.Host, Now: o.Now})
	return t
}

// Run does a round every minute until ctx is done.
func (t *Tender) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if _, err := t.Round(ctx); err != nil && ctx.Err() == nil {
				t.o.Log(fmt.Sprint("journals and objects are not tended: ", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// Round does what is due, and returns what it did. It goes on where one journal or owner fails, and
// returns the first error of those, or that of the cluster.
func (t *Tender) Round(ctx context.Context) (Report, error) {
	t.r = new(Report)
	if t.o.Turn != nil {
		if mine, err := t.o.Turn(ctx); err != nil || !mine {
			return *t.r, err
		}
	}
	all, err := t.journals(ctx)
	if err != nil {
		return *t.r, err
	}
	errs := []error{t.checkpoints(ctx), t.trims(ctx, all)}
	boot, up := t.o.Uptime()
	if t.slow == 0 || up-t.slow >= min(slowEvery, positive(t.o.ParkAfter)/8, positive(t.o.CollectAfter)/8) {
		t.slow = max(up, 1)
		errs = append(errs, t.rest(ctx, all, boot, up))
	}
	for _, err := range errs {
		if err != nil {
			return *t.r, err
		}
	}
	return *t.r, nil
}

// positive returns a time that is never when nothing is to happen.
func positive(d time.Duration) time.Duration {
	if d < 0 {
		return slowEvery * 8
	}
	return d
}

// rest parks and collects, when the machine has run for up in its run boot.
func (t *Tender) rest(ctx context.Context, all map[engine.Subject]uint64, boot string, up time.Duration) error {
	state := loadState(t.o.Dir)
	state.now = state.Clock.now(t.o.Now(), boot, up)
	parked := t.parks(ctx, all, state)
	collected := t.collects(ctx, all, state)
	return errors.Join(parked, collected, state.save(t.o.Dir))
}

// journals returns all journals of sessions that have entries.
func (t *Tender) journals(ctx context.Context) (map[engine.Subject]uint64, error) {
	all := map[engine.Subject]uint64{}
	for shard := range engine.Shards {
		list, err := t.o.Engine.Journals(ctx, shard)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, list)
	}
	maps.DeleteFunc(t.walks, func(s engine.Subject, _ *walk) bool { return all[s] == 0 })
	return all, nil
}
