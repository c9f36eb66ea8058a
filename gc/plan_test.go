package gc

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

const day = 24 * time.Hour

var aBlob = "context/dedup/blob/" + ctxabi.ContentID([]byte("a"))

// What each rule lets go, and what it says of what stays.
func TestRules(t *testing.T) {
	id := ctxabi.ContentID([]byte("a"))
	both := "keep_messages=0\nkeep_events=0\n"
	for _, c := range []struct {
		policy string
		it     Item
		age    time.Duration
		set    func(*fakeSession)
		says   string // of what goes "go: " and the reason
	}{
		{"", Item{Kind: Memory}, day - 1, nil, "used 23h59m ago, pack_ttl=1d"},
		{"", Item{Kind: Memory}, day, nil, "go: not used for 1d, pack_ttl=1d"},
		{"pack_ttl=0", Item{Kind: Memory}, 1000 * day, nil, "pack_ttl=0"},
		{"", Item{Kind: Cache}, 30*day - 1, nil, "used 29d23h ago, swap_ttl=30d"},
		{"", Item{Kind: Cache}, 30 * day, nil, "go: not used for 30d, swap_ttl=30d"},
		{"", Item{Kind: Cache, Why: "it is all there is"}, 30 * day, nil, "it is all there is"},
		{"swap_ttl=0", Item{Kind: Cache}, 1000 * day, nil, "swap_ttl=0"},
		{"swap_ttl=1ns", Item{Kind: Quarantine}, 30*day - 1, nil, "used 29d23h ago, quarantine=30d"},
		{"swap_ttl=0", Item{Kind: Quarantine}, 30 * day, nil, "go: not used for 30d, quarantine=30d"},

		{"", Item{Kind: Blob, Path: aBlob}, 29 * day, nil, "used 29d ago, swap_ttl=30d"},
		{"", Item{Kind: Blob, Path: aBlob}, 31 * day, nil, "go: not used for 31d, swap_ttl=30d, nothing names it"},
		{"dedup_min_refs=0", Item{Kind: Blob, Path: aBlob}, 31 * day, nil, "dedup_min_refs=0"},
		{"swap_ttl=0", Item{Kind: Blob, Path: aBlob}, 1000 * day, nil, "swap_ttl=0"},
		{"", Item{Kind: Blob, Path: aBlob}, 31 * day, func(x *fakeSession) { x.names[id] = Named{4, []string{"messages:2", "a pack"}} }, "named by messages:2, a pack and 2 more"},
		{"dedup_min_refs=2", Item{Kind: Blob, Path: aBlob}, 31 * day, func(x *fakeSession) { x.names[id] = Named{1, []string{"messages:2"}} },
			"go: not used for 31d, swap_ttl=30d, named 1 times, dedup_min_refs=2"},
		{"", Item{Kind: Blob, Path: aBlob}, 31 * day, func(x *fakeSession) { x.open[aBlob] = 1 }, "open in one handle"},

		{"", Item{Kind: Log, Path: ctxabi.MessagesFile, Size: 9}, 1000 * day, nil, "keep_messages=1"},
		{"archive_after=1d", Item{Kind: Log, Path: ctxabi.EventsFile, Size: 9}, 1000 * day, nil, "keep_events=1"},
		{"keep_messages=0", Item{Kind: Log, Path: ctxabi.MessagesFile, Size: 9}, 1000 * day, nil, "archive_after=0"},
		{"keep_messages=0\narchive_after=2d", Item{Kind: Log, Path: ctxabi.MessagesFile, Size: 9}, day, nil, "used 1d ago, archive_after=2d"},
		{"keep_messages=0\narchive_after=2d", Item{Kind: Log, Path: ctxabi.MessagesFile, Size: 9}, 2 * day, nil, "go: not used for 2d, archive_after=2d"},
		{"keep_messages=0\narchive_after=2d", Item{Kind: Log, Path: ctxabi.EventsFile, Size: 9}, 2 * day, nil, "keep_events=1"},
		{"keep_messages=0\narchive_after=2d", Item{Kind: Log, Path: ctxabi.MessagesFile}, 2 * day, nil, "all of it is archived"},

		{"", Item{Kind: Whole}, 1000 * day, nil, "delete_after=0"},
		{both, Item{Kind: Whole}, 1000 * day, nil, "delete_after=0"},
		{"delete_after=9d", Item{Kind: Whole}, 1000 * day, nil, "keep_messages=1, keep_events=1"},
		{"delete_after=9d\nkeep_events=0", Item{Kind: Whole}, 1000 * day, nil, "keep_messages=1"},
		{"delete_after=9d\nkeep_messages=0", Item{Kind: Whole}, 1000 * day, nil, "keep_events=1"},
		{both + "delete_after=9d", Item{Kind: Whole}, 8 * day, nil, "used 8d ago, delete_after=9d"},
		{both + "delete_after=9d", Item{Kind: Whole}, 9 * day, nil, "go: not used for 9d, delete_after=9d"},
		{both + "delete_after=9d", Item{Kind: Whole}, 9 * day, func(x *fakeSession) { x.open[""] = 3 }, "open in 3 handles"},
		{both + "delete_after=9d", Item{Kind: Whole}, 9 * day, func(x *fakeSession) { x.parents = []string{"lead/plan"} }, "a child of lead/plan"},
	} {
		s := newFakeStore(1)
		x := s.sessions[s.refs[0]]
		var err error
		if x.policy, err = ctxabi.ParsePolicy([]byte(c.policy)); err != nil {
			t.Fatal(err)
		}
		c.it.Used = s.now.Add(-c.age)
		x.items, x.names = []Item{c.it}, map[string]Named{}
		if c.set != nil {
			c.set(x)
		}
		p, err := MakePlan(context.Background(), x, s.now)
		if err != nil {
			t.Fatal(err)
		}
		says := ""
		for _, it := range p.Go {
			says += "go: " + it.Reason
		}
		for _, it := range p.Stay {
			says += it.Reason
		}
		if says != c.says {
			t.Errorf("%q, a %s of %s: %q, want %q", c.policy, c.it.Kind, c.age, says, c.says)
		}
		// Whatever a plan says of an item, the last look says, too.
		if ok, err := stillGoes(context.Background(), x, s.now, c.it); err != nil || ok != strings.HasPrefix(c.says, "go: ") {
			t.Errorf("%q, a %s of %s: the last look says %v (%v)", c.policy, c.it.Kind, c.age, ok, err)
		}
	}
}

