package result

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// binary shows what the bytes are and how many.
func (r *result) binary() (string, bool) {
	what, size := typeOf(r.text), r.bytes
	if media, n := base64Of(r.text); n > 0 {
		if media == "" {
			media = typeOf(decodeStart(r.text))
		}
		what, size = "base64 of "+media, n
	}
	return fmt.Sprintf("[%s, %d bytes]\n%s", what, size, compress.LeftOut(0, r.bytes, r.path)), true
}

// unknownType is the name that typeOf returns for an unknown format.
const unknownType = "binary data"

// typeOf returns the name of a format, by how data of it begins.
func typeOf(data string) string {
	for _, t := range []struct{ magic, name string }{
		{"\x89PNG", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "application/pdf"}, {"PK\x03\x04", "application/zip"},
		{"\x1f\x8b", "application/gzip"}, {"\x7fELF", "an ELF program"}, {"SQLite format 3", "an SQLite database"}, {"RIFF", "audio or image (RIFF)"}, {"OggS", "audio/ogg"},
		{"\xfd7zXZ", "application/x-xz"}, {"BZh", "application/x-bzip2"}, {"\x28\xb5\x2f\xfd", "application/zstd"}, {"\xca\xfe\xba\xbe", "a Java class"}, {"\x00asm", "a WebAssembly module"},
	} {
		if strings.HasPrefix(data, t.magic) {
			return t.name
		}
	}
	// Records are text: what was no UTF-8 when it was written is no more what it was.
	for _, t := range []struct{ sign, name string }{{"PNG\n\x1a", "image/png"}, {"PNG\r\n", "image/png"}, {"ELF", "an ELF program"}, {"JFIF", "image/jpeg"}} {
		if at := strings.Index(data[:min(len(data), 16)], t.sign); at >= 0 {
			return t.name
		}
	}
	return unknownType
}

// base64Of returns the media type of a data URL, if text is one, and the number of bytes that it
// stands for. n is 0 if the text is not all base64.
func base64Of(text string) (media string, n int) {
	body := strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(body, "data:"); ok {
		at := strings.Index(rest[:min(len(rest), 200)], ";base64,")
		if at < 0 {
			return "", 0
		}
		media, body = rest[:at], rest[at+len(";base64,"):]
	}
	if len(body) < 256 {
		return "", 0
	}
	digits, upper := false, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		digits = digits || c >= '0' && c <= '9'
		upper = upper || c >= 'A' && c <= 'Z'
		if !ofBase64(c) && !(c == '=' && i >= len(body)-2) {
			return "", 0
		}
	}
	first := strings.IndexAny(body, "\r\n")
	if first < 0 {
		first = len(body)
	}
	if !digits || !upper || first < 60 && first < len(body) {
		return "", 0
	}
	return media, base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(body, "=")) - strings.Count(body, "\n") - strings.Count(body, "\r"))
}

// ofBase64 reports whether a byte stands in base64, in one of its alphabets or between lines.
func ofBase64(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_\n\r", c) >= 0
}
