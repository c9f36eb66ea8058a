package fs

import (
	"context"
	"strconv"
	"strings"
	"syscall"

	gofs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// context/line has record n of messages.jsonl under the name n, its text under n.txt; record n of
// events.jsonl under e<n> and e<n>.txt.

// lineName is the record, or its text, that a name in context/line stands for.
type lineName struct {
	line  int
	event bool // of events.jsonl
	text  bool // decoded
}

// parseLineName parses "12", "12.txt", "e12" and "e12.txt"; ok is false for any other name.
func parseLineName(name string) (n lineName, ok bool) {
	digits, text := strings.CutSuffix(name, ".txt")
	digits, event := strings.CutPrefix(digits, "e")
	line, err := strconv.Atoi(digits)
	return lineName{line, event, text}, err == nil && line > 0 && strconv.Itoa(line) == digits
}

// maxListed is the number of the newest records of each log that context/line lists.
const maxListed = 10000

// lineDir is context/line. It finds every record, and lists n.txt and e<n>.txt of the newest.
type lineDir struct{ fixedDir }

func lineDirNode(p *mountedSession, rel string) tableNode {
	return &lineDir{fixedDir{p: p, rel: rel, find: findLine}}
}

func (d *lineDir) Readdir(ctx context.Context) (gofs.DirStream, syscall.Errno) {
	s := &lineStream{d: d, dots: listing(d.StableAttr(), nil)}
	for i, log := range []*log.Log{d.p.x.Messages(), d.p.x.Events()} {
		ix, err := log.Index()
		if err != nil {
			return nil, d.p.refuse(ctx, "list", d.rel, err)
		}
		s.count[i] = min(ix.Len(), maxListed)
		s.before[i] = ix.Len() - s.count[i]
	}
	return s, 0
}

// lineStream lists context/line without a list in memory: messages, then events, oldest first.
type lineStream struct {
	d      *lineDir
	dots   gofs.DirStream
	count  [2]int // records of each log that it lists
	before [2]int // older records, which it does not list
	at     int    // names that were read, without the dots
}

var _ = (gofs.FileSeekdirer)((*lineStream)(nil))

// dotNames is the number of names in lineStream.dots.
const dotNames = 2

func (s *lineStream) HasNext() bool { return s.dots.HasNext() || s.at < s.count[0]+s.count[1] }

func (s *lineStream) Next() (fuse.DirEntry, syscall.Errno) {
	if s.dots.HasNext() {
		return s.dots.Next()
	}
	log, n, sign := 0, s.at, ""
	if n >= s.count[0] {
		log, n, sign = 1, n-s.count[0], "e"
	}
	s.at++
	name := sign + strconv.Itoa(s.before[log]+n+1) + ".txt"
	e := dirEntry(name, contentAttr(s.d.p.x.ID(), ctxabi.LineDir, name))
	e.Off = uint64(dotNames + s.at)
	return e, 0
}

func (s *lineStream) Seekdir(ctx context.Context, off uint64) syscall.Errno {
	s.at = max(0, int(off)-dotNames)
	return s.dots.(gofs.FileSeekdirer).Seekdir(ctx, min(off, dotNames))
}

func (s *lineStream) Close() {}

func findLine(ctx context.Context, d *fixedDir, name string, out *fuse.EntryOut) (*gofs.Inode, syscall.Errno) {
	asked, ok := parseLineName(name)
	if !ok {
		return nil, syscall.ENOENT
	}
	log, decode := d.p.x.Messages(), lineText
	if asked.event {
		log, decode = d.p.x.Events(), eventText
	}
	if !asked.text {
		decode = nil
	}
	ix, err := log.Index()
	if err != nil {
		return nil, d.p.refuse(ctx, "read", ctxabi.LineDir+"/"+name, err)
	}
	if asked.line > ix.Len() {
		return nil, syscall.ENOENT
	}
	e := ix.At(asked.line)
	n := &lineSource{p: d.p, log: log, off: e.Offset, len: int64(e.Len), size: int64(e.Len) + 1, decode: decode, tokens: int(e.Tokens)}
	if asked.text {
		b, err := n.content()
		if err != nil {
			return nil, d.p.refuse(ctx, "read", ctxabi.LineDir+"/"+name, err)
		}
		n.size = int64(len(b))
	}
	n.fill(ctx, nil, &out.Attr)
	out.SetAttrTimeout(foreverValid)
	out.SetEntryTimeout(fixedTimeout)
	return d.NewInode(ctx, newView(n), contentAttr(d.p.x.ID(), ctxabi.LineDir, name)), 0
}

// lineSource is one record. It never changes, because history does not.
type lineSource struct {
	constantSource
	p        *mountedSession
	log      *log.Log
	off, len int64                      // of the record, without its newline
	size     int64                      // of the file
	decode   func(record []byte) []byte // nil: the record as it is
	tokens   int
}

// content reads the file's bytes. They are not cached.
func (n *lineSource) content() ([]byte, error) {
	b := make([]byte, n.len+1)
	if _, err := n.log.ReadAt(b, n.off); err != nil {
		return nil, err
	}
	if n.decode != nil {
		return n.decode(b[:n.len]), nil
	}
	return b, nil
}

// lineText returns what a person would read of a message.
func lineText(record []byte) []byte {
	m := ctxabi.DecodeMessage(record)
	return m.Said()
}

// eventText returns what a person would read of an event.
func eventText(record []byte) []byte {
	e, ok := ctxabi.DecodeToolEvent(record)
	if !ok {
		return ctxabi.SaidOfOther(record)
	}
	return e.Said()
}

// fill fills in the attributes. The time is that of the session's making, which does not change.
func (n *lineSource) fill(ctx context.Context, _ gofs.FileHandle, a *fuse.Attr) syscall.Errno {
	n.p.own.setFile(a, n.p.own.readMode(), n.size, n.p.x.Created())
	return 0
}

func (n *lineSource) open(ctx context.Context) (gofs.FileHandle, syscall.Errno) {
	n.p.noteOpen(ctx, "")
	b, err := n.content()
	if err != nil {
		return nil, errnoOf(err)
	}
	return bytesHandle(b), 0
}

func (n *lineSource) facts(context.Context) (facts, syscall.Errno) {
	return facts{"tokens": func() string {
		if n.tokens == 0 {
			return ""
		}
		return strconv.Itoa(n.tokens)
	}}, 0
}
