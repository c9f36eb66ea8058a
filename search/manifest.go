package search

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/log"
)

// Names of derived content of an owner.
const (
	Dir          = "search"
	manifestFile = Dir + "/manifest"
	suffix       = ".seg"
)

// version is that of the files of an index. One of another version is made anew.
const version = 2

// manifest is what an index consists of. It is replaced whole: what it does not name is garbage. In
// its file numbers are varints, and texts have their length in front of them:
//
//	version, compress.TermsVersion, next number of a segment, of a session
//	number of segments; of each: its number, its size
//	number of sessions; of each: its number, agent, session, id (16 bytes), of both logs:
//	  records, bytes, value of the chain (32 bytes), and of the log's own file size, times (ns since 1970): modified, changed; grew
type manifest struct {
	next     int    // number of the next segment
	number   uint32 // of the next session
	segments []manifestSegment
	sessions []*known
}

type manifestSegment struct {
	name string
	size int64
}

const (
	idBytes   = 16
	headBytes = 32
)

func (m *manifest) encode() []byte {
	b := make([]byte, 0, 64+160*len(m.sessions))
	number := func(v ...int64) {
		for _, n := range v {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	text := func(s string) {
		number(int64(len(s)))
		b = append(b, s...)
	}
	raw := func(s string, n int) {
		bytes, _ := hex.DecodeString(s)
		b = append(b, append(bytes, make([]byte, n)...)[:n]...)
	}
	number(version, compress.TermsVersion, int64(m.next), int64(m.number), int64(len(m.segments)))
	for _, s := range m.segments {
		n, _ := numberOf(s.name)
		number(int64(n), s.size)
	}
	number(int64(len(m.sessions)))
	for _, k := range m.sessions {
		number(int64(k.number))
		text(k.ref.Agent)
		text(k.ref.Session)
		raw(k.id, idBytes)
		for _, l := range k.logs {
			number(int64(l.inFiles.records), l.inFiles.bytes)
			raw(l.head, headBytes)
			number(l.stamp.Size, max(0, l.stamp.Modified), max(0, l.stamp.Changed), max(0, l.grew))
		}
	}
	return b
}

// errVersion is what a manifest is of another version of the format.
var errVersion = errors.New("the index is of another version")

// decodeManifest reads what encode wrote of an owner's index. It returns errVersion for another
// version, and what errDamaged is for anything else.
func decodeManifest(data []byte, of ctxabi.Ref) (*manifest, error) {
	in := segment.Fields{B: data}
	if in.Next(1<<31) != version || in.Next(1<<31) != compress.TermsVersion {
		return nil, errVersion
	}
	m := &manifest{next: int(in.Next(1 << 31)), number: uint32(in.Next(1<<32 - 1))}
	for range in.Next(uint64(len(in.B))) {
		m.segments = append(m.segments, manifestSegment{segmentName(int(in.Next(uint64(m.next)))), int64(in.Next(1 << 62))})
	}
	names := map[string]string{} // agents have many sessions
	for range in.Next(uint64(len(in.B))) {
		k := &known{number: uint32(in.Next(uint64(m.number))), ref: of}
		agent := in.Bytes(in.Next(ctxabi.MaxName))
		if names[string(agent)] == "" {
			names[string(agent)] = string(agent)
		}
		k.ref.Agent = names[string(agent)]
		k.ref.Session = string(in.Bytes(in.Next(ctxabi.MaxName)))
		k.id = hex.EncodeToString(in.Bytes(idBytes))
		for i := range k.logs {
			l := &k.logs[i]
			l.inFiles = knownPart{int(in.Next(1 << 31)), int64(in.Next(1 << 62))}
			l.records, l.bytes = l.inFiles.records, l.inFiles.bytes
			l.head = hex.EncodeToString(in.Bytes(headBytes))
			l.stamp = session.Stamp{Size: int64(in.Next(1 << 62)), Modified: int64(in.Next(1 << 63)), Changed: int64(in.Next(1 << 63))}
			l.grew = int64(in.Next(1 << 63))
		}
		if in.Bad {
			break
		}
		m.sessions = append(m.sessions, k)
	}
	if in.Bad || len(in.B) > 0 {
		return nil, segment.Damaged("its manifest cannot be read")
	}
	for _, k := range m.sessions {
		if ctxabi.ValidName(k.ref.Agent) != nil || ctxabi.ValidName(k.ref.Session) != nil {
			return nil, segment.Damaged("its manifest names no session")
		}
	}
	return m, nil
}

// lacking returns the sessions of a manifest whose records the segments do not have, each once and
// in a row from the first.
func (m *manifest) lacking(segments []*segment.Segment) (list []*known) {
	upTo := map[segment.Log]knownPart{}
	for _, s := range segments {
		for _, r := range slices.Backward(s.Runs) {
			at := segment.Log{Of: r.Of, Event: r.Event}
			if have := upTo[at]; have.records >= 0 && have.records+1 == r.First {
				upTo[at] = knownPart{have.records + r.N, have.bytes + r.Bytes}
			} else {
				upTo[at] = knownPart{-1, 0}
			}
		}
	}
	for _, k := range m.sessions {
		if upTo[segment.Log{Of: k.number}] != k.logs[0].inFiles || upTo[segment.Log{Of: k.number, Event: true}] != k.logs[1].inFiles {
			list = append(list, k)
		}
	}
	return list
}

// isSegment reports whether name is that of derived content which is a segment.
func isSegment(name string) bool {
	_, ok := numberOf(name)
	return ok
}

func numberOf(name string) (n int, ok bool) {
	base, ok := strings.CutSuffix(name, suffix)
	n, err := strconv.Atoi(path.Base(base))
	return n, ok && err == nil && n > 0 && name == segmentName(n)
}

func segmentName(n int) string { return Dir + "/" + strconv.Itoa(n) + suffix }

// openNamed opens a segment that a manifest names.
func openNamed(files session.Owned, e manifestSegment) (*segment.Segment, error) {
	f, size, err := files.OpenDerived(e.name)
	if err != nil {
		return nil, segment.Damaged(err.Error())
	}
	defer f.Close()
	s, err := segment.Open(f, size)
	if err == nil && size != e.size {
		err = segment.Damaged("it is not the one that was written")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	s.Name = e.name
	return s, nil
}

// readerOf opens a segment to read it.
func readerOf(files session.Owned, s *segment.Segment) (io.ReaderAt, io.Closer, error) {
	if s.Data != nil {
		return segment.Bytes(s.Data), io.NopCloser(nil), nil
	}
	f, size, err := files.OpenDerived(s.Name)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", segment.ErrDamaged, s.Name, err)
	}
	if size != s.Size {
		f.Close()
		return nil, nil, segment.Damaged(s.Name + " has another size")
	}
	return f, f, nil
}

// remove removes the whole index of an owner.
func remove(files session.Owned) {
	files.RemoveDerived(manifestFile)
	for _, name := range files.DerivedNames(Dir) {
		if isSegment(name) {
			files.RemoveDerived(name)
		}
	}
}

// logOf is a session's log by its place in a manifest.
func logOf(x *session.Session, i int) *log.Log {
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
