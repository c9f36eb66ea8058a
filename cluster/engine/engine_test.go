package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The shard of a session is part of the format: a host that computes another one finds nothing.
func TestShardsStay(t *testing.T) {
	for session, want := range map[string]int{
		strings.Repeat("0", 32):            4,
		strings.Repeat("f", 32):            5,
		"0123456789abcdef0123456789abcdef": 14,
		"":                                 OwnerShard,
	} {
		for _, owner := range []string{"u0", "sv0"} {
			if got := (Subject{owner, session}).Shard(); got != want {
				t.Errorf("%q is in shard %d, want %d", session, got, want)
			}
		}
	}
	var seen [Shards]int
	for i := range 16000 {
		seen[Subject{"u0", fmt.Sprintf("%032x", i)}.Shard()]++
	}
	for i, n := range seen {
		if n < 800 || n > 1200 {
			t.Errorf("%d of 16,000 sessions are in shard %d", n, i)
		}
	}
}

func TestProblemsOfReplicas(t *testing.T) {
	whole := Replica{"n1", 5, 14, 8, 2, 0}
	with := func(f func(*Replica)) Replica { r := whole; f(&r); return r }
	for _, c := range []struct {
		name  string
		other Replica
		wants string
	}{
		{"equal", whole, ""},
		{"behind", with(func(r *Replica) { r.Last, r.Entries = 13, 7 }), ""},
		{"a gap more", with(func(r *Replica) { r.Deleted, r.Entries = 5, 5 }), "begins at 5 with 5 gaps"},
		{"begins later", with(func(r *Replica) { r.First, r.Entries, r.Deleted = 6, 7, 2 }), "begins at 6"},
		{"does not add up", with(func(r *Replica) { r.Entries = 7 }), "7 entries and 2 gaps between 5 and 14"},
		{"knows of a loss", with(func(r *Replica) { r.Lost = 3 }), "has lost 3"},
	} {
		c.other.Server = "n2"
		a := Attestation{Shard: 3, Replicas: []Replica{whole, c.other}, Wanted: 2}
		got := strings.Join(a.Problems(), "; ")
		if c.wants == "" && got != "" || !strings.Contains(got, c.wants) {
			t.Errorf("%s: %q, want %q", c.name, got, c.wants)
		}
		if err := a.Error(); (err == nil) != (c.wants == "") || err != nil && !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", c.name, err)
		}
		a.Wanted = 3
		if !strings.Contains(strings.Join(a.Problems(), "; "), "2 of 3 replicas answer") {
			t.Errorf("%s: %q does not name the missing replica", c.name, a.Problems())
		}
	}
	if p := (Attestation{Replicas: []Replica{{"n1", 1, 0, 0, 0, 0}, {"n2", 1, 0, 0, 0, 0}}, Wanted: 2}).Problems(); p != nil {
		t.Errorf("empty replicas have %q", p)
	}
}

func TestSettled(t *testing.T) {
	for _, err := range []error{&Conflict{3}, fmt.Errorf("x: %w", &Conflict{}), ErrBusy, fmt.Errorf("%w: why", ErrUnreachable), ErrIDTaken, ErrFull, ErrDenied, ErrGone} {
		if !Settled(err) {
			t.Errorf("%v is not settled", err)
		}
	}
	for _, err := range []error{nil, ErrUnknown, fmt.Errorf("%w: why", ErrUnknown), errors.New("anything")} {
		if Settled(err) {
			t.Errorf("%v is settled", err)
		}
	}
}
