package log

import (
	"io"
	"sort"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Index is a snapshot of a log's records. It never changes, but for counts
// that become known (Entry.Tokens goes from 0 to its value).
type Index struct {
	log      *Log
	rows     rowTable
	tokens   []*tokenChunk
	encoding string
	n        int
	longest  int32  // bytes of the longest record
	size     int64  // bytes of the log that it covers
	events   *Index // of events.jsonl; nil in that log's own
	tools    []int32
	use      *indexUse
}

// indexUse is alive while a snapshot of one life of an index is.
type indexUse struct{ _ *byte }

// Len is the number of records.
func (ix *Index) Len() int { return ix.n }

// Size is the number of bytes of the log that the records cover.
func (ix *Index) Size() int64 { return ix.size }

// Longest is the length of the longest record.
func (ix *Index) Longest() int { return int(ix.longest) }

// Encoding is the encoding that Entry.Tokens is counted in; "" when nothing was counted yet.
func (ix *Index) Encoding() string { return ix.encoding }

func (ix *Index) row(line int) row { return ix.rows.at(line) }

// At returns the entry of record line (1-based).
func (ix *Index) At(line int) ctxabi.Entry {
	if line < 1 || line > ix.n {
		panic("session: no such line in the index")
	}
	r := ix.row(line)
	return ctxabi.Entry{Offset: r.off, Len: r.len, Weight: r.weight, CallOf: r.callOf, Role: r.role, Flags: r.flags,
		Events: ix.events.before(r.events), Tokens: ix.tokens[(line-1)/chunkRows].get((line - 1) % chunkRows)}
}

// before counts the records that end within the first size bytes.
func (ix *Index) before(size int64) int32 {
	switch {
	case ix == nil || size == 0:
		return 0
	case size >= ix.size:
		return int32(ix.n)
	}
	return int32(sort.Search(ix.n, func(i int) bool { return ix.row(i+1).end() > size }))
}

// Record reads the bytes of a record, without its newline. It returns the error of a log that
// cannot be read, an [archive.DamageError] where its sealed part is damaged.
func (ix *Index) Record(line int) ([]byte, error) {
	e := ix.At(line)
	b := make([]byte, e.Len)
	if _, err := ix.log.ReadAt(b, e.Offset); err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// logIndex builds a log's index and keeps it. Its lock comes before Log.mu,
// and that of messages before that of events.
type logIndex struct {
	log *Log

	mu       sync.Mutex
	loaded   bool
	snapshot *Index // the last one given out
	use      weak.Pointer[indexUse]

	rows    rowTable
	n       int
	longest int32
	size    int64        // bytes covered
	bytes   atomic.Int64 // of memory that rows and tokens take
	calls   callWindow
	tools   []int32 // the lines of tool events, in that log's own index
	merge   merge   // of both logs, in that of messages

	eventsErr error  // why events.jsonl cannot be opened, in that of messages
	noEvents  *Index // stands for it then

	tokens   []*tokenChunk
	encoding string

	saved     int          // rows on disk
	running   uint32       // checksum of the rows on disk
	fresh     []tokenPair  // counts that are not on disk
	recounted bool         // the encoding changed: the file of counts is written anew
	aside     bool         // some rows are made that the log's own index has
	stop      func() error // returns an error to stop the build; nil: never stop
	guessed   bool         // some rows replace unreadable records: do not save them
}

// Index brings the index up to Len and gives a snapshot of it. It costs what was appended since the
// last call in any process, at most; an index that is missing or does not fit the log is built
// anew. It returns the error of a log that cannot be opened or read, and ctxabi.ErrNoMemory if
// there is no room for it.
func (l *Log) Index() (*Index, error) { return l.indexUntil(nil) }

// indexUntil is Index with a stop function. If stop returns an error, the build ends with that
// error. A nil stop never ends it.
func (l *Log) indexUntil(stop func() error) (*Index, error) {
	x := l.index()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stop = stop
	defer func() { x.stop = nil }()
	return x.current()
}

// stopped calls stop and returns its error.
func (x *logIndex) stopped() error {
	if x.stop == nil {
		return nil
	}
	return x.stop()
}

// index returns what builds the log's index, which most logs of a large store never need.
func (l *Log) index() *logIndex {
	if x := l.made.Load(); x != nil {
		return x
	}
	l.made.CompareAndSwap(nil, &logIndex{log: l})
	return l.made.Load()
}

// saveIndex writes out what the index has, if there is one. It returns the error of the disk.
func (l *Log) saveIndex() error {
	if x := l.made.Load(); x != nil {
		return x.save()
	}
	return nil
}

func (x *logIndex) current() (*Index, error) {
	f, err := x.log.acquire()
	if err != nil {
		return nil, err
	}
	defer x.log.release()
	end := x.log.length.Load()
	var events *Index // after end: it covers all that had arrived before these records
	if x.log.events != nil {
		if events, err = x.eventsIndex(); err != nil {
			return nil, err
		}
	}
	if x.rows.lost() {
		x.dropLocked()
	}
	if x.snapshot != nil && x.size == end && x.snapshot.events == events {
		return x.snapshot, nil
	}
	first := !x.loaded
	if first {
		if err := x.load(f, end); err != nil {
			return nil, err
		}
	}
	if x.size < end {
		if err := x.extend(f, end); err != nil {
			if first { // no pack is made of half a log
				x.saveLocked()
				x.dropLocked()
			}
			return nil, err
		}
	}
	if first {
		x.loadTokens()
	}
	x.publish(events)
	if x.n-x.saved >= saveRows {
		x.saveLocked()
	}
	return x.snapshot, nil
}

// eventsIndex is that of events.jsonl, or an empty one where that cannot be opened: eventsErr says
// why then. A lack of descriptors is an error.
func (x *logIndex) eventsIndex() (*Index, error) {
	l := x.log.events
	events, err := l.indexUntil(x.stop)
	if err == nil {
		x.eventsErr = nil
		return events, nil
	}
	if stopped := x.stopped(); stopped != nil {
		return nil, stopped
	}
	if ctxabi.KindOf(err) != ctxabi.ErrIO || x.log.dir.Removed() {
		return nil, err
	}
	if x.eventsErr == nil {
		x.noEvents = &Index{log: l}
	}
	x.eventsErr = err
	return x.noEvents, nil
}

func (x *logIndex) publish(events *Index) {
	use := x.use.Value()
	if use == nil {
		use = new(indexUse)
		x.use = weak.Make(use)
	}
	x.snapshot = &Index{use: use, log: x.log, rows: x.rows, tokens: x.tokens, encoding: x.encoding, n: x.n, longest: x.longest, size: x.size, events: events, tools: x.tools}
}

// push adds a row at the end.
func (x *logIndex) push(r row) {
	if x.n%chunkRows == 0 {
		x.rows.add(&rowChunk{longest: x.longest})
		x.tokens = append(x.tokens, new(tokenChunk))
		x.bytes.Store(x.rows.bytes())
	}
	x.rows.chunk(x.n/chunkRows).set(x.n%chunkRows, &r)
	x.n++
	if r.isToolEvent() {
		x.tools = append(x.tools, int32(x.n))
	}
	x.size, x.longest = r.end(), max(x.longest, r.len)
}

func (x *logIndex) at(line int) row { return x.rows.at(line) }

// SetTokens remembers the exact count of record line (1-based) for encoding.
// It is persisted with the index, later. A log keeps the counts of one
// encoding: another one's replace them.
func (l *Log) SetTokens(encoding string, line int, tokens int32) {
	x := l.index()
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, err := x.current(); err != nil || line < 1 || line > x.n {
		return
	}
	if x.encoding != encoding {
		x.resetTokens(encoding)
		x.recounted = true
		x.publish(x.snapshot.events)
	}
	if x.tokens[(line-1)/chunkRows].swap((line-1)%chunkRows, tokens) == tokens {
		return
	}
	x.fresh = append(x.fresh, tokenPair{uint32(line), tokens, x.at(line).crc})
	if len(x.fresh) >= saveTokens {
		x.saveLocked()
	}
}

// resetTokens begins an empty column for encoding.
func (x *logIndex) resetTokens(encoding string) {
	x.encoding, x.fresh = encoding, nil
	x.tokens = newTokens(len(x.rows.refs))
}
