package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	pixels "image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
)

// Picture describes an image without its data.
type Picture struct {
	Type          string // the media type of the bytes; "" of an address, and where it is not known
	Claimed       string // the media type that the record names; "": none
	Width, Height int    // in pixels; 0: not known
	Base64        int    // bytes of the data in base64
	Animated      bool   // a GIF with several frames
	Address       bool   // a URL, whose content is not known
	Problem       string // the reason why no provider accepts it; "": none
}

// Mistyped reports whether the media type in the record differs from the type of the bytes.
func (p *Picture) Mistyped() bool { return p.Problem == "" && !p.Address && p.Claimed != p.Type }

// The media types of images.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	WebP = "image/webp"
	GIF  = "image/gif"
	HEIC = "image/heic"
	HEIF = "image/heif"
)

// Inspect describes an image with base64 data. claimed is the media type in its record. Inspect
// returns the data without line breaks.
func Inspect(claimed, data string) (Picture, string) {
	p := Picture{Claimed: claimed}
	if strings.ContainsAny(data, "\r\n") {
		data = strings.NewReplacer("\r", "", "\n", "").Replace(data)
	}
	p.Base64 = len(data)
	b, err := base64.StdEncoding.Strict().DecodeString(data)
	switch {
	case err != nil:
		p.Problem = "its base64 is broken"
	case len(b) == 0:
		p.Problem = "it is empty"
	default:
		p.read(b)
	}
	return p, data
}

func (p *Picture) read(b []byte) {
	if p.Type = typeOf(b); p.Type == "" {
		p.Problem = "its bytes are no PNG, JPEG, WebP, GIF, or HEIC"
		return
	}
	var c pixels.Config
	var err error
	switch p.Type {
	case PNG:
		c, err = png.DecodeConfig(bytes.NewReader(b))
	case JPEG:
		c, err = jpeg.DecodeConfig(bytes.NewReader(b))
	case GIF:
		c, err = gif.DecodeConfig(bytes.NewReader(b))
		p.Animated = framesOf(b) > 1
	case WebP:
		c.Width, c.Height, err = webpSize(b)
	default:
		return
	}
	var png png.UnsupportedError
	var jpeg jpeg.UnsupportedError
	switch p.Width, p.Height = c.Width, c.Height; {
	case errors.As(err, &png), errors.As(err, &jpeg): // rare, not damaged
		p.Width, p.Height = 0, 0
	case err != nil || c.Width <= 0 || c.Height <= 0:
		p.Problem = "its header is damaged"
	}
}

// typeOf detects the media type of an image by its first bytes; "" if no provider accepts the type.
func typeOf(b []byte) string {
	has := func(at int, magic string) bool { return len(b) >= at && bytes.HasPrefix(b[at:], []byte(magic)) }
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return PNG
	case has(0, "\xff\xd8\xff"):
		return JPEG
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return GIF
	case has(0, "RIFF") && has(8, "WEBP"):
		return WebP
	case !has(4, "ftyp"):
		return ""
	}
	for _, brand := range []string{"heic", "heix", "heim", "heis", "hevc", "hevx"} {
		if has(8, brand) {
			return HEIC
		}
	}
	if has(8, "mif1") || has(8, "msf1") {
		return HEIF
	}
	return ""
}

// framesOf counts the frames of a GIF, up to 2.
func framesOf(b []byte) (n int) {
	table := func(flags byte) int { // of colors
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	if len(b) < 13 {
		return 0
	}
	at := 13 + table(b[10])
	for n < 2 && at < len(b) {
		switch b[at] {
		case '!': // an extension
			at += 2
		case ',': // a frame
			n++
			if at+9 >= len(b) {
				return n
			}
			at += 11 + table(b[at+9])
		default: // the end
			return n
		}
		for at < len(b) && b[at] != 0 { // blocks of data
			at += int(b[at]) + 1
		}
		at++
	}
	return n
}
