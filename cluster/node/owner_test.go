package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// A space that was made in the store beside the mount was seen by other hosts only if nobody had looked for it before,
// and no agent could be made in it.
func TestASpaceThatWasLookedForBeforeItWasMade(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir()), r.mount("b", t.TempDir())
	space := ctxabi.Ref{Space: "team"}
	for _, m := range []*mounted{a, b} {
		if err := m.Enter(t.Context(), space); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := a.s.CreateSpace(space.Space, owner.GID)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Enter(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if err := b.Enter(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if list := b.s.Spaces(); len(list) != 1 || list[0].Name != space.Space || list[0].GID != owner.GID {
		t.Errorf("b has the spaces %v; a made %s", list, dir)
	}
	in := ctxabi.Ref{Space: "other", Agent: "coder", Session: "s1"}
	if err := a.Enter(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if _, err := a.s.CreateSpace(in.Space, owner.GID); err != nil {
		t.Fatal(err)
	}
	if _, err := a.s.Create(in, owner); err != nil {
		t.Errorf("a session in a space that was just made: %v", err)
	}
}

// A child whose session another host renamed or removed, one that had never read the parent, lost its session and its
// result.
func TestAChildKeepsItsSessionWhateverHostMovesIt(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	parent := a.create(ref)
	in := ctxabi.Ref{UID: ref.UID, Agent: "rev", Session: "r1"}
	work := a.create(in)
	if _, err := work.Messages().Append(t.Context(), session.Batch{Data: []byte(`{"role":"assistant","content":"the answer"}` + "\n")}); err != nil {
		t.Fatal(err)
	}
	err := parent.MakeChild("c")
	for name, text := range map[string]string{ctxabi.ChildAgent: "rev\n", ctxabi.ChildSession: "r1\n"} {
		err = errors.Join(err, parent.SetControl(ctxabi.ChildPath("c", name), []byte(text)))
	}
	if err != nil {
		t.Fatal(err)
	}
	result := func(m *mounted, what string) {
		t.Helper()
		data, _, _, err := m.open(ref).ChildFile("c", ctxabi.ChildResult)
		if err != nil || string(data) != "the answer\n" {
			t.Errorf("%s shows %q, %v %s", m.Name(), data, err, what)
		}
	}
	result(a, "at first")
	b.enter()
	to := in
	to.Session = "moved"
	if err := b.s.Rename(in.Path(), to.Path()); err != nil {
		t.Fatal(err)
	}
	result(a, "after a rename on b")
	c := r.mount("c", t.TempDir(), strict)
	c.enter()
	if err := c.s.Remove(to); err != nil {
		t.Fatal(err)
	}
	a.enter()
	result(a, "after a removal on c")
	result(b, "after a removal on c")
	if x, err := a.open(ref).Child("c"); err != nil || x.Linked || x.Status != "error" {
		t.Errorf("the child is %+v, %v", x, err)
	}
}

// What a user trusts on one host did not count on another one that had not entered his home, as for a session in a
// shared space.
func TestWhatAUserTrustsCountsOnAllHosts(t *testing.T) {
	r := newRig(t)
	a, b := r.mount("a", t.TempDir(), strict), r.mount("b", t.TempDir(), strict)
	a.create(ref)
	row := `{"path":"home/0/agent/coder/context.yaml","sha256":"` + strings.Repeat("0", 64) + `"}` + "\n"
	if err := a.s.SetTrust(ref.UID, owner.GID, []byte(row)); err != nil {
		t.Fatal(err)
	}
	if err := a.keeper.Adopt(t.Context(), ctxabi.Ref{UID: ref.UID}, ctxabi.TrustFile); err != nil {
		t.Fatal(err)
	}
	if data, err := b.s.Trust(ref.UID); err != nil || string(data) != row {
		t.Errorf("b has %q, %v", data, err)
	}
}
