package picture

import (
	"encoding/binary"
	"errors"
)

var errHeader = errors.New("damaged header")

// webpSize returns the size of a WebP image in pixels. It returns an error if the header is
// damaged.
func webpSize(b []byte) (width, height int, err error) {
	if len(b) < 30 {
		return 0, 0, errHeader
	}
	chunk := b[20:]
	switch string(b[12:16]) {
	case "VP8 ":
		if string(chunk[3:6]) != "\x9d\x01\x2a" {
			return 0, 0, errHeader
		}
		return int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3fff), nil
	case "VP8L":
		if chunk[0] != 0x2f {
			return 0, 0, errHeader
		}
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case "VP8X":
		size := func(at int) int { return int(chunk[at]) | int(chunk[at+1])<<8 | int(chunk[at+2])<<16 }
		return size(4) + 1, size(7) + 1, nil
	}
	return 0, 0, errHeader
}