func TestPacksGoFromTheOldestOn(t *testing.T) {
	s := newFakeStore(1)
	x := s.sessions[s.refs[0]]
	at := func(age time.Duration) time.Time { return s.now.Add(-age) }
	rows := []Pack{{"a", at(3 * day)}, {"b", at(2 * day)}, {"a", at(2 * day)}, {"c", at(day)}, {"d", at(day - 1)}}
	for _, c := range []struct {
		open string
		left string
	}{{"", "d"}, {"d", "d"}, {"c", "cd"}, {"b", "bacd"}, {"a", "abacd"}} {
		x.packs, x.open = rows, map[string]int{ctxabi.ServedDir + "/" + c.open + ".md": 1}
		p, err := MakePlan(context.Background(), x, s.now)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Go) > 0 {
			x.DropPacks(p.before)
		}
		left := ""
		for _, r := range x.packs {
			left += r.ID
		}
		if left != c.left {
			t.Errorf("while %q is open %q is left, want %q", c.open, left, c.left)
		}
	}
	// Of two rows at one moment the second is open: the first cannot be told from it, and stays.
	x.packs = []Pack{{"a", at(3 * day)}, {"b", at(2 * day)}, {"c", at(2 * day)}}
	x.open = map[string]int{ctxabi.ServedDir + "/c.md": 1}
	if p, err := MakePlan(context.Background(), x, s.now); err != nil || !p.before.After(at(3*day)) || p.before.After(at(2*day)) {
		t.Errorf("rows before %v go (%v)", p.before, err)
	}
}
