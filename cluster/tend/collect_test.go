package tend

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/bulk"
	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// put stores content among the objects of the owner, and returns its name.
func (r *rig) put(text string) string {
	ref, err := bulk.NewStore(r.nodes[0].engine.Objects(), subject.Owner).PutBody(ctx, []byte(text))
	r.must(err)
	return bulk.BlobName(ref.SHA).String()
}

// has reports whether an object is there.
func (r *rig) has(name string) bool { return slices.Contains(r.objects(), name) }

func TestObjectsThatNothingNamesGoAndNoOthers(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	for i := range 3 {
		r.must(a.append(fmt.Sprint(i)))
	}
	long := strings.Repeat("long ", journal.MaxBody/4)
	r.must(a.append(long))
	r.must(a.x.SetControl(ctxabi.SummaryFile, []byte(long)))
	named := r.put("named in words")
	r.must(a.append("it is " + named))
	binary := r.put("named in bytes")
	sum := sha256.Sum256([]byte("named in bytes"))
	r.must(a.append(fmt.Sprintf("the hash is no text: %s", hex.EncodeToString(sum[:]))))
	file := r.put("a file of the agent")
	fileSum := sha256.Sum256([]byte("a file of the agent"))
	owns := names.NewReplica(a.engine, "a", names.SubjectOf(ref), names.Options{})
	_, err := owns.Commit(ctx, names.WriteFile{File: names.File{Path: "agent/coder/memory/x.md", Hash: hex.EncodeToString(fileSum[:]), Size: 19, Mode: 0o600}})
	r.must(err)
	waste := r.put("named by nothing")
	kept := r.objects()

	r.round()
	r.later(bulk.KeepFor - time.Hour)
	late := r.put("put a moment ago")
	if report := r.round(); report.Collected != 0 || len(r.objects()) != len(kept)+1 {
		t.Fatalf("collected too early: %+v", report)
	}
	r.must(a.append("still in use, so that it is not parked"))
	r.newTender()
	r.later(2 * time.Hour)
	if report := r.round(); report.Collected != 1 || r.has(waste) || !r.has(late) {
		t.Fatalf("%+v", report)
	}
	a.snapshot()
	r.round()
	r.later(time.Minute)
	r.round()
	r.later(2 * bulk.KeepFor)
	r.round() // parked: what the snapshot has stays
	r.later(2 * bulk.KeepFor)
	r.round()
	r.later(2 * bulk.KeepFor)
	r.round()
	for _, name := range []string{file} {
		if !r.has(name) {
			t.Errorf("%s is gone", name)
		}
	}
	if r.has(late) || r.has(named) || r.has(binary) {
		t.Error("what only entries named that are trimmed is still there")
	}
	b := r.add("b")
	r.fresh(b)
	if text := content(t, b.x.Messages()); !strings.Contains(text, long) {
		t.Error("a long record is lost")
	}
	r.agree()
}

func TestNothingIsCollectedWhereSomethingCannotBeRead(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	a := r.nodes[0]
	r.must(a.append("one"))
	a.snapshot()
	r.must(a.append("two"))
	waste := r.put("named by nothing")
	r.round()
	r.later(bulk.KeepFor + time.Hour)
	r.must(a.append("in use"))
	var snapshot string
	for _, name := range r.objects() {
		if strings.HasPrefix(name, "s/"+id) {
			snapshot = name
		}
	}
	key := engine.Key{Owner: subject.Owner, Name: snapshot}
	data, err := a.engine.Objects().Get(ctx, key, 0, -1)
	r.must(err)
	r.must(r.servers.Maintenance().Objects().Delete(ctx, key))
	if _, err := r.tender.Round(ctx); !errors.Is(err, engine.ErrNotFound) || !r.has(waste) {
		t.Errorf("a snapshot is lost: %v, %v", err, r.has(waste))
	}
	r.must(a.engine.Objects().Put(ctx, key, data))
	r.later(2 * time.Hour)
	r.round()
	if r.has(waste) {
		t.Error("it is still there")
	}
}

func TestAJournalWithoutANameGoes(t *testing.T) {
	r := newRig(t, t.TempDir(), "a")
	r.must(r.nodes[0].append("one"))
	owns := names.NewReplica(r.nodes[0].engine, "a", names.SubjectOf(ref), names.Options{})
	_, err := owns.Commit(ctx, names.RemoveName{Agent: ref.Agent, Session: ref.Session})
	r.must(err)
	r.round()
	r.later(bulk.KeepFor / 2)
	if report := r.round(); report.Ended != 0 {
		t.Errorf("%+v", report)
	}
	r.later(bulk.KeepFor)
	if report := r.round(); report.Ended != 1 || r.entries() != 0 {
		t.Errorf("%d entries, %+v", r.entries(), report)
	}
}

func TestHashesInBytes(t *testing.T) {
	sums := [][32]byte{sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))}
	s := newScanner([]string{bulk.BlobName(sums[0]).String(), bulk.BlobName(sums[1]).String(), "no name"})
	for what, c := range map[string]struct {
		data []byte
		want int
	}{
		"bytes":            {append([]byte("xyz"), sums[0][:]...), 1},
		"at the beginning": {append(sums[1][:], 'x'), 1},
		"digits":           {[]byte("b/" + hex.EncodeToString(sums[0][:])), 1},
		"behind digits":    {[]byte("0a" + hex.EncodeToString(sums[1][:]) + "ff"), 1},
		"both":             {slices.Concat(sums[0][:], []byte(" "), []byte(hex.EncodeToString(sums[1][:]))), 2},
		"cut":              {sums[0][:31], 0},
		"digits cut":       {[]byte(hex.EncodeToString(sums[0][:])[:63]), 0},
		"others":           {bytes.Repeat([]byte("abcdef0123456789"), 100), 0},
	} {
		n := 0
		s.scan(c.data, func(journal.Hash) { n++ })
		if n != c.want {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// memoryClaims are claims of maintainers of one process.
type memoryClaims struct{ seq *uint64 }

func (c memoryClaims) Read(context.Context) (uint64, error) { return *c.seq, nil }

func (c memoryClaims) Write(_ context.Context, after uint64) error {
	if *c.seq != after {
		return &engine.Conflict{Last: *c.seq}
	}
	*c.seq++
	return nil
}

func TestOneOfSeveralMaintainersWorks(t *testing.T) {
	c := new(uint64)
	a, b := Turns(memoryClaims{c}), Turns(memoryClaims{c})
	for round := range 5 {
		one, err := a(ctx)
		other, failed := b(ctx)
		if err != nil || failed != nil || !one || other {
			t.Errorf("round %d: %v %v %v %v", round, one, other, err, failed)
		}
	}
	if mine, _ := b(ctx); !mine {
		t.Error("nobody works once a has ended")
	}
}
