package session

import (
	"context"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session/log"
)

// A LogView is a read-only file with some lines for each message of a session. It is rendered while
// it is read, a few messages at a time; only the offsets of every journalStep-th message are kept. A
// message never changes, so neither do its lines.
type LogView struct {
	file   string // relative to the session
	roles  []ctxabi.Role
	append func(b []byte, line int, m *ctxabi.Message) []byte // appends the lines of a message to b
	places func(x *Session) *journalPlaces
}

// The views of messages.jsonl: the journal of Delta Engine, and the list of the user's messages.
var (
	JournalView = &LogView{ctxabi.JournalFile, []ctxabi.Role{ctxabi.User, ctxabi.Assistant, ctxabi.Tool},
		func(b []byte, _ int, m *ctxabi.Message) []byte { return ctxabi.AppendJournal(b, m) },
		func(x *Session) *journalPlaces { return x.journal.Get() }}
	RequestsView = &LogView{ctxabi.RequestsFile, []ctxabi.Role{ctxabi.User}, ctxabi.AppendRequest,
		func(x *Session) *journalPlaces { return x.requests.Get() }}
)

// Numbers of a journal.
const (
	journalStep  = 64        // messages from one place that is kept to the next
	journalPiece = 256 << 10 // bytes that a reader makes at least before it answers, where so many follow
	journalTimes = 12        // bytes of memory that a byte of a message takes until its lines are made, at most
	journalCall  = 1 << 10   // bytes of memory that a call or a result takes beside its own bytes, at most
	journalCalls = 128       // calls and results of a message that need no more memory than journalRoom
	journalRoom  = 256 << 10 // bytes that are kept free at a time
)

// journalPlaces is where lines of a journal begin. They are those of a prefix of the messages, which grows.
type journalPlaces struct {
	mu     sync.Mutex
	begins []int64 // of the lines of message 1 + i*journalStep
	lines  int     // messages that were measured
	size   int64   // bytes of their lines
}

// ViewSize returns the size of a view in bytes. It reads the messages that were appended since the
// last call in this process, and keeps their sizes also when it returns an error: ctxabi.ErrNoMemory
// if a message does not fit into memory, or ctx's error.
func (x *Session) ViewSize(ctx context.Context, v *LogView) (int64, error) {
	ix, err := x.messages.Index()
	if err != nil {
		return 0, err
	}
	p := v.places(x)
	p.mu.Lock()
	defer p.mu.Unlock()
	m := journalMaker{view: v}
	defer m.drop()
	for p.lines < ix.Len() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := m.line(x, ix, p.lines+1); err != nil {
			return 0, err
		}
		if p.lines%journalStep == 0 {
			p.begins = append(p.begins, p.size)
		}
		p.lines++
		p.size += int64(len(m.made))
		m.made = m.made[:0]
	}
	return p.size, nil
}

// find returns the last message that is kept whose lines begin at off or before, and where they begin; (1, 0) where none is.
func (p *journalPlaces) find(off int64) (line int, begin int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := sort.Search(len(p.begins), func(i int) bool { return p.begins[i] > off }) - 1
	if i < 0 {
		return 1, 0
	}
	return 1 + i*journalStep, p.begins[i]
}

// check returns an error, and forgets what was measured, if the lines of message line do not begin at begin.
func (p *journalPlaces) check(file string, line int, begin int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if (line-1)%journalStep != 0 || (line-1)/journalStep >= len(p.begins) || p.begins[(line-1)/journalStep] == begin {
		return nil
	}
	p.begins, p.lines, p.size = nil, 0, 0
	return ctxabi.E("read", file, ctxabi.ErrIO,
		"the messages before message %d have changed since it was measured; read it again", line)
}

// journalMaker makes lines of a journal and keeps memory free for that.
type journalMaker struct {
	view    *LogView
	made    []byte
	need    int64 // bytes that release frees
	release func()
}

