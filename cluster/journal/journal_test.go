package journal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

var subject = engine.Subject{Owner: "u1000", Session: strings.Repeat("0123456789abcdef", 2)}

// same reports whether two entries have the same rows and all else.
func same(a, b Entry) bool {
	return a.I == b.I && a.Host == b.Host && a.Format == b.Format && slices.EqualFunc(a.Rows, b.Rows, func(x, y Row) bool {
		return x.Kind == y.Kind && bytes.Equal(x.Content, y.Content) && bytes.Equal(x.Body, y.Body)
	})
}

// The bytes of a journal are a format: what is stored stays readable, and chains stay what they are.
func TestTheFormStays(t *testing.T) {
	at := Start(subject)
	var b strings.Builder
	fmt.Fprintf(&b, "start %x\n", at.Chain)
	for _, rows := range [][]Row{
		{{Name, []byte(`{"make":"one"}`), nil}},
		{{Message, []byte("row of messages"), []byte("{\"role\":\"user\"}\n")}, {Event, []byte("row of events"), []byte("{}\n")}, {Control, []byte(`{"name":"state"}`), []byte("running")}},
		nil,
		{{Blob, bytes.Repeat([]byte("x"), 200), nil}},
	} {
		header, payload, next, err := Seal(at, "host-a", 4, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(header)) {
			fmt.Fprintf(&b, "%s: %s\n", name, header[name])
		}
		fmt.Fprintf(&b, "%s\n", hex.EncodeToString(payload))
		at = next
	}
	const name = "testdata/entries.golden"
	if os.Getenv("CTXFS_UPDATE") == "1" {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, b.String(), want)
	}
}

// journals draws entries of a journal.
func journals(t *rapid.T) (entries []Entry) {
	row := rapid.Custom(func(t *rapid.T) Row {
		return Row{
			Kind:    rapid.SampledFrom([]Kind{Message, Event, Control, Child, File, Blob, Summary, Output, Part, Snapshot, End, Name, Link, 'z'}).Draw(t, "kind"),
			Content: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "content"),
			Body:    rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body"),
		}
	})
	for i := range rapid.IntRange(1, 5).Draw(t, "entries") {
		entries = append(entries, Entry{
			I: uint64(i), Host: rapid.StringMatching(`[a-zA-Z0-9-]{1,20}`).Draw(t, "host"), Format: rapid.IntRange(1, 1000).Draw(t, "format"),
			Rows: rapid.SliceOfN(row, 0, 6).Draw(t, "rows"),
		})
	}
	return entries
}

// seal returns entries as an engine has them.
func seal(t *rapid.T, entries []Entry) (list []engine.Entry) {
	at := Start(subject)
	for _, e := range entries {
		header, payload, next, err := Seal(at, e.Host, e.Format, e.Rows)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.CheckEntry("id", header, payload); err != nil {
			t.Fatal(err)
		}
		list, at = append(list, engine.Entry{Header: header, Payload: payload}), next
	}
	return list
}

func TestWhatIsSealedIsOpened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := journals(t)
		at := Start(subject)
		for i, from := range seal(t, entries) {
			if got, err := Peek(from); err != nil || !same(got, entries[i]) {
				t.Fatalf("entry %d: Peek returns %+v, %v", i, got, err)
			}
			got, next, err := Open(at, from)
			if err != nil || !same(got, entries[i]) || next.I != uint64(i+1) {
				t.Fatalf("entry %d: %+v, %v, want %+v", i, got, err, entries[i])
			}
			at = next
		}
	})
}

