package log

import (
	"bytes"
	"testing"
)

// What is taken for an arrival row is printed as it was, but for rows of the first format, which have no checksum.
func FuzzArrivalRow(f *testing.F) {
	row := Row{Len: 12, SHA: ChainSeed("00", "x"), Chain: ChainSeed("01", "x"), At: 1_760_000_000_123_456_789, UID: 1000, PID: 77, Events: -1}
	f.Add(bytes.TrimSuffix(row.AppendTo(nil), []byte("\n")))
	row.Off, row.Events, row.Key = 12, 3, Key{Conn: 5, Unique: 6}
	f.Add(bytes.TrimSuffix(row.AppendTo(nil), []byte("\n")))
	row.Estimated = true
	f.Add(bytes.TrimSuffix(row.AppendTo(nil), []byte("\n")))
	f.Add([]byte(`{"off":-1}`))
	parse := func(line []byte) ([]byte, bool) {
		a, ok := ParseRow(line)
		if !ok {
			return nil, false
		}
		return bytes.TrimSuffix(a.AppendTo(nil), []byte("\n")), true
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		once, ok := parse(line)
		if !ok {
			return
		}
		if !bytes.Contains(line, []byte(`"crc"`)) {
			if again, ok := parse(once); !ok || !bytes.HasPrefix(once, line[:len(line)-1]) || !bytes.Equal(again, once) {
				t.Fatalf("%q prints as %q, then as %q", line, once, again)
			}
		} else if twice, ok := parse(once); !ok || !bytes.Equal(once, twice) || !bytes.Equal(once, line) {
			t.Fatalf("%q prints as %q, then as %q", line, once, twice)
		}
	})
}
