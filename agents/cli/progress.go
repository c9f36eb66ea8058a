package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/ctxfs/ctxfs/internal/cli"
)

// progress shows on a terminal how many bytes of the transcripts were read,
// and, once they were, how many records are in the session: a format may have
// to read all of a transcript before it knows what comes first. Elsewhere it
// is silent.
type progress struct {
	w    io.Writer // nil: silent
	size int64
	read int64
	bar  *progressbar.ProgressBar
	slow *progressbar.ProgressBar // of records
}

// newProgress begins one of size bytes, -1 where nobody knows how many.
func newProgress(w io.Writer, size int64, quiet bool) *progress {
	if s := cli.ScreenOf(w); quiet || !s.Terminal {
		return &progress{}
	}
	return &progress{w: w, size: size, bar: newBar(w, size, "importing", progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(size > 0))}
}

func newBar(w io.Writer, size int64, what string, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(size, append(more, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish())...)
}

// Reader returns r, and counts what is read of it.
func (p *progress) Reader(r io.Reader) io.Reader {
	if p.w == nil {
		return r
	}
	return io.TeeReader(r, p)
}

// Write notes bytes that were read.
func (p *progress) Write(b []byte) (int, error) {
	p.read += int64(len(b))
	p.bar.Add(len(b))
	return len(b), nil
}

// Added notes records that were added.
func (p *progress) Added(n int) {
	if p.w == nil || p.read < p.size {
		return
	}
	if p.slow == nil {
		p.bar.Finish()
		p.bar.Clear()
		p.slow = newBar(p.w, -1, "adding records", progressbar.OptionSetItsString("records"), progressbar.OptionShowIts())
	}
	p.slow.Add(n)
}

// end takes the bar away.
func (p *progress) end() {
	for _, bar := range []*progressbar.ProgressBar{p.bar, p.slow} {
		if bar != nil {
			bar.Finish()
			bar.Clear()
		}
	}
}
