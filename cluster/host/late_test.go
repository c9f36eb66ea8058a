package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/cluster/engine/fake"
	"github.com/ctxfs/ctxfs/cluster/peers"
	"github.com/ctxfs/ctxfs/cluster/peers/peerstest"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/log"
)

// slow is peers whose next request arrives late. Append calls meanwhile, which is nil for none, returns
// ErrLost and keeps the request for late, which delivers it.
type slow struct {
	peers.Peers
	meanwhile func()
	late      func() (*peers.Receipt, error)
}

func (s *slow) Append(ctx context.Context, host string, a *peers.Append) (*peers.Receipt, error) {
	if s.meanwhile == nil {
		return s.Peers.Append(ctx, host, a)
	}
	kept := *a
	s.late = func() (*peers.Receipt, error) { return s.Peers.Append(context.Background(), host, &kept) }
	meanwhile := s.meanwhile
	s.meanwhile = nil
	meanwhile()
	return nil, peerstest.ErrLost
}

// slowly returns two hosts of which a is home, and the peers of b.
func slowly(t *testing.T) (r *rig, a, b *node, p *slow) {
	r = newRig(t, "a", "b")
	a, b = r.nodes[0], r.nodes[1]
	p = &slow{Peers: r.net.Host("b")}
	b.h.o.Peers = p
	if err := a.append("first"); err != nil {
		t.Fatal(err)
	}
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil {
		t.Fatal(err)
	}
	return r, a, b, p
}

// leaveUnknown appends "late" on b, whose request comes late: a has committed something meanwhile, and no server takes
// anything until b has given up. It fails the test unless the outcome is unknown to b.
func leaveUnknown(t *testing.T, r *rig, a, b *node, p *slow) {
	t.Helper()
	p.meanwhile = func() {
		if err := a.append("of the home"); err != nil {
			t.Error(err)
		}
		r.servers.Fill(true)
	}
	if err := b.append("late"); !errors.Is(err, ctxabi.ErrIO) {
		t.Errorf("what the home may still commit: %v", err)
	}
	r.servers.Fill(false)
}

func TestARequestThatComesLateIsNotCommittedTwice(t *testing.T) {
	r, _, b, p := slowly(t)
	p.meanwhile = func() {}
	if err := b.append("once"); err != nil {
		t.Fatal(err)
	}
	p.late()
	if lines := r.agree(); strings.Count(lines, "once") != 1 {
		t.Errorf("%q", lines)
	}
}

// As long as the home may still commit it, nobody says that a record was refused.
func TestWhatTheHomeMayStillCommitIsUnknown(t *testing.T) {
	r, a, b, p := slowly(t)
	leaveUnknown(t, r, a, b, p)
	if receipt, err := p.late(); err != nil || receipt.Outcomes[0] != peers.Committed {
		t.Errorf("the home: %v %v", receipt, err)
	}
	if lines := r.agree(); strings.Count(lines, "late") != 1 {
		t.Errorf("%q", lines)
	}
}

// Behind an entry of who asked, a request is void.
func TestAFenceDecidesWhatWasHandedOver(t *testing.T) {
	for _, seen := range []bool{false, true} { // whether the home has seen the fence when the request comes
		r, a, b, p := slowly(t)
		p.meanwhile = func() { r.servers.Fill(true) }
		if err := b.append("late"); !errors.Is(err, ctxabi.ErrIO) {
			t.Errorf("%v", err)
		}
		r.servers.Fill(false)
		if err := b.append("behind"); err != nil {
			t.Fatal(err)
		}
		if seen {
			if err := a.append("of the home again"); err != nil {
				t.Fatal(err)
			}
			b.h.o.Peers = r.net.Host("b")
			for range maxRun {
				if err := a.append("more"); err != nil { // until a is home again
					t.Fatal(err)
				}
			}
		}
		if receipt, err := p.late(); err == nil && receipt.Outcomes[0] != peers.Void {
			t.Errorf("behind the fence: %v", receipt.Outcomes)
		}
		if lines := r.agree(); strings.Contains(lines, "late") {
			t.Errorf("%q", lines)
		}
	}
}

