package pack

import "github.com/ctxfs/ctxfs/pack/native"

// Native returns the rendering of the build in a format, made when it is asked for first. It fails with
// ctxabi.ErrOverBudget when so little room is left that only pack.md fits, and with ctxabi.ErrIO when a record cannot be read.
func (b *Build) Native(f native.Format, logs native.Logs) ([]byte, error) {
	return b.native.Body(f, logs)
}

// Size is about how many bytes of memory the build holds: its renderings, and what others are made from. Texts of records and
// blocks are not among them, which all builds of a session share.
func (b *Build) Size() int {
	size := 1024 + len(b.Markdown) + b.jsonSize + len(b.Report) + 16*len(b.borders) + 192*len(b.Head) + b.uncovered.size()
	if b.native == nil {
		return size
	}
	return size + b.native.Size()
}
