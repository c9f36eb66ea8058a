package enginetest

import (
	"context"
	"slices"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

func ranges(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	list := fill(t, ctx, e, s, 30)
	if _, err := ReadAll(ctx, e, s, 0); err != nil { // from here on, some replica has all of them
		t.Fatal(err)
	}
	for _, leader := range []bool{true, false} {
		for _, c := range []struct {
			r        engine.Range
			from, to int
		}{
			{engine.Range{}, 0, 30},
			{engine.Range{From: list[29].Seq}, 29, 30},
			{engine.Range{From: list[29].Seq + 1}, 30, 30},
			{engine.Range{From: list[3].Seq, Count: 4}, 3, 7},
			{engine.Range{From: list[3].Seq + 1, Count: 1}, 4, 5},
			{engine.Range{From: list[10].Seq, Bytes: 1}, 10, 11},
		} {
			c.r.Leader = leader
			got, err := e.Read(ctx, s, c.r)
			if err != nil {
				t.Fatal(err)
			}
			if leader {
				wantEntries(t, got, list[c.from:c.to])
				continue
			}
			if len(got) > c.to-c.from { // a replica may have fewer, but then it has the first ones
				t.Fatalf("%+v: %d entries, want %d at most", c.r, len(got), c.to-c.from)
			}
			wantEntries(t, got, list[c.from:c.from+len(got)])
		}
	}
	big := NewSession("u1000")
	last := uint64(0)
	for range 5 {
		seq, err := Append(ctx, e, big, last, newID(), nil, body(200<<10))
		if err != nil {
			t.Fatal(err)
		}
		last = seq
	}
	got, err := e.Read(ctx, big, engine.Range{Bytes: 500 << 10, Leader: true})
	if err != nil || len(got) != 3 {
		t.Errorf("500 KiB are in %d entries of 200 KiB, %v; want 3", len(got), err)
	}
	if got, err := e.Read(ctx, NewSession("u1000"), engine.Range{}); err != nil || len(got) != 0 {
		t.Errorf("an empty subject has %d entries, %v", len(got), err)
	}
}

func theLeaderKnows(t *testing.T, r Rig) {
	ctx, a, b := deadline(t), r.Host(t, "a"), r.Host(t, "b")
	s := NewSession("u1000")
	if end, err := b.Last(ctx, s, true); err != nil || end.Seq != 0 {
		t.Errorf("an empty subject ends at %d, %v", end.Seq, err)
	}
	last, hint := uint64(0), uint64(0)
	for range 50 {
		seq, err := Append(ctx, a, s, last, newID(), engine.Header{"Ctx-I": "1"}, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		last = seq
		end, err := b.Last(ctx, s, true)
		if err != nil || end.Seq != seq || string(end.Payload) != "x" || end.Header["Ctx-I"] != "1" || end.ID == "" {
			t.Fatalf("the leader has %+v, %v, and %d was acknowledged", end, err, seq)
		}
		old, err := b.Last(ctx, s, false)
		if err != nil || old.Seq > seq {
			t.Fatalf("a replica has %d, %v, and the end is %d", old.Seq, err, seq)
		}
		hint = max(hint, old.Seq)
	}
	if hint == 0 {
		t.Error("no replica ever had an entry")
	}
}

func feeds(t *testing.T, r Rig) {
	ctx, a, b := deadline(t), r.Host(t, "a"), r.Host(t, "b")
	s := NewSession("u1000")
	other := engine.Subject{Owner: "u1001", Session: s.Session}
	before := fill(t, ctx, a, s, 2)
	following, stop := context.WithCancel(ctx)
	feed, err := b.Follow(following, s)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, ctx, a, other, 2)
	last := before[1].Seq
	want := []engine.Entry{}
	for i := range 40 {
		x := engine.Entry{ID: newID(), Header: engine.Header{"Ctx-I": "7"}, Payload: body(10 * i)}
		seq, err := Append(ctx, a, s, last, x.ID, x.Header, x.Payload)
		if err != nil {
			t.Fatal(err)
		}
		x.Seq, x.Prev, last = seq, last, seq
		want = append(want, x)
	}
	got := map[uint64]engine.Entry{}
	for lost := false; len(got) < len(want) && !lost; {
		select {
		case x, ok := <-feed.Entries:
			if !ok {
				t.Fatal("the feed has ended")
			}
			got[x.Seq] = x
		case <-feed.Lost: // allowed: the follower reads the journal then
			lost = true
		case <-ctx.Done():
			t.Fatalf("%d of %d entries came", len(got), len(want))
		}
	}
	for seq, x := range got {
		i := slices.IndexFunc(want, func(w engine.Entry) bool { return w.Seq == seq })
		if i < 0 || !want[i].Same(x) || want[i].Prev != x.Prev {
			t.Errorf("%d behind %d was never appended so", seq, x.Prev)
		}
	}
	if len(got) == 0 {
		t.Error("nothing was delivered")
	}
	stop()
	for open := true; open; {
		select {
		case _, open = <-feed.Entries:
		case <-ctx.Done():
			t.Fatal("the feed does not end")
		}
	}
	owner := engine.Subject{Owner: NewSession("u1").Owner + "4" + newDigits()}
	feed, err = b.Follow(ctx, owner)
	if err != nil {
		t.Fatal(err)
	}
	list := fill(t, ctx, a, owner, 1)
	select {
	case x := <-feed.Entries:
		if x.Seq != list[0].Seq || x.Prev != 0 || !x.Same(list[0]) {
			t.Errorf("got %+v, want %+v", x, list[0])
		}
	case <-feed.Lost:
	case <-ctx.Done():
		t.Error("no entry of an owner came")
	}
}

func trims(t *testing.T, r Rig) {
	ctx, a, m := deadline(t), r.Host(t, "a"), r.Maintenance(t)
	s := NewSession("u1000")
	other := engine.Subject{Owner: "u1001", Session: s.Session}
	list, rest := fill(t, ctx, a, s, 10), fill(t, ctx, a, other, 3)
	for _, c := range []struct {
		before uint64
		left   int
	}{{list[0].Seq, 0}, {list[4].Seq, 4}, {list[4].Seq, 4}, {list[2].Seq, 4}, {list[9].Seq, 9}} {
		if err := m.Trim(ctx, s, c.before); err != nil {
			t.Fatal(err)
		}
		got, err := a.Read(ctx, s, engine.Range{Leader: true})
		if err != nil {
			t.Fatal(err)
		}
		wantEntries(t, got, list[c.left:])
	}
	seq, err := Append(ctx, a, s, list[9].Seq, newID(), nil, []byte("goes on"))
	if err != nil || seq <= list[9].Seq {
		t.Errorf("behind a trim: %d, %v", seq, err)
	}
	_, err = Append(ctx, a, s, list[9].Seq, newID(), nil, []byte("late"))
	wantConflict(t, err, seq)
	if err := m.Trim(ctx, s, list[9].Seq+1); err != nil { // an entry has come meanwhile
		t.Fatal(err)
	}
	if end, err := a.Last(ctx, s, true); err != nil || end.Seq != seq {
		t.Errorf("the end is %d, %v, want %d", end.Seq, err, seq)
	}
	got, err := a.Read(ctx, other, engine.Range{Leader: true})
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, rest)
	wantError(t, m.Trim(ctx, s, 0), engine.ErrInvalid)
}

func revivals(t *testing.T, r Rig) {
	ctx, a, b, m := deadline(t), r.Host(t, "a"), r.Host(t, "b"), r.Maintenance(t)
	s := NewSession("u1000")
	list := fill(t, ctx, a, s, 4)
	end := list[3].Seq
	if err := m.Trim(ctx, s, end+1); err != nil {
		t.Fatal(err)
	}
	if x, err := a.Last(ctx, s, true); err != nil || x.Seq != 0 {
		t.Errorf("the end is %d, %v, want none", x.Seq, err)
	}
	_, err := Append(ctx, a, s, end, newID(), nil, nil)
	wantConflict(t, err, 0)
	first, err := Append(ctx, a, s, 0, newID(), nil, []byte("revived"))
	if err != nil || first <= end {
		t.Fatalf("revived at %d, %v, behind %d", first, err, end)
	}
	_, err = Append(ctx, b, s, 0, newID(), nil, []byte("revived, too"))
	wantConflict(t, err, first)
}
