package builder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/pack/recipe"
)

// forAll is how long a look at inputs may take when a caller waits for everything.
const forAll = time.Hour

// patientCheck is how long a run looks at inputs that no reader had the time for.
const patientCheck = 30 * time.Second

// inputCheck is what a look at the declared inputs of a want came to.
type inputCheck struct {
	fingerprint string
	late        bool // fingerprint is an earlier one, or "" when there is none
	unknowable  bool
}

func (o *outputs) check(ctx context.Context, uid, gid uint32, w *want, wait time.Duration) (l inputCheck) {
	if w.cache.Strategy != recipe.CacheFileHash {
		return inputCheck{}
	}
	fingerprint, late, reason := o.generators.Inputs(ctx, uid, gid, w.dir, w.cache.InvalidateOn, wait)
	if late {
		return inputCheck{fingerprint: fingerprint, late: true}
	}
	if reason != "" {
		return inputCheck{unknowable: true}
	}
	return inputCheck{fingerprint: fingerprint}
}

// checkAll looks at the inputs of all wants at once, and once at those that several have in common. A look takes as
// long as a gather waits for the want, under AtOnce no longer than wait.
func (o *outputs) checkAll(ctx context.Context, uid, gid uint32, wants []want, wait time.Duration) []inputCheck {
	atMost := func(w *want) time.Duration {
		switch {
		case wait < 0:
			return forAll
		case mustNotWait(ctx):
			return wait
		}
		return w.waits(wait)
	}
	looks := make([]inputCheck, len(wants))
	var all sync.WaitGroup
	last := -1 // is looked at by this goroutine: mostly there is but one
	first := func(i int) int {
		return slices.IndexFunc(wants, func(w want) bool { return w.sameInputs(&wants[i]) })
	}
	for i := range wants {
		if wants[i].cache.Strategy != recipe.CacheFileHash || first(i) < i {
			continue
		}
		if j := last; j >= 0 {
			all.Go(func() { looks[j] = o.check(ctx, uid, gid, &wants[j], atMost(&wants[j])) })
		}
		last = i
	}
	if last >= 0 {
		looks[last] = o.check(ctx, uid, gid, &wants[last], atMost(&wants[last]))
	}
	all.Wait()
	for i := range wants {
		if wants[i].cache.Strategy == recipe.CacheFileHash {
			looks[i] = looks[first(i)]
		}
	}
	return looks
}

// sameInputs reports whether a look at the inputs of v is one at those of w, and may take as long.
func (w *want) sameInputs(v *want) bool {
	return w.patience == v.patience && w.cache.Strategy == v.cache.Strategy && w.dir == v.dir && slices.Equal(w.cache.InvalidateOn, v.cache.InvalidateOn)
}

// key is a hash of all that w has to run again for; "" when the inputs are not known yet.
func (w *want) key(l inputCheck) string {
	h := sha256.New()
	part := func(s string) { // hashed, so that parts cannot run into each other
		sum := sha256.Sum256([]byte(s))
		h.Write(sum[:])
	}
	part(w.entry)
	part(string(w.cache.Strategy))
	switch {
	case w.cache.Strategy == recipe.CacheTTL:
	case w.cache.Strategy == recipe.CacheFileHash && !l.unknowable:
		if l.fingerprint == "" && l.late {
			return ""
		}
		part("files")
		part(l.fingerprint)
	default:
		part("history")
		part(w.history)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// key is w's, where nobody had the time to look at its inputs the one that the source last ran
// for. outputs.mu is held.
func (st *output) key(w *want, l inputCheck) string {
	key := w.key(l)
	switch {
	case key != "":
	case st.job != nil && !st.job.off && st.job.want.entry == w.entry:
		return st.job.key
	case st.failed != nil && st.failed.entry == w.entry:
		return st.failed.key
	case st.good != nil && st.good.entry == w.entry:
		return st.good.key
	}
	return key
}
