package search

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
)

// Names of derived content in a session.
const (
	Dir          = "search"
	manifestFile = Dir + "/manifest.json"
	suffix       = ".seg"
)

// version is that of the files of an index. One of another version is made anew.
const version = 1

// manifest is what an index consists of. It is replaced whole: what it does not name is garbage.
type manifest struct {
	Version int             `json:"version"`
	Terms   int             `json:"terms"` // compress.TermsVersion
	Next    int             `json:"next"`  // number of the next segment
	Logs    [2]manifestPart `json:"logs"`  // messages, events
}

// manifestPart is what is indexed of one log.
type manifestPart struct {
	Records  int               `json:"records"`
	Bytes    int64             `json:"bytes"` // of the log
	Head     string            `json:"head"`  // of its chain there
	Segments []manifestSegment `json:"segments"`
}

type manifestSegment struct {
	Name  string `json:"name"`
	First int    `json:"first"`
	N     int    `json:"n"`
	Size  int64  `json:"size"`
}

// readManifest reads a session's manifest; nil when there is none that can be used. It checks the manifest against itself.
func readManifest(x *session.Session) *manifest {
	data, err := x.Derived(manifestFile)
	if err != nil {
		return nil
	}
	m := new(manifest)
	if json.Unmarshal(data, m) != nil || m.Version != version || m.Terms != compress.TermsVersion {
		return nil
	}
	for _, p := range m.Logs {
		n := 0
		for _, s := range p.Segments {
			if !isSegment(s.Name) || s.First != n+1 || s.N < 1 {
				return nil
			}
			n += s.N
		}
		if n != p.Records {
			return nil
		}
	}
	return m
}

// isSegment reports whether name is that of derived content which is a segment.
func isSegment(name string) bool {
	base, ok := strings.CutSuffix(name, suffix)
	n, err := strconv.Atoi(path.Base(base))
	return ok && err == nil && n > 0 && name == segmentName(n)
}

func segmentName(n int) string { return Dir + "/" + strconv.Itoa(n) + suffix }

// fits returns why a manifest does not belong to the logs as they are; "" when it does.
func (m *manifest) fits(x *session.Session) string {
	for i, l := range []*session.Log{x.Messages(), x.Events()} {
		p := m.Logs[i]
		if p.Bytes > l.Len() {
			return fmt.Sprintf("%s has %d bytes, and had %d when it was indexed", l.Name(), l.Len(), p.Bytes)
		}
		if head, err := l.HeadAt(p.Bytes); err != nil || head != p.Head {
			return l.Name() + " is not the one that was indexed"
		}
	}
	return ""
}

// openIndexed opens the segments that a manifest names.
func (m *manifest) open(x *session.Session) (parts [2][]*segment, err error) {
	for i, p := range m.Logs {
		for _, e := range p.Segments {
			f, size, err := x.OpenDerived(e.Name)
			if err != nil {
				return parts, damaged(err.Error())
			}
			s, err := openSegment(f, size)
			f.Close()
			if err == nil && (s.event != (i == 1) || s.first != e.First || s.n != e.N || size != e.Size) {
				err = damaged("a segment is not the one that was written")
			}
			if err != nil {
				return parts, fmt.Errorf("%s: %w", e.Name, err)
			}
			s.name = e.Name
			parts[i] = append(parts[i], s)
		}
	}
	return parts, nil
}

// reader opens a segment to read it.
func (s *segment) reader(x *session.Session) (io.ReaderAt, io.Closer, error) {
	if s.data != nil {
		return bytesAt(s.data), io.NopCloser(nil), nil
	}
	f, size, err := x.OpenDerived(s.name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", errDamaged, s.name, err)
	}
	if size != s.size {
		f.Close()
		return nil, nil, damaged(s.name + " has another size")
	}
	return f, f, nil
}

// remove removes the whole index of a session.
func remove(x *session.Session) {
	x.RemoveDerived(manifestFile)
	for _, name := range x.DerivedNames(Dir) {
		if isSegment(name) {
			x.RemoveDerived(name)
		}
	}
}

// logOf is a session's log by its place in a manifest.
func logOf(x *session.Session, i int) *session.Log {
	if i == 1 {
		return x.Events()
	}
	return x.Messages()
}

// short is what sources call it.
func short(event bool) string {
	if event {
		return strings.TrimSuffix(ctxabi.EventsFile, ".jsonl")
	}
	return strings.TrimSuffix(ctxabi.MessagesFile, ".jsonl")
}