// A host that was started anew does not know what it committed before: it takes nothing that is older.
func TestAHomeThatWasStartedAnewTakesNothingOld(t *testing.T) {
	r, a, b, p := slowly(t)
	p.meanwhile = func() {
		if err := a.append("of the home"); err != nil {
			t.Error(err)
		}
	}
	if err := b.append("once"); err != nil {
		t.Fatal(err)
	}
	a.kill()
	a.start()
	for range maxRun + 2 {
		if err := a.append("to be home"); err != nil {
			t.Fatal(err)
		}
	}
	if receipt, err := p.late(); err == nil && receipt.Outcomes[0] == peers.Unknown {
		t.Errorf("%v", receipt)
	}
	if lines := r.agree(); strings.Count(lines, "once") != 1 {
		t.Errorf("%q", lines)
	}
}

// Who is told to read the tail finds it decided: the look puts the fence.
func TestALookDecidesWhatIsUnknown(t *testing.T) {
	r, a, b, p := slowly(t)
	leaveUnknown(t, r, a, b, p)
	if err := b.h.Fresh(t.Context(), b.x, 0); err != nil {
		t.Fatal(err)
	}
	read := b.content(ctxabi.MessagesFile)
	if receipt, err := p.late(); err == nil && receipt.Outcomes[0] != peers.Void {
		t.Errorf("behind the fence: %v", receipt.Outcomes)
	}
	if lines := r.agree(); lines != read {
		t.Errorf("the tail was %q and is %q", read, lines)
	}
}

// A home that goes on from a snapshot does not know whether it has what it was asked for and has sent.
func TestWhatAHomeHasSentBeforeASnapshotIsUnknown(t *testing.T) {
	r := newRig(t, "a")
	if err := r.nodes[0].append("first"); err != nil {
		t.Fatal(err)
	}
	m := r.nodes[0].h.member(r.nodes[0].x)
	handed := records(r.nodes[0].x.Messages(), log.Batch{Data: message("handed over")}, log.Anywhere, arrival.Key{Conn: 7, Unique: 7})
	handed.from, handed.next, handed.sent = "b", m.copy.Position().I, sent
	m.pending = []*request{handed}
	at := m.copy.Position()
	at.I += 5
	m.restored(at)
	m.screen("a")
	select {
	case a := <-handed.done:
		if a.outcome != peers.Unknown {
			t.Errorf("the outcome is %v", a.outcome)
		}
	default:
		t.Error("it is sent again, behind a snapshot that may have it")
	}
}

// Who waits behind others without a cluster does not wait for a multiple of the time.
func TestTimeIsCountedFromTheRequestOn(t *testing.T) {
	r := newRig(t, "a")
	m := r.nodes[0].h.member(r.nodes[0].x)
	now := time.Unix(1e9, 0)
	at := func(ago ...time.Duration) (group []*request) {
		for _, d := range ago {
			group = append(group, &request{since: now.Add(-d)})
		}
		return group
	}
	for _, c := range []struct {
		group []*request
		want  time.Duration
	}{
		{at(0), Timeout}, {at(0, Timeout/2), Timeout / 2}, {at(2*Timeout, 0), Timeout / 8},
	} {
		if got := m.deadline(c.group, now).Sub(now); got != c.want {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}

func TestWhatFeedsAndReplicasLackIsCounted(t *testing.T) {
	r := newRig(t, "a", "b")
	a, b := r.nodes[0], r.nodes[1]
	for _, text := range []string{"one", "two", "three"} {
		if err := a.append(text); err != nil {
			t.Fatal(err)
		}
	}
	last := must(b.engine.Last(t.Context(), SubjectOf(ref, id), true))
	last.Prev = last.Seq - 1
	b.engine.Inject(fake.StaleRead)
	if err := b.h.member(b.x).offer(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if s := b.h.Stats(); s.Gaps != 1 || s.Repaired != 1 {
		t.Errorf("%d gaps, %d times repaired", s.Gaps, s.Repaired)
	}
	if a.h.Homes() != 1 || b.h.Homes() != 0 {
		t.Errorf("a is home of %d, b of %d", a.h.Homes(), b.h.Homes())
	}
}
