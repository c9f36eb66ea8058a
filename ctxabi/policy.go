package ctxabi

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseBudget reads context/budget: one unsigned integer of tokens with blanks
// around it. ok is false for an empty file, which leaves the choice to the
// recipe or the mount. 0 means no limit. It returns ErrMalformed for anything else.
func ParseBudget(b []byte) (tokens int, ok bool, err error) {
	s := strings.TrimSpace(string(b))
	if s == "" {
		return 0, false, nil
	}
	n, perr := strconv.ParseUint(s, 10, 31)
	if perr != nil || s[0] == '+' {
		return 0, false, E("set", BudgetFile, ErrMalformed,
			"%.40q is not a number of tokens; write one unsigned integer, for example 32000", s)
	}
	return int(n), true, nil
}

// Policy is gc.policy with its defaults filled in.
type Policy struct {
	PackTTL      time.Duration
	SwapTTL      time.Duration
	DedupMinRefs int
	KeepMessages bool
	KeepEvents   bool
	ArchiveAfter time.Duration // 0: never
	DeleteAfter  time.Duration // 0: never
}

// DefaultPolicy is what an empty gc.policy means.
func DefaultPolicy() Policy {
	return Policy{PackTTL: 24 * time.Hour, SwapTTL: 30 * 24 * time.Hour, DedupMinRefs: 1, KeepMessages: true, KeepEvents: true}
}

// KeepPolicy returns the policy that removes nothing for its age.
func KeepPolicy() Policy {
	const century = 36500 * 24 * time.Hour
	return Policy{PackTTL: century, SwapTTL: century, DedupMinRefs: 1, KeepMessages: true, KeepEvents: true}
}

// HistoryKeys lists the keys of gc.policy in which p and q differ and that decide what becomes of history.
func (p Policy) HistoryKeys(q Policy) (keys []string) {
	for _, k := range []struct {
		name    string
		differs bool
	}{
		{"keep_messages", p.KeepMessages != q.KeepMessages}, {"keep_events", p.KeepEvents != q.KeepEvents},
		{"archive_after", p.ArchiveAfter != q.ArchiveAfter}, {"delete_after", p.DeleteAfter != q.DeleteAfter},
	} {
		if k.differs {
			keys = append(keys, k.name)
		}
	}
	return keys
}

// ParsePolicy reads KEY=VALUE lines; blank lines and # comments are allowed,
// an unknown key or a bad value is an error that names its line.
func ParsePolicy(b []byte) (Policy, error) { return DefaultPolicy().With(b) }

// With returns p changed by the lines b, which are those of [ParsePolicy]. It returns ErrMalformed with the number of
// the first wrong line.
func (p Policy) With(b []byte) (Policy, error) {
	for i, line := range strings.Split(string(b), "\n") {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		k, v, ok := strings.Cut(line, "=")
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		var err error
		switch {
		case !ok:
			return p, E("set", PolicyFile, ErrMalformed, "line %d: expected KEY=VALUE", i+1)
		case k == "pack_ttl":
			p.PackTTL, err = ParseDuration(v)
		case k == "swap_ttl":
			p.SwapTTL, err = ParseDuration(v)
		case k == "archive_after":
			p.ArchiveAfter, err = ParseDuration(v)
		case k == "delete_after":
			p.DeleteAfter, err = ParseDuration(v)
		case k == "dedup_min_refs":
			var n uint64
			n, err = strconv.ParseUint(v, 10, 31)
			p.DedupMinRefs = int(n)
		case k == "keep_messages":
			p.KeepMessages, err = parseSwitch(v)
		case k == "keep_events":
			p.KeepEvents, err = parseSwitch(v)
		default:
			return p, E("set", PolicyFile, ErrMalformed, "line %d: unknown key %.40q; known: pack_ttl swap_ttl dedup_min_refs keep_messages keep_events archive_after delete_after", i+1, k)
		}
		if err != nil {
			return p, E("set", PolicyFile, ErrMalformed, "line %d: bad value %.40q for %s", i+1, v, k)
		}
	}
	return p, nil
}

func parseSwitch(v string) (bool, error) {
	switch v {
	case "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, ErrMalformed
}

// ParseDuration reads Go's durations with the units d (24h) and w (7d) beside
// its own: "30d", "1w12h", "1.5h"; a bare 0 is allowed, a sign is not.
// It returns ErrMalformed, or the error of [time.ParseDuration], for anything else.
func ParseDuration(s string) (time.Duration, error) {
	const digits = "0123456789."
	if s == "0" {
		return 0, nil
	}
	var sum time.Duration
	for rest := s; rest != "" || s == ""; {
		number := rest[:len(rest)-len(strings.TrimLeft(rest, digits))]
		rest = rest[len(number):]
		unit := rest
		if i := strings.IndexAny(rest, digits); i >= 0 {
			unit = rest[:i]
		}
		rest = rest[len(unit):]
		days := map[string]float64{"d": 1, "w": 7}[unit]
		var d time.Duration
		var err error
		if days == 0 {
			d, err = time.ParseDuration(number + unit)
		} else {
			var f float64
			f, err = strconv.ParseFloat(number, 64)
			if f *= days * float64(24*time.Hour); f >= float64(math.MaxInt64) {
				err = ErrMalformed
			}
			d = time.Duration(f)
		}
		if err != nil || number == "" || d > math.MaxInt64-sum {
			return 0, ErrMalformed
		}
		sum += d
	}
	return sum, nil
}

// States are the values that the file state may hold.
var States = []string{"active", "idle", "done", "error", "cancelled"}

// ChildStates are the values that the file status of a child may hold.
var ChildStates = []string{"pending", "active", "done", "error", "cancelled"}
