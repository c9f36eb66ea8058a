package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/cluster/history"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// finish ends the programs and returns when none runs.
func (l *load) finish(t *testing.T) {
	t.Helper()
	l.stop()
	ended := make(chan struct{})
	go func() { l.all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(harness.Patience):
		t.Fatal("programs hang in calls on the mounts")
	}
}

// goesOn waits until every host has had new writes acknowledged.
func (l *load) goesOn(t *testing.T) {
	t.Helper()
	from := map[string]int64{}
	for _, m := range l.f.hosts {
		from[m.Name] = m.acked.Load()
	}
	for _, m := range l.f.hosts {
		harness.Eventually(t, m.Name+" to append again", func() bool { return m.acked.Load() >= from[m.Name]+5 })
	}
}

// seal has each host append one more record to each log that it writes to: it ends all that was unknown.
func (l *load) seal(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for _, w := range l.sessions {
		for _, m := range w.hosts {
			all.Go(func() {
				for _, log := range logNames {
					harness.Eventually(t, m.Name+" to append once more to "+w.name, func() bool {
						f, err := os.OpenFile(filepath.Join(m.dir(w.name), log), os.O_WRONLY|os.O_APPEND, 0)
						if err != nil {
							return false
						}
						defer f.Close()
						x := history.Write{ID: fmt.Sprint(m.Name, l.ids.Add(1)), Host: m.Name, Began: l.h.Now()}
						_, err = f.WriteString(record(log, history.Key(x.ID, 0)))
						x.Ended = l.h.Now()
						x.Result = l.outcome(err, "the last write")
						w.logs[log].Wrote(x)
						return err == nil
					})
				}
			})
		}
	}
	all.Wait()
}

// hold notes what all hosts have in the end, once they have the same.
func (l *load) hold(t *testing.T) {
	t.Helper()
	for _, w := range l.sessions {
		for _, log := range logNames {
			content := make([][]byte, len(l.f.hosts))
			same := func() bool {
				for i, m := range l.f.hosts {
					b, err := os.ReadFile(filepath.Join(m.dir(w.name), log))
					if content[i] = b; err != nil {
						return false
					}
				}
				return !slices.ContainsFunc(content, func(b []byte) bool { return !bytes.Equal(b, content[0]) })
			}
			l.patient(t, same) // if they never are, the checker says so
			for i, m := range l.f.hosts {
				var keys []string
				for line := range bytes.Lines(content[i]) {
					keys = append(keys, keyOf(string(line)))
				}
				w.logs[log].Final(m.Name, keys)
			}
		}
		values := make([]string, len(l.f.hosts))
		l.patient(t, func() bool {
			for i, m := range l.f.hosts {
				id, err := setting(m.dir(w.name))
				if values[i] = id; err != nil {
					values[i] = err.Error()
				}
			}
			return !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
		})
		for i, m := range l.f.hosts {
			w.setting.Final(m.Name, values[i])
		}
		l.samePacks(t, w)
	}
	l.sameNames(t)
}

// patient waits until so returns true, or for as long as anything may take.
func (l *load) patient(t *testing.T, so func() bool) bool {
	for end := time.Now().Add(harness.Patience / 2); !so(); {
		if time.Now().After(end) || !pause(t.Context(), 50*time.Millisecond) {
			return false
		}
	}
	return true
}

// samePacks notes if hosts make different packs of a session.
func (l *load) samePacks(t *testing.T, w *work) {
	ids := make([]string, len(l.f.hosts))
	if !l.patient(t, func() bool {
		for i, m := range l.f.hosts {
			var pack struct {
				ID string `json:"pack_id"`
			}
			b, err := os.ReadFile(filepath.Join(m.dir(w.name), ctxabi.PackJSONFile))
			if err == nil {
				err = json.Unmarshal(b, &pack)
			}
			if ids[i] = pack.ID; err != nil {
				ids[i] = err.Error()
			}
		}
		return ids[0] != "" && !slices.ContainsFunc(ids, func(id string) bool { return id != ids[0] })
	}) {
		l.strange("packs of %s differ: %q", w.name, ids)
	}
}

// sameNames notes if hosts have different sessions, or if one is not there that was made.
func (l *load) sameNames(t *testing.T) {
	names := make([]string, len(l.f.hosts))
	if !l.patient(t, func() bool {
		for i, m := range l.f.hosts {
			list, err := os.ReadDir(filepath.Dir(m.dir("x")))
			if err != nil {
				return false
			}
			names[i] = ""
			for _, e := range list {
				names[i] += e.Name() + " "
			}
		}
		return !slices.ContainsFunc(names, func(n string) bool { return n != names[0] })
	}) {
		l.strange("hosts have different sessions: %q", names)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, made := range l.made {
		if made && !slices.Contains(strings.Fields(names[0]), name) {
			l.odd["the session "+name+" was made and is not there"]++
		}
	}
}

// verify ends the mounts in order and has ctxfs verify look at each store. It returns what that finds.
func (f *fleet) verify(t *testing.T) (found []string) {
	t.Helper()
	for _, h := range f.hosts {
		h.Stop()
		if out, err := exec.Command(harness.Binary(t), "verify", "--store", h.Store).CombinedOutput(); err != nil {
			found = append(found, fmt.Sprintf("the store of %s: %v: %s", h.Name, err, out))
		}
	}
	return found
}

// agree waits until all replicas of all shards have the same, and returns what is wrong if they never do.
func (b *breaker) agree(l *load) (wrong []string) {
	for shard := range engine.OwnerShard + 1 {
		var a engine.Attestation
		var err error
		if !l.patient(b.t, func() bool {
			a, err = b.m.Attest(b.t.Context(), shard)
			return err == nil && a.Error() == nil && !slices.ContainsFunc(a.Replicas, func(r engine.Replica) bool { return r.Last != a.Replicas[0].Last })
		}) {
			wrong = append(wrong, fmt.Sprintf("the replicas of shard %d differ: %+v, %v", shard, a, err))
		}
	}
	return wrong
}