// No change of an entry, of its place or of what came before it goes unseen.
func TestChangesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := journals(t)
		list := seal(t, entries)
		k := rapid.IntRange(0, len(list)-1).Draw(t, "entry")
		at := Start(subject)
		for _, from := range list[:k] {
			_, at, _ = Open(at, from)
		}
		from := engine.Entry{Header: maps.Clone(list[k].Header), Payload: slices.Clone(list[k].Payload)}
		name := rapid.SampledFrom([]string{"payload", "chain before", "number before", versionHeader, numberHeader, chainHeader, rowsHeader, hostHeader}).Draw(t, "part")
		switch name {
		case "chain before":
			at.Chain[rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1
		case "number before":
			at.I++
		case "payload":
			if len(from.Payload) == 0 || rapid.Bool().Draw(t, "longer") {
				from.Payload = append(from.Payload, 0)
			} else {
				from.Payload[rapid.IntRange(0, len(from.Payload)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		default:
			value := []byte(from.Header[name])
			value[rapid.IntRange(0, len(value)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			from.Header[name] = string(value)
		}
		before := at
		if e, next, err := Open(at, from); err == nil || next != before || e.Rows != nil {
			t.Fatalf("a change of %s: %+v, %v", name, e, err)
		}
	})
}

func TestErrorsOfEntries(t *testing.T) {
	at := Start(subject)
	header, payload, next, err := Seal(at, "a", 4, []Row{{Message, []byte("row"), []byte("body")}})
	if err != nil {
		t.Fatal(err)
	}
	other := subject
	other.Owner = "u1001"
	with := func(name, value string) engine.Entry {
		h := maps.Clone(header)
		h[name] = value
		return engine.Entry{Header: h, Payload: payload}
	}
	for i, c := range []struct {
		at   Position
		from engine.Entry
		want error
	}{
		{at, with(versionHeader, "2"), ErrVersion}, {at, with(versionHeader, "0"), ErrDamaged}, {at, with(versionHeader, "01"), ErrDamaged},
		{next, with("Ctx-X", "1"), ErrGap}, {at, with(numberHeader, "1"), ErrGap}, {at, with(numberHeader, "+0"), ErrDamaged},
		{Start(other), with("Ctx-X", "1"), ErrChain}, {at, with(chainHeader, strings.ToUpper(header[chainHeader])), ErrChain},
		{at, with(rowsHeader, "99999/4"), ErrDamaged}, {at, with(rowsHeader, "5/0"), ErrDamaged}, {at, with(rowsHeader, "5/5"), ErrChain},
		{at, with(hostHeader, "b"), ErrChain}, {at, engine.Entry{Payload: payload}, ErrDamaged}, {at, engine.Entry{}, ErrDamaged},
	} {
		if _, _, err := Open(c.at, c.from); !errors.Is(err, c.want) {
			t.Errorf("%d: %v, want %v", i, err, c.want)
		}
	}
	for _, c := range []struct {
		from engine.Entry
		want error
	}{{with(versionHeader, "2"), ErrVersion}, {with(versionHeader, ""), ErrDamaged}, {with(numberHeader, "x"), ErrDamaged}, {with(rowsHeader, "5/0"), ErrDamaged}, {with(rowsHeader, "1/4"), ErrDamaged}, {engine.Entry{}, ErrDamaged}} {
		if e, err := Peek(c.from); !errors.Is(err, c.want) || e.Rows != nil {
			t.Errorf("Peek returns %+v, %v, want %v", e, err, c.want)
		}
	}
	many := slices.Repeat([]Row{{Kind: Message}}, MaxRows)
	if _, _, _, err := Seal(at, "a", 4, many); err != nil {
		t.Error(err)
	}
	for i, rows := range [][]Row{append(many, Row{}), {{Body: make([]byte, MaxBody+1)}}, {{Content: make([]byte, engine.MaxPayload)}}} {
		if _, _, _, err := Seal(at, "a", 4, rows); !errors.Is(err, engine.ErrTooLarge) {
			t.Errorf("rows %d: %v", i, err)
		}
	}
	for _, host := range []string{"", "a b", "a\n", strings.Repeat("x", 65)} {
		if _, _, _, err := Seal(at, host, 4, nil); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("host %q: %v", host, err)
		}
	}
	if _, _, _, err := Seal(at, "a", 0, nil); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("format 0: %v", err)
	}
}

// Whatever stands in a journal, opening it ends, and what it accepts has one form.
func FuzzOpen(f *testing.F) {
	at := Start(subject)
	for _, rows := range [][]Row{nil, {{Message, []byte("row"), []byte("body")}}, {{Kind: End}, {Blob, nil, []byte("x")}}} {
		header, payload, _, err := Seal(at, "a", 4, rows)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, header[rowsHeader], header[hostHeader])
	}
	f.Add([]byte{0x80, 0x00}, "2/4", "a")
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "10/4", "a")
	f.Fuzz(func(t *testing.T, payload []byte, rows, host string) {
		length, format := 0, 0
		fmt.Sscanf(rows, "%d/%d", &length, &format)
		next := at.next(payload, length, format, host) // a chain that fits, so that the form is looked at
		e, _, err := Open(at, engine.Entry{Payload: payload, Header: engine.Header{
			versionHeader: "1", numberHeader: "0", chainHeader: hex.EncodeToString(next.Chain[:]), rowsHeader: rows, hostHeader: host,
		}})
		if err != nil {
			return
		}
		if peeked, err := Peek(engine.Entry{Payload: payload, Header: engine.Header{
			versionHeader: "1", numberHeader: "0", rowsHeader: rows, hostHeader: host,
		}}); err != nil || !same(peeked, e) {
			t.Fatalf("Peek returns %+v, %v", peeked, err)
		}
		header, again, _, err := Seal(at, e.Host, e.Format, e.Rows)
		if errors.Is(err, engine.ErrTooLarge) && len(payload) > engine.MaxPayload {
			return
		}
		if err != nil || !bytes.Equal(again, payload) || header[rowsHeader] != rows {
			t.Fatalf("%+v: %v, %x is sealed as %x", e, err, payload, again)
		}
	})
}
