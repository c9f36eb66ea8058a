package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/engine/enginetest"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

func TestFakeConformance(t *testing.T) {
	s := New()
	enginetest.Run(t, enginetest.Rig{
		Host:        func(_ testing.TB, name string, owners ...string) engine.Engine { return s.Host(name, owners...) },
		Maintenance: func(testing.TB) engine.Engine { return s.Maintenance() },
	})
}

// cluster is what the random tests act on: a journal with a writer on each host.
type cluster struct {
	servers *Servers
	hosts   []*Host
	writers []*enginetest.Writer
	subject engine.Subject
	history enginetest.History
	sent    int
}

// newCluster returns hosts that reach the servers through wrap.
func newCluster(wrap func(engine.Engine) engine.Engine) *cluster {
	c := &cluster{servers: New(), subject: engine.Subject{Owner: "u1000", Session: strings.Repeat("ab", 16)}}
	for _, name := range []string{"a", "b", "c"} {
		h := c.servers.Host(name)
		c.hosts = append(c.hosts, h)
		c.writers = append(c.writers, enginetest.NewWriter(wrap(h), c.subject, name))
	}
	return c
}

// actions are what may happen.
func (c *cluster) actions(t *rapid.T) map[string]func(*rapid.T) {
	host := rapid.IntRange(0, len(c.hosts)-1)
	return map[string]func(*rapid.T){
		"append": func(t *rapid.T) {
			c.sent++
			c.history.Do(context.Background(), c.writers[host.Draw(t, "host")], fmt.Sprint("r", c.sent))
		},
		"fault": func(t *rapid.T) {
			c.hosts[host.Draw(t, "host")].Inject(Fault(rapid.IntRange(0, Kinds-1).Draw(t, "fault")))
		},
		"land": func(*rapid.T) { c.servers.Land() },
		"cut":  func(t *rapid.T) { c.hosts[host.Draw(t, "host")].Cut() },
		"heal": func(t *rapid.T) { c.hosts[host.Draw(t, "host")].Heal() },
		"lead": func(t *rapid.T) {
			c.servers.Lead(c.subject.Shard(), rapid.IntRange(0, replicas-1).Draw(t, "replica"))
		},
		"fill": func(t *rapid.T) { c.servers.Fill(rapid.IntRange(0, 3).Draw(t, "full") == 0) },
	}
}

// settle ends all that is under way and returns what is wrong with the journal and with the views of the
// writers.
func (c *cluster) settle() (wrong []string) {
	ctx := context.Background()
	for _, h := range c.hosts {
		h.Heal()
	}
	c.servers.Land()
	keys, err := enginetest.Journal(ctx, c.servers.Host("reader"), c.subject)
	if err != nil {
		return []string{err.Error()}
	}
	wrong = c.history.Check(keys)
	for i, w := range c.writers {
		if err := w.CatchUp(ctx); err != nil {
			wrong = append(wrong, fmt.Sprintf("writer %d: %v", i, err))
		} else if !slices.Equal(w.Keys(), keys) {
			wrong = append(wrong, fmt.Sprintf("writer %d sees %q, and the journal has %q", i, w.Keys(), keys))
		}
	}
	return wrong
}

func TestRecordsStandOnceWhateverHappens(t *testing.T) {
	stored, refused, unknown := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(func(e engine.Engine) engine.Engine { return e })
		t.Repeat(c.actions(t))
		for _, w := range c.settle() {
			t.Error(w)
		}
		s, r, u := c.history.Counts()
		stored, refused, unknown = stored+s, refused+r, unknown+u
	})
	if stored < 100 || refused == 0 || unknown == 0 {
		t.Errorf("%d records were stored, %d refused, %d unknown: too few to say anything", stored, refused, unknown)
	}
}

// breach is an engine that breaks the contract in one way.
type breach struct {
	engine.Engine
	append func(e engine.Engine, ctx context.Context, s engine.Subject, expected uint64, id string, h engine.Header, p []byte) (uint64, error)
}

func (b breach) Append(ctx context.Context, s engine.Subject, expected uint64, id string, h engine.Header, p []byte) (uint64, error) {
	return b.append(b.Engine, ctx, s, expected, id, h, p)
}

