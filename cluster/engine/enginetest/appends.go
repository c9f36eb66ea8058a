package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

func entriesStay(t *testing.T, r Rig) {
	ctx, a, b := deadline(t), r.Host(t, "a"), r.Host(t, "b")
	s := NewSession("u1000")
	var want []engine.Entry
	last := uint64(0)
	for _, x := range []engine.Entry{
		{ID: newID(), Payload: []byte("x")},
		{ID: newID(), Header: engine.Header{"Ctx-I": "1", "Ctx-Chain": strings.Repeat("0f", 32)}, Payload: []byte("{\"a\":1}\n\x00\r\n\xff")},
		{ID: newID(), Header: engine.Header{"Ctx-Empty": ""}},
		{ID: newID(), Header: engine.Header{"Ctx-I": "3"}, Payload: body(256 << 10)},
		{ID: strings.Repeat("i", engine.MaxID), Header: engine.Header{"Ctx-Long": strings.Repeat("~", engine.MaxHeader-8)}, Payload: body(engine.MaxPayload)},
	} {
		if len(x.ID) == engine.MaxID {
			x.ID = newID() + x.ID[26:]
		}
		seq, err := Append(ctx, a, s, last, x.ID, x.Header, x.Payload)
		if err != nil {
			t.Fatal(err)
		}
		x.Seq, last = seq, seq
		want = append(want, x)
	}
	got, err := ReadAll(ctx, b, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Header == nil {
			got[i].Header = want[i].Header // an empty header is as good as none
		}
	}
	wantEntries(t, got, want)
	owner := engine.Subject{Owner: "s" + strings.Repeat("v0", 20) + strings.ToLower(newID())[:6]}
	if err := owner.Check(); err != nil {
		owner.Owner = "s" + NewSession("u0").Session
	}
	list := fill(t, ctx, a, owner, 3)
	got, err = ReadAll(ctx, b, owner, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, list)
}

func subjectsAreApart(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	o := engine.Subject{Owner: "u1001", Session: s.Session} // the same shard
	first, second := fill(t, ctx, e, s, 4), fill(t, ctx, e, o, 3)
	for _, c := range []struct {
		s    engine.Subject
		want []engine.Entry
	}{{s, first}, {o, second}} {
		got, err := ReadAll(ctx, e, c.s, 0)
		if err != nil {
			t.Fatal(err)
		}
		wantEntries(t, got, c.want)
		end, err := e.Last(ctx, c.s, true)
		if err != nil {
			t.Fatal(err)
		}
		wantEntries(t, []engine.Entry{end}, c.want[len(c.want)-1:])
	}
	_, err := Append(ctx, e, s, second[2].Seq, newID(), nil, nil)
	wantConflict(t, err, first[3].Seq)
}

func expectations(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	_, err := Append(ctx, e, s, 7, newID(), nil, []byte("x"))
	wantConflict(t, err, 0)
	list := fill(t, ctx, e, s, 3)
	end := list[2].Seq
	for _, expected := range []uint64{0, list[0].Seq, list[1].Seq, end + 1, end + 1000} {
		_, err := Append(ctx, e, s, expected, newID(), nil, []byte("x"))
		wantConflict(t, err, end)
		if err != nil && !engine.Settled(err) {
			t.Errorf("%v is not settled", err)
		}
	}
	got, err := ReadAll(ctx, e, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, list)
}

