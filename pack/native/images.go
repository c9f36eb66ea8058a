package native

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/picture"
	"github.com/ctxfs/ctxfs/pack/record"
)

// providerOf is the provider of each format.
var providerOf = map[Format]picture.Provider{OpenAI: picture.OpenAI, Responses: picture.OpenAI, Anthropic: picture.Anthropic, Gemini: picture.Gemini, GenAI: picture.Gemini}

// providers is a set of providers.
type providers uint8

func (s providers) has(v picture.Provider) bool { return s&(1<<v) != 0 }

// String lists the providers.
func (s providers) String() string {
	var names []string
	for v := range picture.Providers {
		if s.has(v) {
			names = append(names, v.String())
		}
	}
	return strings.Join(names, ", ")
}

// allProviders is the set of all of them.
const allProviders providers = 1<<picture.Providers - 1

// noImages notes that the images of a record are replaced by lines because of its role.
func (w *scripter) noImages(l *Line) {
	if !l.Past {
		w.repair(l.Address, "providers accept no data from %s: a line replaces it", l.Role)
	}
}

// chooseImages decides which images each provider gets, in the order of the records.
func (w *scripter) chooseImages() {
	var slots []*Slot
	for i := range w.Turns {
		for k := range w.Turns[i].Slots {
			s := &w.Turns[i].Slots[k]
			if s.Line >= 0 && (s.kind == record.DataPortion || s.kind == record.ResultPortion) && w.Lines[s.Line].Carried && len(w.Lines[s.Line].Contents[s.n].Images) > 0 {
				slots = append(slots, s)
			}
		}
	}
	if slots == nil {
		return
	}
	slices.SortFunc(slots, func(a, b *Slot) int { return cmp.Or(a.Line-b.Line, a.n-b.n) })
	var images []picture.Picture
	var of []*Slot
	for _, s := range slots {
		list := w.Lines[s.Line].Contents[s.n].Images
		images = append(images, list...)
		s.refused = make([]providers, len(list))
		of = append(of, slices.Repeat([]*Slot{s}, len(list))...)
	}
	why := [picture.Providers][]string{}
	for v := range picture.Providers {
		why[v] = v.Choose(images, func(i int) int { return of[i].Line })
	}
	n := 0 // of the image in its slot
	for i := range images {
		if n++; i == 0 || of[i] != of[i-1] {
			n = 0
		}
		w.chosen(of[i], n, &images[i], func(v picture.Provider) string { return why[v][i] })
	}
}

// chosen notes in a slot which providers do not get its n-th image, and reports why.
func (w *scripter) chosen(s *Slot, n int, p *picture.Picture, why func(picture.Provider) string) {
	at := w.Lines[s.Line].Address
	for v := range picture.Providers {
		if reason := why(v); reason != "" && !s.refused[n].has(v) {
			same := providers(0)
			for u := range picture.Providers {
				if why(u) == reason {
					same |= 1 << u
				}
			}
			if s.refused[n] |= same; same == allProviders {
				w.repair(at, "a line replaces data: %s", reason)
			} else {
				w.repair(at, "for %s, a line replaces an image: %s", same, reason)
			}
		}
	}
	if p.Mistyped() && s.refused[n] != allProviders {
		w.repair(at, "an image has the media type %.60q, and its bytes are %s: it is sent as that", p.Claimed, p.Type)
	}
}

// withoutRefused replaces the images that a provider refuses with their lines.
func (d *Dialogue) withoutRefused(v picture.Provider) {
	for i := range d.turns {
		for k := range d.turns[i].parts {
			d.turns[i].parts[k].withoutRefused(v)
		}
	}
}

func (p *filled) withoutRefused(v picture.Provider) {
	var kept []record.Image
	for i, im := range p.images {
		switch {
		case i >= len(p.refused) || !p.refused[i].has(v):
			kept = append(kept, im)
		case p.kind == record.DataPortion:
			p.kind = record.TextPortion
		default:
			p.text = strings.TrimLeft(p.text+"\n"+im.Mark, "\n")
		}
	}
	p.images = kept
}
