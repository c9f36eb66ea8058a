package ledger

import (
	"cmp"
	"slices"
)

// bound drops the files that were touched longest ago, and contents, until the state is within its bounds.
func (d *desk) bound() {
	held := 0
	for _, f := range d.files {
		if f.Text != nil {
			held += len(f.Text.Body)
		}
	}
	if len(d.files) <= MaxFiles && held <= maxHeld {
		return
	}
	d.own()
	order := slices.Clone(d.files)
	slices.SortStableFunc(order, func(a, b *File) int { return cmp.Compare(a.rank(), b.rank()) })
	gone := map[*File]bool{}
	for _, f := range order[:max(0, len(order)-MaxFiles)] {
		gone[f] = true
		if f.Text != nil {
			held -= len(f.Text.Body)
		}
	}
	d.files = slices.DeleteFunc(d.files, func(f *File) bool { return gone[f] })
	for _, f := range order {
		if held <= maxHeld {
			break
		}
		if gone[f] || f.Text == nil || len(f.Text.Body) == 0 {
			continue
		}
		held -= len(f.Text.Body)
		text := *f.Text
		text.Body, text.Held = "", false
		d.edit(f.Path).Text = &text
	}
}

// rank orders files by when they leave: links last, since they give others a second name.
func (f *File) rank() int {
	r := max(f.At, f.Seen)
	if f.Kind == Link {
		r += 1 << 40
	}
	return r
}