func oneWins(t *testing.T, r Rig) {
	ctx := deadline(t)
	s := NewSession("u1000")
	const hosts, each = 4, 12
	won := make([][]engine.Entry, hosts)
	var wg sync.WaitGroup
	for h := range hosts {
		e := r.Host(t, fmt.Sprint("h", h))
		wg.Go(func() {
			last := uint64(0)
			for len(won[h]) < each {
				x := engine.Entry{ID: newID(), Payload: fmt.Appendf(nil, "%d/%d", h, len(won[h]))}
				seq, err := Append(ctx, e, s, last, x.ID, nil, x.Payload)
				if c, ok := errors.AsType[*engine.Conflict](err); ok {
					if c.Last > last { // else the answer is an old one
						last = c.Last
					}
					continue
				}
				if err != nil {
					t.Errorf("host %d: %v", h, err)
					return
				}
				x.Seq, last = seq, seq
				won[h] = append(won[h], x)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	got, err := ReadAll(ctx, r.Host(t, "z"), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != hosts*each {
		t.Fatalf("%d entries are stored, and %d were acknowledged", len(got), hosts*each)
	}
	for h := range hosts {
		var mine []engine.Entry
		for _, x := range got {
			if bytes.HasPrefix(x.Payload, fmt.Appendf(nil, "%d/", h)) {
				mine = append(mine, x)
			}
		}
		wantEntries(t, mine, won[h])
	}
}

func onceUnderAnID(t *testing.T, r Rig) {
	ctx, a, b := deadline(t), r.Host(t, "a"), r.Host(t, "b")
	s := NewSession("u1000")
	list := fill(t, ctx, a, s, 2)
	x := engine.Entry{ID: newID(), Header: engine.Header{"Ctx-I": "2"}, Payload: []byte("once")}
	seq, err := Append(ctx, a, s, list[1].Seq, x.ID, x.Header, x.Payload)
	if err != nil {
		t.Fatal(err)
	}
	x.Seq = seq
	for _, e := range []engine.Engine{a, b} {
		again, err := Append(ctx, e, s, list[1].Seq, x.ID, x.Header, x.Payload)
		if err != nil || again != seq {
			t.Errorf("appended again: %d, %v, want %d", again, err, seq)
		}
	}
	got, err := ReadAll(ctx, b, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, append(list, x))

	// Many at once.
	var wg sync.WaitGroup
	y := engine.Entry{ID: newID(), Payload: []byte("by all")}
	for h := range 6 {
		e := []engine.Engine{a, b}[h%2]
		wg.Go(func() {
			if n, err := Append(ctx, e, s, seq, y.ID, nil, y.Payload); err != nil || n <= seq {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
	wg.Wait()
	got, err = ReadAll(ctx, b, s, seq+1)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].ID != y.ID {
		t.Errorf("%d entries, want the one", len(got))
	}
}

func takenIDs(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	same := engine.Subject{Owner: "u1001", Session: s.Session} // of the same shard
	list := fill(t, ctx, e, s, 1)
	x := list[0]
	_, err := Append(ctx, e, same, 0, x.ID, x.Header, x.Payload)
	wantError(t, err, engine.ErrIDTaken)
	_, err = Append(ctx, e, s, x.Seq, x.ID, x.Header, []byte("another"))
	wantError(t, err, engine.ErrIDTaken)
	_, err = Append(ctx, e, s, x.Seq, x.ID, engine.Header{"Ctx-I": "9"}, x.Payload)
	wantError(t, err, engine.ErrIDTaken)
	end, err := e.Last(ctx, same, true)
	if err != nil || end.Seq != 0 {
		t.Errorf("the other subject ends at %d, %v", end.Seq, err)
	}
	got, err := ReadAll(ctx, e, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, list)
}

func fences(t *testing.T, r Rig) {
	ctx, a, b := deadline(t), r.Host(t, "a"), r.Host(t, "b")
	s := NewSession("u1000")
	last := uint64(0)
	for i := range 20 { // an entry and its fence, at once: one of them stands there
		ids := [2]string{newID(), newID()}
		var seqs [2]uint64
		var errs [2]error
		var wg sync.WaitGroup
		for k, e := range []engine.Engine{a, b} {
			wg.Go(func() { seqs[k], errs[k] = Append(ctx, e, s, last, ids[k], nil, fmt.Append(nil, i, k)) })
		}
		wg.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		if errs[won] != nil {
			t.Fatalf("round %d: %v and %v", i, errs[0], errs[1])
		}
		wantConflict(t, errs[1-won], seqs[won])
		last = seqs[won]
	}
	got, err := ReadAll(ctx, a, s, 0)
	if err != nil || len(got) != 20 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

func refusals(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	for _, c := range []struct {
		s       engine.Subject
		id      string
		header  engine.Header
		payload int
		want    error
	}{
		{s, "", nil, 1, engine.ErrInvalid},
		{s, "a b", nil, 1, engine.ErrInvalid},
		{s, "a\nb", nil, 1, engine.ErrInvalid},
		{s, strings.Repeat("x", engine.MaxID+1), nil, 1, engine.ErrInvalid},
		{s, newID(), engine.Header{"Nats-Msg-Id": "x"}, 1, engine.ErrInvalid},
		{s, newID(), engine.Header{"Ctx-A": "1\r\nNats-Rollup: all"}, 1, engine.ErrInvalid},
		{s, newID(), engine.Header{"Ctx-A:": "1"}, 1, engine.ErrInvalid},
		{s, newID(), engine.Header{"Ctx-A": " 1"}, 1, engine.ErrInvalid},
		{s, newID(), engine.Header{"Ctx-A": strings.Repeat("x", engine.MaxHeader)}, 1, engine.ErrTooLarge},
		{s, newID(), nil, engine.MaxPayload + 1, engine.ErrTooLarge},
		{engine.Subject{Owner: "u1000", Session: "*"}, newID(), nil, 1, engine.ErrInvalid},
		{engine.Subject{Owner: "u1000", Session: strings.ToUpper(s.Session[:31]) + "A"}, newID(), nil, 1, engine.ErrInvalid},
		{engine.Subject{Owner: "*", Session: s.Session}, newID(), nil, 1, engine.ErrInvalid},
		{engine.Subject{Owner: "u01", Session: s.Session}, newID(), nil, 1, engine.ErrInvalid},
		{engine.Subject{Owner: "s", Session: s.Session}, newID(), nil, 1, engine.ErrInvalid},
		{engine.Subject{Session: s.Session}, newID(), nil, 1, engine.ErrInvalid},
	} {
		_, err := e.Append(ctx, c.s, 0, c.id, c.header, body(c.payload))
		if !errors.Is(err, c.want) {
			t.Errorf("%v id %q header %q, %d bytes: %v, want %v", c.s, c.id, c.header, c.payload, err, c.want)
		}
	}
	for _, bad := range []engine.Subject{{Owner: "u1000", Session: ">"}, {Owner: ">"}, {}} {
		_, err := e.Read(ctx, bad, engine.Range{})
		wantError(t, err, engine.ErrInvalid)
		_, err = e.Last(ctx, bad, true)
		wantError(t, err, engine.ErrInvalid)
		_, err = e.Follow(ctx, bad)
		wantError(t, err, engine.ErrInvalid)
		wantError(t, r.Maintenance(t).Trim(ctx, bad, 5), engine.ErrInvalid)
	}
	if end, err := e.Last(ctx, s, true); err != nil || end.Seq != 0 {
		t.Errorf("the subject ends at %d, %v", end.Seq, err)
	}
}