// line appends the lines of message n of ix to made. It returns ctxabi.ErrNoMemory if there is no room for them.
func (m *journalMaker) line(x *Session, ix *log.Index, n int) error {
	if !slices.Contains(m.view.roles, ix.At(n).Role) {
		return nil
	}
	if err := m.reserve(x, journalRoom+int64(len(m.made))+journalTimes*int64(ix.At(n).Len)); err != nil {
		return err
	}
	rec, err := ix.Record(n)
	if err == nil && x.store.o.Shown != nil {
		rec, err = x.store.o.Shown(x, n, rec)
	}
	if err != nil {
		return err
	}
	msg := ctxabi.DecodeMessage(rec)
	if calls := len(msg.Calls) + len(msg.Results); calls > journalCalls {
		if err := m.reserve(x, m.need+int64(calls)*journalCall); err != nil {
			return err
		}
	}
	m.made = m.view.append(m.made, n, &msg)
	return nil
}

// reserve keeps need bytes free, those that were kept before included, or some more.
func (m *journalMaker) reserve(x *Session, need int64) error {
	if need <= m.need {
		return nil
	}
	need = (need + journalRoom - 1) / journalRoom * journalRoom
	m.free()
	release, err := x.store.o.Memory.Reserve("read", m.view.file, need)
	if err != nil {
		return err
	}
	m.need, m.release = need, release
	return nil
}

// free returns back what was kept free.
func (m *journalMaker) free() {
	if m.release != nil {
		m.release()
	}
	m.need, m.release = 0, nil
}

// drop returns all memory back.
func (m *journalMaker) drop() {
	m.free()
	m.made = nil
}

// ViewReader reads a view. It sees messages that are appended while it is open. It is safe for
// concurrent use.
type ViewReader struct {
	x *Session

	mu    sync.Mutex
	m     journalMaker // guarded by mu, as is what follows; made are lines
	begin int64        // where these begin in the file
	next  int          // the message whose lines follow them; 0: none was asked for yet
}

// OpenView returns a reader of a view. The caller closes it.
func (x *Session) OpenView(v *LogView) *ViewReader {
	return &ViewReader{x: x, m: journalMaker{view: v}}
}

// ReadAt fills p from off on and returns how many bytes it wrote. It returns io.EOF if these are less than len(p), as the file has no
// more; ctxabi.ErrNoMemory if there is no room for a message of them; ctx's error if ctx is done.
func (r *ViewReader) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) {
		at := off + int64(n) - r.begin
		if r.next > 0 && at >= 0 && at < int64(len(r.m.made)) {
			n += copy(p[n:], r.m.made[at:])
			continue
		}
		if r.next == 0 || at != int64(len(r.m.made)) {
			r.m.drop()
			r.next, r.begin = r.m.view.places(r.x).find(off + int64(n))
		}
		if err = r.more(ctx, off+int64(n)); err != nil {
			break
		}
	}
	r.m.free() // what is made is there, and counts as taken
	return n, err
}

// more replaces the lines by those that follow them and reach behind off, some of a few messages; io.EOF where no message follows.
func (r *ViewReader) more(ctx context.Context, off int64) error {
	ix, err := r.x.messages.Index()
	if err != nil {
		return err
	}
	r.begin += int64(len(r.m.made))
	if r.m.made = r.m.made[:0]; cap(r.m.made) > 2*journalPiece { // it had the lines of a long message
		r.m.made = nil
	}
	for ; r.next <= ix.Len() && len(r.m.made) < journalPiece; r.next++ {
		if err = ctx.Err(); err == nil {
			err = r.m.view.places(r.x).check(r.m.view.file, r.next, r.begin+int64(len(r.m.made)))
		}
		if err == nil {
			err = r.m.line(r.x, ix, r.next)
		}
		if err != nil {
			r.m.drop()
			r.next = 0
			return err
		}
		if end := r.begin + int64(len(r.m.made)); end <= off && len(r.m.made) > 0 { // nobody asked for these
			r.begin, r.m.made = end, r.m.made[:0]
		}
	}
	if len(r.m.made) == 0 {
		return io.EOF
	}
	return nil
}

// Close returns back the memory that the reader has.
func (r *ViewReader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m.drop()
	r.next = 0
}
