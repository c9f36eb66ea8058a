package history

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// honestList returns the history of a log that has all that an honest store shows.
func honestList(t *rapid.T) (*list, []made) {
	writes := honest(t, true)
	keys, at := keysOf(effects(writes))
	l := &list{finals: map[string][]string{}}
	for _, w := range writes {
		l.writes = append(l.writes, w.Write)
	}
	now := time.Duration(0)
	for range rapid.IntRange(0, 30).Draw(t, "looks") {
		now += time.Duration(rapid.IntRange(1, 30).Draw(t, "pause"))
		r := Look{Host: rapid.SampledFrom(hosts).Draw(t, "host"), Began: now, Ended: now + time.Duration(rapid.IntRange(1, 30).Draw(t, "takes"))}
		least, most := 0, 0
		for _, before := range l.looks {
			if before.Host == r.Host && before.Ended < r.Began {
				least = max(least, before.Len)
			}
		}
		for i := range keys {
			if at[i] <= r.Ended {
				most = i + 1
			}
		}
		for _, w := range writes {
			if w.Host == r.Host && w.Result == Stored && w.Ended < r.Began {
				least = max(least, slices.Index(keys, Key(w.ID, w.parts()-1))+1)
			}
		}
		r.Prefix = prefix(keys[:rapid.IntRange(least, most).Draw(t, "shown")])
		l.looks = append(l.looks, r)
	}
	for _, h := range hosts {
		l.finals[h] = slices.Clone(keys)
	}
	return l, writes
}

func TestAnHonestLogIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := honestList(t)
		if wrong := l.check("log"); len(wrong) > 0 {
			t.Fatalf("%v", wrong)
		}
	})
}

// plant changes a history as a fault would. It returns false where this history has no place for it.
type plant func(t *rapid.T, l *list, writes []made) bool

// all replaces what every host has at the end, and what hosts have shown becomes part of that.
func (l *list) all(keys []string) {
	for _, h := range hosts {
		l.finals[h] = slices.Clone(keys)
	}
	l.looks = nil
}

var faultsOfLogs = map[string]plant{
	"lost": func(t *rapid.T, l *list, writes []made) bool {
		keys := l.finals["a"]
		for _, w := range writes {
			if w.Result == Stored {
				i := slices.Index(keys, Key(w.ID, 0))
				l.all(slices.Delete(slices.Clone(keys), i, i+w.parts()))
				return true
			}
		}
		return false
	},
	"refused": func(t *rapid.T, l *list, writes []made) bool {
		for _, w := range writes {
			if w.Result == Refused {
				k, _ := keysOf([]made{w})
				l.all(append(slices.Clone(l.finals["a"]), k...))
				return true
			}
		}
		return false
	},
	"doubled": func(t *rapid.T, l *list, _ []made) bool {
		keys := l.finals["a"]
		if len(keys) > 0 {
			l.all(append(slices.Clone(keys), rapid.SampledFrom(keys).Draw(t, "which")))
		}
		return len(keys) > 0
	},
	"foreign": func(t *rapid.T, l *list, _ []made) bool {
		l.all(slices.Insert(slices.Clone(l.finals["a"]), 0, "nobody's.0"))
		return true
	},
	"torn": func(t *rapid.T, l *list, writes []made) bool {
		keys := slices.Clone(l.finals["a"])
		for _, w := range writes {
			if w.there && w.parts() > 1 && len(keys) > w.parts() {
				i := slices.Index(keys, Key(w.ID, 0))
				j := i + w.parts() // the one behind it, or the one before
				if j < len(keys) {
					keys[j-1], keys[j] = keys[j], keys[j-1]
				} else {
					keys[i-1], keys[i] = keys[i], keys[i-1]
				}
				l.all(keys)
				return true
			}
		}
		return false
	},
	"order": func(t *rapid.T, l *list, writes []made) bool {
		order := effects(writes)
		for i, a := range order {
			for j, b := range order {
				if a.Result == Stored && a.Ended < b.Began {
					order[i], order[j] = b, a
					keys, _ := keysOf(order)
					l.all(keys)
					return true
				}
			}
		}
		return false
	},
	"prefix": func(t *rapid.T, l *list, _ []made) bool {
		for i := range l.looks {
			if l.looks[i].Len > 0 {
				l.looks[i].Sum++
				return true
			}
		}
		return false
	},
	"backwards": func(t *rapid.T, l *list, _ []made) bool {
		for _, r := range l.looks {
			if r.Len > 0 {
				l.looks = append(l.looks, Look{Host: r.Host, Began: r.Ended + 1, Ended: r.Ended + 2, Prefix: prefix(l.finals["a"][:r.Len-1])})
				for i := range l.writes { // nobody was acknowledged here
					l.writes[i].Host = "elsewhere"
				}
				return true
			}
		}
		return false
	},
	"own": func(t *rapid.T, l *list, writes []made) bool {
		l.looks = nil
		for _, w := range writes {
			if w.Result == Stored {
				i := slices.Index(l.finals["a"], Key(w.ID, w.parts()-1))
				l.looks = append(l.looks, Look{Host: w.Host, Began: w.Ended + 1, Ended: w.Ended + 2, Prefix: prefix(l.finals["a"][:i])})
				return true
			}
		}
		return false
	},
	"early": func(t *rapid.T, l *list, writes []made) bool {
		for _, w := range writes {
			if w.there && w.Began > 0 {
				i := slices.Index(l.finals["a"], Key(w.ID, 0))
				l.looks = []Look{{Host: w.Host, Began: w.Began - 1, Ended: w.Began - 1, Prefix: prefix(l.finals["a"][:i+1])}}
				return true
			}
		}
		return false
	},
	"differs": func(t *rapid.T, l *list, _ []made) bool {
		l.finals["b"] = append(l.finals["b"], "w0.0")
		return true
	},
}

// TestFaultsOfLogsAreFound plants one fault of each kind into histories of an honest store.
func TestFaultsOfLogsAreFound(t *testing.T) {
	for kind, plant := range faultsOfLogs {
		t.Run(kind, func(t *testing.T) {
			planted := 0
			rapid.Check(t, func(t *rapid.T) {
				l, writes := honestList(t)
				if !plant(t, l, writes) {
					return
				}
				planted++
				wrong := l.check("log")
				if !slices.ContainsFunc(wrong, func(p Problem) bool { return p.Kind == kind }) {
					t.Fatalf("found %v", wrong)
				}
			})
			if planted < 20 {
				t.Errorf("planted %d times alone", planted)
			}
		})
	}
}
