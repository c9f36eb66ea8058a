package arrival_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/session/arrival"
)

// some are rows of every form, with the bytes of each. They never change: a store has them, and another one is sent them.
var some = []struct {
	row  arrival.Row
	line string
}{
	{arrival.Row{Len: 12, SHA: arrival.ChainSeed("00", "x"), Chain: arrival.ChainSeed("01", "x"), Whole: true, At: 1_760_000_000_123_456_789, UID: 1000, PID: 77, Events: -1},
		"0235021fc701d6a6cc6612367491c33ad699fa15ac938fe52e2795948c1536595fa02ec454febeb2ad06c129c26080d4daa78bf21b11ba7464caf5ba06efb5e5011e1dca7849fe35dd01250306e20d47ae6158a40a"},
	{arrival.Row{Off: 12, Len: 1 << 40, SHA: arrival.ChainSeed("00", "x"), Chain: link(arrival.ChainSeed("02", "x")), At: -1, UID: 1<<32 - 1, PID: 0, Events: 300, Key: arrival.Key{Conn: 1<<63 + 10, Unique: 6}},
		"023909f5f5f5f5f5f5f5f5367491c33ad699fa15ac938fe52e2795948c1536595fa02ec454febeb2ad06c154785d3d7d65e993000b0b0b0b0b048a068a8a8a8a8a2af5f5f5f50502a6080c16ba2cea0a"},
	{arrival.Row{Off: 1<<62 - 1, Len: 1, Whole: true, Estimated: true, Key: arrival.Key{Unique: 1<<64 - 1}},
		"0208050b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b01f5f5f5f5f5f5f5f5350b0b0b05f5f5f5f5f5f5f5f5f50bffed72260a"},
}

// link is what a row that is not whole has of the chain's value.
func link(chain arrival.Hash) (short arrival.Hash) {
	copy(short[:arrival.LinkSize], chain[:])
	return short
}

func TestTheBytesOfRows(t *testing.T) {
	for i, c := range some {
		line := arrival.AppendRow([]byte("in front"), &c.row)
		if got := hex.EncodeToString(bytes.TrimPrefix(line, []byte("in front"))); got != c.line {
			t.Errorf("row %d is\n%s, want\n%s", i, got, c.line)
		}
	}
}

func row(t *rapid.T) arrival.Row {
	hash := func(name string) arrival.Hash {
		return arrival.Hash(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, '\n', '{', 255}), 32, 32).Draw(t, name))
	}
	a := arrival.Row{Off: rapid.Int64Range(0, 1<<62).Draw(t, "off"), Len: rapid.Int64Range(1, 1<<62-1).Draw(t, "len"), SHA: hash("sha"), Chain: hash("chain"),
		Whole: rapid.Bool().Draw(t, "whole"), At: rapid.Int64().Draw(t, "at"), UID: rapid.Uint32().Draw(t, "uid"), PID: rapid.Uint32().Draw(t, "pid"),
		Events: rapid.Int64Min(-1).Draw(t, "events"), Estimated: rapid.Bool().Draw(t, "estimated"),
		Key: arrival.Key{Conn: rapid.Uint64().Draw(t, "connection"), Unique: rapid.Uint64().Draw(t, "request")}}
	if !a.Whole {
		a.Chain = link(a.Chain)
	}
	return a
}

func TestARowIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := row(t)
		line := arrival.AppendRow(nil, &a)
		if i := bytes.IndexByte(line, '\n'); i != len(line)-1 || len(line) > 160 {
			t.Fatalf("%d bytes, the first newline at %d", len(line), i)
		}
		line = line[:len(line)-1]
		if b, ok := arrival.ParseRow(line); !ok || a != b || arrival.IsOld(line) {
			t.Fatalf("%+v was read as %+v, %v", a, b, ok)
		}
		// Whatever happens to one byte or to the end of a row shows.
		at, bits := rapid.IntRange(0, len(line)-1).Draw(t, "at"), rapid.ByteRange(1, 255).Draw(t, "bits")
		if line[at] ^= bits; true {
			if b, ok := arrival.ParseRow(line); ok {
				t.Fatalf("a changed row was read as %+v", b)
			}
		}
		line[at] ^= bits
		if b, ok := arrival.ParseRow(line[:at]); ok {
			t.Fatalf("a part of a row was read as %+v", b)
		}
		a.Whole = true
		printed := arrival.AppendJSON(nil, &a)
		if b, ok := arrival.ParseRow(printed[:len(printed)-1]); !ok || a != b || !arrival.IsOld(printed) {
			t.Fatalf("%s was read as %+v, %v", printed, b, ok)
		}
	})
}

