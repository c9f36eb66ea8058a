package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/cluster/engine"
)

// newKey returns a name for content that nobody has used.
func newKey(owner, dir string) engine.Key {
	return engine.Key{Owner: owner, Name: dir + "/" + NewSession(owner).Session + "-0.zst"}
}

func objectsAreKept(t *testing.T, r Rig) {
	ctx, a, b, m := deadline(t), r.Host(t, "a").Objects(), r.Host(t, "b").Objects(), r.Maintenance(t).Objects()
	dir := "b" + newDigits()
	var names []string
	for _, size := range []int{0, 1, 1000, 512 << 10, 512<<10 + 1, 3<<20 + 5} {
		key, data := newKey("u1000", dir), body(size)
		names = append(names, key.Name)
		if _, err := b.Stat(ctx, key); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("before it is put: %v", err)
		}
		if err := a.Put(ctx, key, data); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if err := b.Put(ctx, key, data); err != nil {
			t.Errorf("put again: %v", err)
		}
		info, err := b.Stat(ctx, key)
		if err != nil || info != engine.InfoOf(data) {
			t.Errorf("%d bytes: %+v, %v", size, info, err)
		}
		for _, c := range [][2]int{{0, -1}, {0, size}, {size / 2, 100}, {size / 3, size / 2}, {size, 5}, {size + 7, -1}, {0, 0}, {max(0, size-3), 9}} {
			from := min(c[0], size)
			to := size
			if c[1] >= 0 {
				to = min(size, from+c[1])
			}
			got, err := b.Get(ctx, key, int64(c[0]), int64(c[1]))
			if err != nil || !bytes.Equal(got, data[from:to]) {
				t.Errorf("%d bytes, %v: %d bytes, %v, want %d", size, c, len(got), err, to-from)
			}
		}
	}
	slices.Sort(names)
	wantNames(t, ctx, b, dir+"/", names)
	gone := engine.Key{Owner: "u1000", Name: names[0]}
	for range 2 {
		if err := m.Delete(ctx, gone); err != nil {
			t.Fatal(err)
		}
	}
	_, err := a.Get(ctx, gone, 0, -1)
	for err == nil && ctx.Err() == nil { // a replica may be behind
		_, err = a.Get(ctx, gone, 0, -1)
	}
	wantError(t, err, engine.ErrNotFound)
	wantNames(t, ctx, b, dir+"/", names[1:])
	if got, err := b.List(ctx, "u1000", newDigits()); err != nil || len(got) != 0 {
		t.Errorf("an empty list has %q, %v", got, err)
	}
	_, err = a.Get(ctx, gone, -1, 5)
	wantError(t, err, engine.ErrInvalid)
	for _, bad := range []engine.Key{{Owner: "u1", Name: ""}, {Owner: "u1", Name: "*"}, {Owner: "*", Name: "b"}, {Name: "b"}, {Owner: "u1", Name: "B"}} {
		wantError(t, a.Put(ctx, bad, nil), engine.ErrInvalid)
	}
}

// wantNames waits until the objects of u1000 that begin with prefix are those that are wanted: a replica
// that is behind may answer first. It fails the test if that does not come.
func wantNames(t *testing.T, ctx context.Context, o engine.Objects, prefix string, want []string) {
	t.Helper()
	for {
		got, err := o.List(ctx, "u1000", prefix)
		if err == nil && slices.Equal(got, want) {
			return
		}
		if err != nil || ctx.Err() != nil {
			t.Fatalf("the list is %q, %v, want %q", got, err, want)
		}
	}
}

func objectsNeverChange(t *testing.T, r Rig) {
	ctx := deadline(t)
	key := newKey(engine.StoreOwner, "h")
	const hosts = 4
	var errs [hosts]error
	var data [hosts][]byte
	var wg sync.WaitGroup
	for h := range hosts {
		e := r.Host(t, fmt.Sprint("h", h)).Objects()
		data[h] = body(1200 << 10)
		wg.Go(func() { errs[h] = e.Put(ctx, key, data[h]) })
	}
	wg.Wait()
	won := slices.Index(errs[:], nil)
	o := r.Host(t, "z").Objects()
	for h, err := range errs {
		if h != won && !errors.Is(err, engine.ErrDiffers) {
			t.Errorf("host %d: %v", h, err)
		}
	}
	if won < 0 { // each stood in the way of another: nobody's content is there
		_, err := o.Stat(ctx, key)
		wantError(t, err, engine.ErrNotFound)
		return
	}
	got, err := o.Get(ctx, key, 0, -1)
	if err != nil || !bytes.Equal(got, data[won]) {
		t.Errorf("the content is not that of the host that was told so: %v", err)
	}
}

