package picture

import (
	"fmt"
	"slices"
)

// Provider is a model provider with its own limits.
type Provider uint8

// The providers.
const (
	OpenAI Provider = iota
	Anthropic
	Gemini
	Providers // their number
)

// Any is a provider that is not known: it has the strictest limits of all.
const Any = Providers

func (v Provider) String() string { return limits[v].name }

// limit describes the images that a provider accepts. 0 means that the documentation names no
// limit.
type limit struct {
	name      string
	types     []string
	still     bool // no animations
	addresses bool // it fetches the images behind URLs
	base64    int  // bytes of one image
	edge      int  // pixels
	many      int  // images in a request, above which an edge may have
	manyEdge  int  // so many pixels
	images    int  // in a request
	body      int  // bytes of a request
}

var limits = [Any + 1]limit{
	OpenAI:    {name: "OpenAI", types: []string{PNG, JPEG, WebP, GIF}, still: true, addresses: true, images: 500, body: 50_000_000},
	Anthropic: {name: "Anthropic", types: []string{PNG, JPEG, WebP, GIF}, addresses: true, base64: 5 << 20, edge: 8000, many: 20, manyEdge: 2000, images: 100, body: 32_000_000},
	Any: {name: "any provider", types: []string{PNG, JPEG, WebP}, still: true, addresses: true,
		base64: 5 << 20, edge: 8000, many: 20, manyEdge: 2000, images: 100, body: 20_000_000},
	Gemini: {name: "Gemini", types: []string{PNG, JPEG, WebP, HEIC, HEIF},
		base64: (7 << 20) / 3 * 4, images: 900, body: 20_000_000},
}

// imagesOf returns the part of a request body, in bytes, that images may use. Texts use the rest.
func imagesOf(body int) int { return body / 4 * 3 }

// Refuses returns the reason why a provider rejects an image in every request; "" if it accepts the
// image.
func (v Provider) Refuses(p *Picture) string {
	l := &limits[v]
	switch {
	case p.Problem != "":
		return p.Problem
	case p.Address && !l.addresses:
		return "it is an address, which the provider does not fetch"
	case p.Address:
		return ""
	case !slices.Contains(l.types, p.Type):
		return p.Type + " is not a type that the provider accepts"
	case p.Animated && l.still:
		return "it is animated"
	case l.base64 > 0 && p.Base64 > l.base64:
		return fmt.Sprintf("it has %d bytes in base64, more than %d", p.Base64, l.base64)
	case p.Base64 > imagesOf(l.body):
		return fmt.Sprintf("it has %d bytes in base64, more than %d", p.Base64, imagesOf(l.body))
	case l.edge > 0 && max(p.Width, p.Height) > l.edge:
		return fmt.Sprintf("it has %d×%d pixels, more than %d on an edge", p.Width, p.Height, l.edge)
	}
	return ""
}