// The chain of rows is the same however much of it rows have, and a row that is lost is passed where the chain proves what it announced.
func TestTheChainOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const id = "00112233445566778899aabbccddeeff"
		writer, values, rows := arrival.ChainFrom(id, "log"), []arrival.Hash(nil), []arrival.Row(nil)
		sinceWhole := 0
		for i := range rapid.IntRange(1, 60).Draw(t, "rows") {
			a := arrival.Row{Off: writer.Next, Len: int64(1 + i%3), SHA: arrival.ChainSeed("", string(rune('a'+i))), Events: -1}
			want := arrival.ChainNext(writer.Value, a.SHA, a.Off, a.Len)
			writer.Extend(&a)
			line := arrival.AppendRow(nil, &a)
			b, ok := arrival.ParseRow(line[:len(line)-1])
			if sinceWhole++; b.Whole {
				sinceWhole = 0
			}
			if !ok || sinceWhole >= arrival.ChainEvery || i == 0 && !b.Whole {
				t.Fatalf("row %d: %v, whole %v, %d since", i, ok, b.Whole, sinceWhole)
			}
			writer.Add(&a)
			if writer.Value != want || a.Chain != want {
				t.Fatalf("row %d has the value %x, want %x", i, writer.Value, want)
			}
			values, rows = append(values, want), append(rows, b)
		}
		lost := rapid.IntRange(0, len(rows)-1).Draw(t, "lost")
		proves := rapid.Bool().Draw(t, "the data is there")
		reader := arrival.ChainFrom(id, "log")
		for i := range rows {
			if i == lost {
				continue
			}
			a := rows[i]
			if i == lost+1 {
				sum := rows[lost].SHA
				if !proves {
					sum[0]++
				}
				if reader.Pass(sum, &a) != proves {
					t.Fatalf("row %d passed: %v", lost, !proves)
				}
			}
			if !reader.Add(&a) {
				t.Fatalf("row %d does not follow", i)
			}
			if reader.Known && (reader.Value != values[i] || a.Chain != values[i] || !a.Whole) {
				t.Fatalf("row %d has the value %x, want %x", i, reader.Value, values[i])
			}
			if !reader.Known && (proves || i >= lost+arrival.ChainEvery) {
				t.Fatalf("the chain is not known at row %d, with row %d lost", i, lost)
			}
		}
		if last := rows[len(rows)-1]; len(rows) > 1 {
			c, before := arrival.Chain{}, rows[len(rows)-2]
			c.Add(&before)
			last.SHA[0] ^= 1
			last.Whole = false
			if c.Known && c.Add(&last) {
				t.Fatal("a row of another commit follows")
			}
		}
	})
}

// What is taken for an arrival row is written as it was, but for rows of format 1, which have no checksum.
func FuzzArrivalRow(f *testing.F) {
	for _, c := range some {
		for _, line := range [][]byte{arrival.AppendRow(nil, &c.row), arrival.AppendJSON(nil, &c.row)} {
			f.Add(bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	f.Add([]byte(`{"off":-1}`))
	f.Add([]byte{arrival.Version})
	parse := func(line []byte) ([]byte, bool) {
		a, ok := arrival.ParseRow(line)
		if !ok {
			return nil, false
		}
		write := arrival.AppendRow
		if arrival.IsOld(line) {
			write = arrival.AppendJSON
		}
		return bytes.TrimSuffix(write(nil, &a), []byte("\n")), true
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		once, ok := parse(line)
		if !ok {
			return
		}
		if arrival.IsOld(line) && !bytes.Contains(line, []byte(`"crc"`)) {
			if again, ok := parse(once); !ok || !bytes.HasPrefix(once, line[:len(line)-1]) || !bytes.Equal(again, once) {
				t.Fatalf("%q prints as %q, then as %q", line, once, again)
			}
		} else if twice, ok := parse(once); !ok || !bytes.Equal(once, twice) || !bytes.Equal(once, line) {
			t.Fatalf("%q prints as %q, then as %q", line, once, twice)
		}
	})
}

func BenchmarkAppendRow(b *testing.B) {
	a, line := some[1].row, []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		line = arrival.AppendRow(line[:0], &a)
	}
	b.ReportMetric(float64(len(line)), "B/row")
}

func BenchmarkParseRow(b *testing.B) {
	line := arrival.AppendRow(nil, &some[1].row)
	line = line[:len(line)-1]
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := arrival.ParseRow(line); !ok {
			b.Fatal("not a row")
		}
	}
}
