package vfs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A summed line is a JSON object whose last key is the CRC-32C, in hex, of all that stands in front
// of it:
//
//	{"version":2,"id":"ec61…4fc6","crc":"9a3cf0b1"}
const SumKey = `,"crc":"`

// Summed adds the checksum to an object with at least one key.
func Summed(line []byte) []byte {
	head := line[:len(line)-1]
	return fmt.Appendf(bytes.Clone(head), `%s%08x"}`, SumKey, crc32.Checksum(head, Castagnoli))
}

// SumFits reads a summed line into v. A line without a checksum, as earlier versions wrote them,
// fits when it has no key that v does not know.
func SumFits(line []byte, v any) bool {
	if i := bytes.LastIndex(line, []byte(SumKey)); i >= 0 {
		return fmt.Sprintf(`%s%08x"}`, SumKey, crc32.Checksum(line[:i], Castagnoli)) == string(line[i:]) && json.Unmarshal(line, v) == nil
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(v) == nil && d.InputOffset() == int64(len(line))
}

var Castagnoli = crc32.MakeTable(crc32.Castagnoli)
