package result

import (
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// binary shows the format and the size of the bytes.
func (r *result) binary() (string, bool) {
	return fmt.Sprintf("[%s, %d bytes]\n%s", typeOf(r.text), r.bytes, compress.LeftOut(0, r.bytes, r.path)), true
}

// unknownType is the name that typeOf returns for an unknown format.
const unknownType = "binary data"

// typeOf returns the name of a format, from the first bytes of its data. Records are text: bytes
// that were no UTF-8 have become replacement characters in them.
func typeOf(data string) string {
	for _, t := range []struct{ magic, name string }{
		{"\x89PNG", "image/png"}, {"\ufffdPNG", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "application/pdf"},
		{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"\x7fELF", "an ELF program"}, {"SQLite format 3", "an SQLite database"},
	} {
		if strings.HasPrefix(data, t.magic) {
			return t.name
		}
	}
	return unknownType
}