func TestBreachesOfTheContractAreFound(t *testing.T) {
	for name, broken := range map[string]func(engine.Engine) engine.Engine{
		"an outcome that is unknown is reported as a refusal": func(e engine.Engine) engine.Engine {
			return breach{e, func(e engine.Engine, ctx context.Context, s engine.Subject, expected uint64, id string, h engine.Header, p []byte) (uint64, error) {
				seq, err := e.Append(ctx, s, expected, id, h, p)
				if errors.Is(err, engine.ErrUnknown) {
					err = engine.ErrUnreachable
				}
				return seq, err
			}}
		},
		"what is unknown is reported as stored": func(e engine.Engine) engine.Engine {
			return breach{e, func(e engine.Engine, ctx context.Context, s engine.Subject, expected uint64, id string, h engine.Header, p []byte) (uint64, error) {
				seq, err := e.Append(ctx, s, expected, id, h, p)
				if errors.Is(err, engine.ErrUnknown) {
					return expected + 1, nil
				}
				return seq, err
			}}
		},
		"the expected sequence is not looked at": func(e engine.Engine) engine.Engine {
			return breach{e, func(e engine.Engine, ctx context.Context, s engine.Subject, expected uint64, id string, h engine.Header, p []byte) (uint64, error) {
				if x, err := e.Last(ctx, s, true); err == nil {
					expected = x.Seq
				}
				return e.Append(ctx, s, expected, id, h, p)
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			rapid.Check(t, func(t *rapid.T) {
				c := newCluster(broken)
				t.Repeat(c.actions(t))
				found += len(c.settle())
			})
			if found == 0 {
				t.Error("nothing was found to be wrong")
			}
		})
	}
}

// What was acknowledged and is lost on all replicas or on one is found by the chain, by the writers, or
// by who attests.
func TestLossesAreFound(t *testing.T) {
	ctx := t.Context()
	for name, lose := range map[string]func(c *cluster, shard int){
		"the end, everywhere":   func(c *cluster, shard int) { c.servers.Truncate(shard, 2) },
		"a middle, of one":      func(c *cluster, shard int) { c.servers.Lose(shard, 1, 3) },
		"the end, of a leader":  func(c *cluster, shard int) { c.servers.Lose(shard, 2, 6); c.servers.Lead(shard, 2) },
		"the first, of one":     func(c *cluster, shard int) { c.servers.Lose(shard, 0, 1) },
		"all, of who leads now": func(c *cluster, shard int) { loseAll(c.servers, shard, 2); c.servers.Lead(shard, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(func(e engine.Engine) engine.Engine { return e })
			for i := range 6 {
				if err := c.history.Do(ctx, c.writers[0], fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			shard := c.subject.Shard()
			lose(c, shard)
			a, err := c.servers.Maintenance().Attest(ctx, shard)
			if err != nil {
				t.Fatal(err)
			}
			caught := c.writers[0].CatchUp(ctx)
			if a.Error() == nil && !errors.Is(caught, enginetest.ErrChain) && !errors.Is(caught, enginetest.ErrOlder) {
				t.Errorf("who attests says %v, who has read it says %v", a.Error(), caught)
			}
		})
	}
}

func loseAll(s *Servers, shard, replica int) {
	for seq := range s.shards[shard].last {
		s.Lose(shard, replica, seq+1)
	}
}

// A follower has what is appended in its order, though the feed loses, doubles and swaps it, when it
// reads where the feed has a gap and asks the leader at the end.
func TestAFollowerSeesTheOrder(t *testing.T) {
	offered, gaps := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(func(e engine.Engine) engine.Engine { return e })
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		follower := c.servers.Host("follower")
		feed, err := follower.Follow(ctx, c.subject)
		if err != nil {
			t.Fatal(err)
		}
		w := enginetest.NewWriter(follower, c.subject, "follower")
		drain := func() {
			for {
				select {
				case e := <-feed.Entries:
					offered++
					if w.Offer(e) {
						gaps++
						if err := w.CatchUp(ctx); err != nil && !errors.Is(err, engine.ErrUnreachable) {
							t.Fatal(err)
						}
					}
				default:
					return
				}
			}
		}
		actions := c.actions(t)
		actions["follow"] = func(*rapid.T) { drain() }
		actions["breach"] = func(t *rapid.T) {
			follower.Inject(Fault(rapid.IntRange(int(StaleRead), Kinds-1).Draw(t, "fault")))
		}
		actions["cut the follower"] = func(*rapid.T) { follower.Cut() }
		actions["heal the follower"] = func(*rapid.T) { follower.Heal() }
		t.Repeat(actions)
		for _, wrong := range c.settle() {
			t.Error(wrong)
		}
		follower.Heal()
		drain()
		if err := w.CatchUp(ctx); err != nil {
			t.Error(err)
		}
		if want := c.writers[0].Keys(); !slices.Equal(w.Keys(), want) {
			t.Errorf("the follower sees %q, want %q", w.Keys(), want)
		}
	})
	if offered < 50 || gaps == 0 {
		t.Errorf("%d entries came with %d gaps: too few to say anything", offered, gaps)
	}
}

// Two hosts that both want to know what became of a delayed entry, and the entry itself: one place.
func TestAFenceAgainstADelayedEntry(t *testing.T) {
	ctx := t.Context()
	s := engine.Subject{Owner: "u1000", Session: strings.Repeat("0f", 16)}
	for _, entryFirst := range []bool{false, true} {
		servers := New()
		h := servers.Host("a")
		h.Inject(Delay)
		if _, err := h.Append(ctx, s, 0, "entry", nil, []byte("entry")); !errors.Is(err, engine.ErrUnknown) || engine.Settled(err) {
			t.Fatal(err)
		}
		if entryFirst {
			servers.Land()
		}
		seq, err := h.Append(ctx, s, 0, "fence", nil, nil)
		servers.Land()
		list, _ := h.Read(ctx, s, engine.Range{Leader: true})
		if len(list) != 1 {
			t.Fatalf("%d entries", len(list))
		}
		c, conflict := errors.AsType[*engine.Conflict](err)
		if want := map[bool]string{true: "entry", false: "fence"}[entryFirst]; list[0].ID != want || conflict != entryFirst || !conflict && seq != list[0].Seq || conflict && c.Last != list[0].Seq {
			t.Errorf("%q stands there, want %q; the fence: %d, %v", list[0].ID, want, seq, err)
		}
	}
}
