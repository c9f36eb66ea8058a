package picture

import "fmt"

// Choose decides which images of a conversation a request to the provider carries. The result has
// the reason for each omitted image, and "" for each carried one. images are in record order, and
// record returns the record number of image i.
//
// If a request exceeds a limit, Choose drops the oldest images. It processes the records in order,
// as if each one were the last, and drops images until half of the limit is reached. A new record
// therefore affects older images only if it exceeds a limit, and many records follow before the
// next one does.
func (v Provider) Choose(images []Picture, record func(i int) int) []string {
	l := &limits[v]
	why := make([]string, len(images))
	w := window{images: images, why: why}
	for i := 0; i < len(images); {
		end := i + 1
		for end < len(images) && record(end) == record(i) {
			end++
		}
		for k := i; k < end; k++ {
			if why[k] = v.Refuses(&images[k]); why[k] == "" {
				w.n, w.base64 = w.n+1, w.base64+images[k].Base64
			}
		}
		if w.n > l.images {
			w.drop(i, end, func() bool { return w.n > l.images/2 }, func() bool { return w.n > l.images },
				fmt.Sprintf("a request may have %d images, and newer ones take their place", l.images))
		}
		if most := imagesOf(l.body); w.base64 > most {
			w.drop(i, end, func() bool { return w.base64 > most/2 }, func() bool { return w.base64 > most },
				fmt.Sprintf("the images of a request may have %d bytes in base64, and newer ones take their place", most))
		}
		if l.many > 0 && w.n > l.many {
			for k := range end {
				if p := &images[k]; why[k] == "" && max(p.Width, p.Height) > l.manyEdge {
					w.leave(k, fmt.Sprintf("it has %d×%d pixels, more than %d on an edge in a request of more than %d images", p.Width, p.Height, l.manyEdge, l.many))
				}
			}
		}
		i = end
	}
	return why
}

// window counts the images that a request carries.
type window struct {
	images []Picture
	why    []string
	oldest int // no image before it is carried
	n      int // images
	base64 int // their bytes
}

// drop omits the oldest images: images of earlier records while low returns true, and images of the
// record from..end while high does.
func (w *window) drop(from, end int, low, high func() bool, why string) {
	for ; w.oldest < end && (w.oldest < from && low() || high()); w.oldest++ {
		if w.why[w.oldest] == "" {
			w.leave(w.oldest, why)
		}
	}
}

func (w *window) leave(k int, why string) {
	w.why[k] = why
	w.n, w.base64 = w.n-1, w.base64-w.images[k].Base64
}
