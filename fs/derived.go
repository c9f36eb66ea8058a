package fs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/gc/world"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/search"
)

// The texts of the small derived files of a session, each with the time that its file shows.

func createdAt(p *mountedSession) ([]byte, time.Time, error) { return unixTime(p.x.Created()) }

func updatedAt(p *mountedSession) ([]byte, time.Time, error) { return unixTime(p.x.Updated()) }

func unixTime(t time.Time) ([]byte, time.Time, error) {
	return fmt.Appendf(nil, "%d\n", t.Unix()), t, nil
}

func latest(p *mountedSession) ([]byte, time.Time, error) {
	text, err := p.x.LatestFile()
	return text, p.x.Messages().ModTime(), err
}

func errorRows(p *mountedSession) ([]byte, time.Time, error) {
	rows, err := p.t.builder.RedactedErrors(p.x, p.x.Errors())
	return rows, p.x.Updated(), err
}

func gcReport(p *mountedSession) ([]byte, time.Time, error) {
	data, at, err := world.Report(p.x)
	if err == nil {
		data, err = p.t.builder.Redacted(p.x, data)
	}
	return data, at, err
}

func recentRows(p *mountedSession) ([]byte, time.Time, error) {
	data, _ := p.x.Derived(search.RecentName)
	data, err := p.t.builder.Redacted(p.x, data)
	return data, p.x.Updated(), err
}

// The bytes of the files of a pack.

func markdown(_ *mountedSession, b *pack.Build) ([]byte, error) { return b.Markdown, nil }

func packJSON(_ *mountedSession, b *pack.Build) ([]byte, error) { return b.JSON(), nil }

func report(_ *mountedSession, b *pack.Build) ([]byte, error) { return b.Report, nil }

// nativeRendering returns the rendering that is the body of a request in the format f. It is rendered when
// it is asked for.
func nativeRendering(f native.Format) func(*mountedSession, *pack.Build) ([]byte, error) {
	return func(p *mountedSession, b *pack.Build) ([]byte, error) { return p.t.builder.Native(p.x, b, f) }
}

// The files of context/summary.request describe the open request for a summary. If no request is
// open, they contain a request that a program may send at any time.

func requestState(_ *mountedSession, b *pack.Build) ([]byte, error) {
	data, err := json.Marshal(b.Request)
	return append(data, '\n'), err
}

func requestPrompt(p *mountedSession, b *pack.Build) ([]byte, error) {
	return p.t.builder.RequestPrompt(p.x, b)
}

// requestBody returns a function that renders the body of a summary request in the format f.
func requestBody(f native.Format) func(*mountedSession, *pack.Build) ([]byte, error) {
	return func(p *mountedSession, b *pack.Build) ([]byte, error) { return p.t.builder.RequestBody(p.x, b, f) }
}
