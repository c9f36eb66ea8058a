package peers

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/session/arrival"
)

func TestMain(m *testing.M) { suite.Main(m) }

// What one host sends is what another one reads.
func TestWhatIsSentArrives(t *testing.T) {
	bytesOf := func(t *rapid.T, what string) []byte {
		if b := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, what); len(b) > 0 {
			return b
		}
		return nil
	}
	rapid.Check(t, func(t *rapid.T) {
		a := &Append{Subject: engine.Subject{Owner: rapid.StringN(0, 20, 20).Draw(t, "owner"), Session: rapid.String().Draw(t, "session")},
			From: rapid.String().Draw(t, "from"), Next: rapid.Uint64().Draw(t, "next")}
		for range rapid.IntRange(0, 5).Draw(t, "requests") {
			r := Request{Key: arrival.Key{Conn: rapid.Uint64().Draw(t, "conn"), Unique: rapid.Uint64().Draw(t, "unique")}, Kind: journal.Kind(rapid.Byte().Draw(t, "kind")),
				Alone: rapid.Bool().Draw(t, "alone"), Data: bytesOf(t, "data"), Len: rapid.Int64().Draw(t, "len"), At: rapid.Int64().Draw(t, "at"),
				UID: rapid.Uint32().Draw(t, "uid"), PID: rapid.Uint32().Draw(t, "pid"), Content: bytesOf(t, "content"), Body: bytesOf(t, "body")}
			copy(r.SHA[:], bytesOf(t, "sha"))
			a.Requests = append(a.Requests, r)
		}
		if got, err := ParseAppend(a.Encode()); err != nil || !reflect.DeepEqual(got, a) {
			t.Fatalf("%+v came as %+v, %v", a, got, err)
		}
		r := &Receipt{Seq: rapid.Uint64().Draw(t, "seq")}
		for range rapid.IntRange(0, journal.MaxRows).Draw(t, "outcomes") {
			r.Outcomes = append(r.Outcomes, Outcome(rapid.IntRange(0, int(Unknown)).Draw(t, "outcome")))
		}
		if got, err := ParseReceipt(r.Encode()); err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%+v came as %+v, %v", r, got, err)
		}
		h := Head{Position: journal.Position{I: rapid.Uint64().Draw(t, "i")}, Seq: rapid.Uint64().Draw(t, "seq")}
		copy(h.Chain[:], bytesOf(t, "chain"))
		if got, err := ParseHead(h.Encode()); err != nil || got != h {
			t.Fatalf("%+v came as %+v, %v", h, got, err)
		}
	})
}

// The form is that of other versions of the program, too.
func TestTheFormStays(t *testing.T) {
	a := &Append{Subject: engine.Subject{Owner: "u1000", Session: strings.Repeat("ab", 16)}, From: "b", Next: 300, Requests: []Request{
		{Key: arrival.Key{Conn: 1, Unique: 2}, Kind: journal.Message, Data: []byte("{}\n"), Len: 3, At: -1, UID: 1000, PID: 7},
		{Kind: journal.Control, Alone: true, Content: []byte("c"), Body: []byte("d")},
	}}
	zeros := strings.Repeat("00", 32)
	for what, c := range map[string]struct {
		got  []byte
		want string
	}{
		"append": {a.Encode(), "014105" + hex.EncodeToString([]byte("u1000")) + "20" + hex.EncodeToString([]byte(strings.Repeat("ab", 16))) + "0162ac0202" +
			"01026d00037b7d0a" + zeros + "0601e807070000" + "0000630100" + zeros + "00000000" + "01630164"},
		"receipt": {(&Receipt{Seq: 5, Outcomes: []Outcome{Void, Committed, Misplaced, Unknown}}).Encode(), "0152050400010203"},
		"head":    {Head{Position: journal.Position{I: 1}, Seq: 200}.Encode(), "014801" + zeros + "c801"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func FuzzForms(f *testing.F) {
	f.Add((&Append{Subject: engine.Subject{Owner: "u1"}, Requests: []Request{{}}}).Encode())
	f.Add((&Receipt{Outcomes: []Outcome{1}}).Encode())
	f.Add(Head{}.Encode())
	f.Add([]byte{2, 'A'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseAppend(b); err == nil && !bytes.Equal(a.Encode(), b) {
			t.Error("an append has two forms")
		}
		if r, err := ParseReceipt(b); err == nil && !bytes.Equal(r.Encode(), b) {
			t.Error("a receipt has two forms")
		}
		if h, err := ParseHead(b); err == nil && !bytes.Equal(h.Encode(), b) {
			t.Error("a head has two forms")
		}
	})
}
