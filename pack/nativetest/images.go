package nativetest

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"  // registers its header
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"slices"
	"strings"
)

// imageLimits are the limits of a provider, as its documentation has them; 0: none.
type imageLimits struct {
	types    string
	animated bool
	url      bool
	base64   int // of one image
	edge     int
	many     int // images, above which an edge may have
	manyEdge int
	images   int
	body     int // bytes of the request
}

var limitsOf = map[string]imageLimits{
	"openai":    {types: "png jpeg webp gif", url: true, images: 500, body: 50_000_000},
	"responses": {types: "png jpeg webp gif", url: true, images: 500, body: 50_000_000},
	"anthropic": {types: "png jpeg webp gif", animated: true, url: true, base64: 5 << 20, edge: 8000, many: 20, manyEdge: 2000, images: 100, body: 32_000_000},
	"gemini":    {types: "png jpeg webp heic heif", base64: 9_786_708, images: 900, body: 20_000_000},
	"genai":     {types: "png jpeg webp heic heif", base64: 9_786_708, images: 900, body: 20_000_000},
}

// sentImages are the images of a request so far.
type sentImages struct {
	n     int
	edges []int // the longer one of each whose size is known
}

// base64 checks an image that is in the request itself.
func (c *checker) base64(what string, mime, data any) {
	l := limitsOf[c.format]
	c.images.n++
	kind, _ := mime.(string)
	kind = strings.TrimPrefix(kind, "image/")
	if !slices.Contains(strings.Fields(l.types), kind) {
		c.bad("%s: images are not of type %q", what, mime)
	}
	s, _ := data.(string)
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	switch {
	case err != nil || len(b) == 0 || strings.ContainsAny(s, "\r\n"):
		c.bad("%s: not base64 of anything", what)
		return
	case l.base64 > 0 && len(s) > l.base64:
		c.bad("%s: %d bytes of base64", what, len(s))
	}
	size, is, err := image.DecodeConfig(bytes.NewReader(b))
	switch {
	case kind == "webp":
		if is := len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:15]) == "WEBPVP8"; !is {
			c.bad("%s: no image of type webp", what)
		}
	case kind == "heic" || kind == "heif":
		if is := len(b) >= 12 && string(b[4:8]) == "ftyp"; !is {
			c.bad("%s: no image of type %s", what, kind)
		}
	case err != nil || is != kind:
		c.bad("%s: an image of type %s that is one of %q: %v", what, kind, is, err)
	case size.Width <= 0 || size.Height <= 0:
		c.bad("%s: an image of %d×%d pixels", what, size.Width, size.Height)
	}
	if kind == "gif" && !l.animated && bytes.Contains(b, []byte("NETSCAPE2.0")) {
		c.bad("%s: an animated image", what)
	}
	if edge := max(size.Width, size.Height); edge > 0 {
		c.images.edges = append(c.images.edges, edge)
		if l.edge > 0 && edge > l.edge {
			c.bad("%s: an image of %d×%d pixels", what, size.Width, size.Height)
		}
	}
}

// imageURL checks an image that is an address, or in one.
func (c *checker) imageURL(what string, v any) {
	s, _ := v.(string)
	if inline, ok := strings.CutPrefix(s, "data:"); ok {
		mime, data, _ := strings.Cut(inline, ";base64,")
		c.base64(what, mime, data)
		return
	}
	c.images.n++
	if !limitsOf[c.format].url || !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		c.bad("%s: %q is not the address of an image", what, s)
	}
}

// request checks what the images of a request are together, and its size in bytes.
func (c *checker) request(bytes int) {
	l := limitsOf[c.format]
	if c.images.n > l.images {
		c.bad("%d images", c.images.n)
	}
	if l.many > 0 && c.images.n > l.many {
		for _, edge := range c.images.edges {
			if edge > l.manyEdge {
				c.bad("an image of %d pixels among %d", edge, c.images.n)
			}
		}
	}
	if bytes > l.body {
		c.bad("a body of %d bytes", bytes)
	}
}
