package shared

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// drawRows draws the rows of an entry.
func drawRows(t *rapid.T) []Row {
	row := rapid.Custom(func(t *rapid.T) Row {
		return Row{
			Kind:    rapid.SampledFrom([]Kind{Message, Event, Control, Child, Blob, End}).Draw(t, "kind"),
			Content: rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "content"),
			Body:    rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "body"),
		}
	})
	return rapid.SliceOfN(row, 0, 6).Draw(t, "rows")
}

func TestSealedEntriesOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, reader := Start(ID{1}), Start(ID{1})
		for range rapid.IntRange(1, 4).Draw(t, "entries") {
			rows, key := drawRows(t), NewID()
			e, next, err := Seal(at, key, "host-a", 4, rows)
			if err != nil {
				t.Fatal(err)
			}

			got, after, err := Open(reader, e)
			same := func(a, b Row) bool {
				return a.Kind == b.Kind && bytes.Equal(a.Content, b.Content) && bytes.Equal(a.Body, b.Body)
			}
			if err != nil || after != next || got.Host != "host-a" || got.Format != 4 || got.Key != key ||
				!slices.EqualFunc(got.Rows, rows, same) {
				t.Fatalf("%+v, %v, want %+v", got, err, rows)
			}
			at, reader = next, after
		}
	})
}

// Every changed byte of an entry, its number, or its predecessor is an error.
func TestChangedEntriesFail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := Start(ID{1})
		e, _, err := Seal(at, ID{2}, "host-a", 4, drawRows(t))
		if err != nil {
			t.Fatal(err)
		}

		e.Rows, e.Body = slices.Clone(e.Rows), slices.Clone(e.Body)
		switch part := rapid.SampledFrom([]string{"rows", "body", "number", "chain"}).Draw(t, "part"); {
		case part == "number":
			e.I++
		case part == "chain":
			at.Chain[rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1
		case part == "body" && len(e.Body) > 0:
			e.Body[rapid.IntRange(0, len(e.Body)-1).Draw(t, "byte")] ^= 1
		default:
			e.Rows[rapid.IntRange(0, len(e.Rows)-1).Draw(t, "byte")] ^= 1
		}
		if got, next, err := Open(at, e); err == nil || next != at || got.Rows != nil {
			t.Fatalf("a changed entry opens: %+v", got)
		}
	})
}

// The bytes of entries are a format: stored entries stay readable.
func TestEntryFormat(t *testing.T) {
	e, next, err := Seal(Start(ID{1}), ID{2}, "a", 4, []Row{{Message, []byte("row"), []byte("body")}, {Kind: End}})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%x %s %d %x", e.Rows, e.Body, next.I, next.Chain[:4])
	const want = "0173462d1cbf6af315fbac2d843c0dab341147af3b774c225b31ef0bca38722d66" +
		"040161056d04726f77025800 body 1 73462d1c"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestLimitsOfEntries(t *testing.T) {
	at := Start(ID{1})
	for _, rows := range [][]Row{
		make([]Row, MaxRows+1), {{Body: make([]byte, MaxBody+1)}}, {{Content: make([]byte, maxRows)}},
	} {
		if _, next, err := Seal(at, ID{}, "a", 1, rows); !errors.Is(err, ErrTooLarge) || next != at {
			t.Errorf("%d rows: %v", len(rows), err)
		}
	}
	for _, host := range []string{"", "a b", "a\n", string(make([]byte, 65))} {
		if _, _, err := Seal(at, ID{}, host, 1, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("host %q: %v", host, err)
		}
	}
}

func TestIDsHaveOneText(t *testing.T) {
	id := NewID()
	if got, err := ParseID(id.String()); err != nil || got != id {
		t.Errorf("%v, %v, want %v", got, err, id)
	}
	for _, text := range []string{"", "x", "0123", id.String() + "0", "ABCDEF00-0000-4000-8000-000000000000"} {
		if _, err := ParseID(text); err == nil {
			t.Errorf("%q is an id", text)
		}
	}
}

// Whatever bytes an entry has, Open ends and returns rows that Seal accepts.
func FuzzOpen(f *testing.F) {
	e, _, _ := Seal(Start(ID{1}), ID{2}, "a", 4, []Row{{Message, []byte("row"), []byte("body")}})
	f.Add(e.Rows, e.Body)
	f.Fuzz(func(t *testing.T, rows, body []byte) {
		unpackRows(rows, body)
		Open(Start(ID{1}), Entry{Rows: rows, Body: body})
	})
}
