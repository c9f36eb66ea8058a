package history

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// honestRegister returns the history of a setting as an honest store shows it.
func honestRegister(t *rapid.T) (*register, []made) {
	writes := honest(t, false)
	order := effects(writes)
	r := &register{finals: map[string]string{}}
	for _, w := range writes {
		r.writes = append(r.writes, w.Write)
	}
	now, shown := time.Duration(0), map[string]int{} // how many values a host knows of
	for range rapid.IntRange(0, 30).Draw(t, "looks") {
		now += time.Duration(rapid.IntRange(1, 30).Draw(t, "pause"))
		s := Sight{Host: rapid.SampledFrom(hosts).Draw(t, "host"), Began: now}
		now += time.Duration(rapid.IntRange(1, 30).Draw(t, "takes"))
		s.Ended = now
		least, most := shown[s.Host], 0
		for i, w := range order {
			if w.at <= s.Ended {
				most = i + 1
			}
			if w.Host == s.Host && w.Result == Stored && w.Ended < s.Began {
				least = max(least, i+1)
			}
		}
		shown[s.Host] = rapid.IntRange(least, max(least, most)).Draw(t, "shown")
		if shown[s.Host] > 0 {
			s.ID = order[shown[s.Host]-1].ID
		}
		r.sights = append(r.sights, s)
	}
	for _, h := range hosts {
		r.finals[h] = ""
		if len(order) > 0 {
			r.finals[h] = order[len(order)-1].ID
		}
	}
	return r, writes
}

func TestAnHonestSettingIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := honestRegister(t)
		if wrong := r.check("setting"); len(wrong) > 0 {
			t.Fatalf("%v", wrong)
		}
	})
}

var faultsOfSettings = map[string]struct {
	kind  string
	plant func(r *register, writes []made) bool
}{
	"an earlier value comes back": {"cycle", func(r *register, writes []made) bool {
		order := effects(writes)
		if len(order) < 2 {
			return false
		}
		a, b := order[0], order[len(order)-1]
		if a.Ended >= b.Began {
			return false
		}
		end := b.Ended + 100
		r.sights = append(r.sights, Sight{"a", end, end + 1, b.ID}, Sight{"a", end + 2, end + 3, a.ID})
		return a.Result == Stored || slices.ContainsFunc(r.sights, func(s Sight) bool { return s.ID == a.ID && s.Ended < b.Began })
	}},
	"two hosts see two orders": {"cycle", func(r *register, writes []made) bool {
		order := effects(writes)
		if len(order) < 2 {
			return false
		}
		r.sights = nil
		for i, h := range []string{"a", "b"} {
			for j := range 2 {
				now := order[len(order)-1].Ended + time.Duration(10*j+1000)
				r.sights = append(r.sights, Sight{h, now, now + 1, order[(i+j)%2].ID})
			}
		}
		return true
	}},
	"the last value is lost": {"cycle", func(r *register, writes []made) bool {
		order := effects(writes)
		for _, a := range order {
			b := order[len(order)-1]
			if b.Result == Stored && a.Result == Stored && a.Ended < b.Began {
				for _, h := range hosts {
					r.finals[h] = a.ID
				}
				return true
			}
		}
		return false
	}},
	"what was acknowledged here is not shown": {"cycle", func(r *register, writes []made) bool {
		for _, w := range writes {
			if w.Result == Stored {
				r.sights = append(r.sights, Sight{w.Host, w.Ended + 1, w.Ended + 2, ""})
				return true
			}
		}
		return false
	}},
	"a refused value is shown": {"refused", func(r *register, writes []made) bool {
		for _, w := range writes {
			if w.Result == Refused {
				r.sights = append(r.sights, Sight{"b", w.Ended + 1, w.Ended + 2, w.ID})
				return true
			}
		}
		return false
	}},
	"a value comes from nowhere": {"foreign", func(r *register, _ []made) bool {
		r.sights = append(r.sights, Sight{"b", 1, 2, "nobody's"})
		return true
	}},
	"a value is shown before it was sent": {"early", func(r *register, writes []made) bool {
		for _, w := range writes {
			if w.there {
				r.sights = append(r.sights, Sight{"b", w.Began - 1, w.Began - 1, w.ID})
				return true
			}
		}
		return false
	}},
	"hosts end with different values": {"differs", func(r *register, _ []made) bool {
		r.finals["c"] += "x"
		return true
	}},
}

func TestFaultsOfSettingsAreFound(t *testing.T) {
	for name, fault := range faultsOfSettings {
		t.Run(name, func(t *testing.T) {
			planted := 0
			rapid.Check(t, func(t *rapid.T) {
				r, writes := honestRegister(t)
				if !fault.plant(r, writes) {
					return
				}
				planted++
				wrong := r.check("setting")
				if !slices.ContainsFunc(wrong, func(p Problem) bool { return p.Kind == fault.kind }) {
					t.Fatalf("found %v", wrong)
				}
			})
			if planted < 20 {
				t.Errorf("planted %d times alone", planted)
			}
		})
	}
}
