package result

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/internal/picture"
)

// Limits of [WithoutData], in bytes.
const (
	minData     = 200 // of a run of base64; a shorter one may be an id
	minDataLine = 60  // of a line of wrapped base64
	mediaBytes  = 100 // of the media type of a data URL
)

// WithoutData returns text with one mark for each run of base64 and each data URL of at least
// minData bytes:
//
//	[base64, 1,890,000 characters · context/line/3.txt]
//	[Image png 900x700, 1,890,000 characters · context/line/3.txt]
//
// The mark names the path of the whole text. It contains no character that JSON escapes, so JSON
// stays JSON. Hexadecimal dumps and JSON web tokens are left as they are.
func WithoutData(text, path string) string {
	if len(text) < minData {
		return text
	}
	var out strings.Builder
	done := 0 // up to where text is written
	for at := 0; at < len(text); {
		if !inBase64[text[at]] {
			at++
			continue
		}
		end := dataEnd(text, at)
		if end-at >= minData && isData(text, at, end) {
			from, media := dataURL(text, done, at)
			out.WriteString(text[done:from])
			out.WriteString(dataMark(text[at:end], media, path))
			done = end
		}
		at = end
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// inBase64 has the bytes of both alphabets of base64.
var inBase64 = func() (is [256]bool) {
	for i := range is {
		c := byte(i)
		is[i] = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_", c) >= 0
	}
	return is
}()

// dataEnd returns the end of the run of base64 that begins at a byte of text: with its padding, and
// with further lines if it is wrapped. A line may end, and a slash be written, as in text or as in a
// JSON string.
func dataEnd(text string, at int) (end int) {
	for {
		begin := at
		for at < len(text) && (inBase64[text[at]] || strings.HasPrefix(text[at:], `\/`)) {
			at++
		}
		padding := len(text[at:min(len(text), at+2)]) - len(strings.TrimLeft(text[at:min(len(text), at+2)], "="))
		at += padding
		if end > 0 && padding == 0 && at < len(text) && strings.IndexByte("\r\n\\\"'<", text[at]) < 0 {
			return end // the line is text
		}

		end = at
		if padding > 0 || at-begin < minDataLine {
			return end
		}
		for _, lineEnd := range []string{"\r\n", "\n", `\r\n`, `\n`} {
			if strings.HasPrefix(text[at:], lineEnd) {
				at += len(lineEnd)
				break
			}
		}
		if at == end || at == len(text) || !inBase64[text[at]] || text[at] == '-' {
			return end
		}
	}
}

// isData reports whether a run of base64 looks like encoded bytes: small and capital letters and
// digits are mixed, as they are in no path, no word, and no hexadecimal dump.
func isData(text string, at, end int) bool {
	if strings.HasPrefix(text[at:], "eyJ") && end < len(text) && text[end] == '.' || at > 0 && text[at-1] == '.' {
		return false // a part of a JSON web token
	}
	small, capital, digits := 0, 0, 0
	for i := at; i < end; i++ {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z':
			small++
		case c >= 'A' && c <= 'Z':
			capital++
		case c >= '0' && c <= '9':
			digits++
		}
	}
	n := end - at
	return small*10 >= n && capital*10 >= n && digits*50 >= n || strings.HasSuffix(text[:at], ";base64,") ||
		typeOf(decodeStart(text[at:end])) != unknownType
}

// dataURL returns where the data URL begins whose data begins at a byte of text, not before from,
// and its media type. Without one it returns the byte itself.
func dataURL(text string, from, at int) (begin int, media string) {
	before, ok := strings.CutSuffix(text[max(from, at-mediaBytes):at], ";base64,")
	if !ok {
		return at, ""
	}
	scheme := strings.LastIndex(before, "data:")
	if scheme < 0 {
		return at, ""
	}
	media, _, _ = strings.Cut(before[scheme+len("data:"):], ";")
	return at - len(";base64,") - len(before) + scheme, media
}

// dataMark returns the mark for data of a media type; "" is an unknown one.
func dataMark(data, media, path string) string {
	data = strings.NewReplacer("\r", "", "\n", "", `\r`, "", `\n`, "", `\/`, "/").Replace(data)
	what := "base64"
	if media == "" && len(data) >= 64 {
		media = typeOf(decodeStart(data))
	}
	if kind, ok := strings.CutPrefix(media, "image/"); ok {
		what = "Image " + mediaName(kind)
		standard := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(data, "="))
		if p, _ := picture.Inspect(media, standard+strings.Repeat("=", (4-len(standard)%4)%4)); p.Width > 0 {
			what += fmt.Sprintf(" %dx%d", p.Width, p.Height)
		}
	} else if strings.Contains(media, "/") {
		what += " of " + mediaName(media)
	}
	return "[" + what + ", " + thousands(len(data)) + " characters · " + path + "]"
}

// mediaName returns a media type with nothing but the characters that such a name has.
func mediaName(media string) string {
	return strings.Map(func(c rune) rune {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("/+.-", c) {
			return c
		}
		return -1
	}, media)
}

// thousands writes a number with a comma before each group of three digits.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// decodeStart returns the first bytes that base64 of at least 64 characters stands for.
func decodeStart(text string) string {
	body := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSpace(text)[:64])
	data, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		return ""
	}
	return string(data)
}