func otherOwners(t *testing.T, r Rig) {
	ctx, all, some := deadline(t), r.Host(t, "a"), r.Host(t, "laptop", "u1000")
	mine, theirs := NewSession("u1000"), NewSession("u2000")
	secret := newKey("u2000", "b")
	list := fill(t, ctx, all, theirs, 2)
	if err := all.Objects().Put(ctx, secret, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	own := fill(t, ctx, some, mine, 4)
	got, err := ReadAllOf(ctx, some, mine, 0, own[3].Seq)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, own)
	if err := some.Objects().Put(ctx, newKey("u1000", "b"), body(700<<10)); err != nil {
		t.Errorf("an object of its own: %v", err)
	}
	for _, s := range []engine.Subject{theirs, {Owner: "u2000"}} {
		_, err = some.Append(ctx, s, list[1].Seq, newID(), nil, []byte("forged"))
		wantError(t, err, engine.ErrDenied)
		_, err = some.Read(ctx, s, engine.Range{})
		wantError(t, err, engine.ErrDenied)
		_, err = some.Last(ctx, s, false)
		wantError(t, err, engine.ErrDenied)
		_, err = some.Follow(ctx, s)
		wantError(t, err, engine.ErrDenied)
		wantError(t, some.Trim(ctx, s, 5), engine.ErrDenied)
	}
	_, err = some.Objects().Get(ctx, secret, 0, -1)
	wantError(t, err, engine.ErrDenied)
	wantError(t, some.Objects().Put(ctx, newKey("u2000", "b"), []byte("forged")), engine.ErrDenied)
	_, err = some.Objects().List(ctx, "u2000", "")
	wantError(t, err, engine.ErrDenied)
	end, err := all.Last(ctx, theirs, true)
	if err != nil || end.Seq != list[1].Seq {
		t.Errorf("the journal of the other owner ends at %d, %v, want %d", end.Seq, err, list[1].Seq)
	}
}

func onlyMaintenance(t *testing.T, r Rig) {
	ctx, e := deadline(t), r.Host(t, "a")
	s := NewSession("u1000")
	list := fill(t, ctx, e, s, 3)
	wantError(t, e.Trim(ctx, s, list[2].Seq), engine.ErrDenied)
	key := newKey("u1000", "b")
	if err := e.Objects().Put(ctx, key, []byte("kept")); err != nil {
		t.Fatal(err)
	}
	wantError(t, e.Objects().Delete(ctx, key), engine.ErrDenied)
	_, err := e.Attest(ctx, s.Shard())
	wantError(t, err, engine.ErrDenied)
	got, err := ReadAll(ctx, e, s, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, got, list)
	if _, err := e.Objects().Stat(ctx, key); err != nil {
		t.Error(err)
	}
}

func replicasAgree(t *testing.T, r Rig) {
	ctx, e, m := deadline(t), r.Host(t, "a"), r.Maintenance(t)
	s := NewSession("u1000")
	list := fill(t, ctx, e, s, 6)
	for _, before := range []uint64{0, list[3].Seq} {
		if before > 0 {
			if err := m.Trim(ctx, s, before); err != nil {
				t.Fatal(err)
			}
		}
		a, err := m.Attest(ctx, s.Shard())
		for ; err == nil && (a.Problems() != nil || slices.ContainsFunc(a.Replicas, func(r engine.Replica) bool { return r.Last < list[5].Seq })); a, err = m.Attest(ctx, s.Shard()) {
			if ctx.Err() != nil { // a replica may be behind for a moment
				break
			}
		}
		if err != nil || a.Error() != nil {
			t.Fatalf("%v, %v", err, a.Error())
		}
		if len(a.Replicas) != a.Wanted || a.Wanted < 1 || a.Leader == "" || a.Created == "" || a.Shard != s.Shard() {
			t.Errorf("got %+v", a)
		}
	}
	for _, shard := range []int{-1, engine.OwnerShard + 1} {
		_, err := m.Attest(ctx, shard)
		wantError(t, err, engine.ErrInvalid)
	}
}

func doneContexts(t *testing.T, r Rig) {
	e := r.Host(t, "a")
	s := NewSession("u1000")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Append(done, s, 0, newID(), nil, []byte("x"))
	wantError(t, err, engine.ErrUnreachable)
	wantError(t, err, context.Canceled)
	_, err = e.Read(done, s, engine.Range{})
	wantError(t, err, engine.ErrUnreachable)
	_, err = e.Last(done, s, true)
	wantError(t, err, engine.ErrUnreachable)
	_, err = e.Follow(done, s)
	wantError(t, err, engine.ErrUnreachable)
	_, err = r.Maintenance(t).Attest(done, 0)
	wantError(t, err, engine.ErrUnreachable)
	if end, err := e.Last(deadline(t), s, true); err != nil || end.Seq != 0 {
		t.Errorf("the subject ends at %d, %v", end.Seq, err)
	}
}
