package fs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
	"github.com/ctxfs/ctxfs/session"
)

// Changes of control files have numbers where many hosts share them. A program that changes what it has read sets
// user.ctx.expect to the number that user.ctx.index had before it read: its next commit of the file is refused once
// another one came between. A SETXATTR names no open file, so that an expectation is that of a process.

// maxExpected is how many expectations processes may have of the files of one session.
const maxExpected = 1000

// expecting is a process that expects something of a control file.
type expecting struct {
	rel     string
	process uint32
}

// expectation is what a process expects of a control file.
type expectation struct {
	seen  uint64 // see session.Edit
	birth string // of the process: another one may have its number later
}

// readBy returns what the caller, who reads a control file next, is known by when he changes it.
func (p *mountedSession) readBy(ctx context.Context, rel string) session.Edit {
	return p.x.Opened(rel, callerOf(ctx).Uid)
}

// edit returns what the caller is known by who changes a control file without having opened it, and the
// process that expects something of it, or 0.
func (p *mountedSession) edit(ctx context.Context, rel string) (e session.Edit, process uint32) {
	e = p.readBy(ctx, rel)
	if seen, process := p.expected(ctx, rel); process != 0 {
		e.Seen, e.Only = seen, true
		return e, process
	}
	return e, 0
}

// expected returns what the caller expects of a control file, and his process; 0 if he expects nothing.
func (p *mountedSession) expected(ctx context.Context, rel string) (seen uint64, process uint32) {
	if p.expecting.Load() == 0 {
		return 0, 0
	}
	who := processOf(ctx)
	p.mu.Lock()
	e, ok := p.expects[expecting{rel, who}]
	p.mu.Unlock()
	if !ok || birthOf(who) != e.birth {
		return 0, 0
	}
	return e.seen, who
}

// fulfilled forgets what a process expected of a control file, which has committed it.
func (p *mountedSession) fulfilled(rel string, process uint32) {
	if process == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.expects, expecting{rel, process})
	p.expecting.Store(int32(len(p.expects)))
}

// expect notes what the caller expects of a control file.
func (p *mountedSession) expect(ctx context.Context, rel, asked string) error {
	last, err := strconv.ParseUint(asked, 10, 63)
	if err != nil || strconv.FormatUint(last, 10) != asked {
		return ctxabi.E("expect", rel, ctxabi.ErrMalformed, "%.20q is not the number of an entry; write what user.ctx.index has, or 0 where it has nothing", asked)
	}
	who := processOf(ctx)
	birth := birthOf(who)
	if birth == "" {
		return ctxabi.E("expect", rel, ctxabi.ErrDenied, "this process cannot be told from others here; the daemon does not see it")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.expects) >= maxExpected {
		for k, e := range p.expects {
			if birthOf(k.process) != e.birth {
				delete(p.expects, k)
			}
		}
	}
	if len(p.expects) >= maxExpected {
		return ctxabi.E("expect", rel, ctxabi.ErrNoSpace, "%d processes expect something of the files of this session; the limit is that", len(p.expects))
	}
	if p.expects == nil {
		p.expects = map[expecting]expectation{}
	}
	p.expects[expecting{rel, who}] = expectation{last + 1, birth}
	p.expecting.Store(int32(len(p.expects)))
	return nil
}

// birthOf returns when a process began, in clock ticks, or "" if that cannot be seen.
func birthOf(process uint32) string {
	if process == 0 {
		return ""
	}
	stat, _ := handles.Open(func() ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/stat", process)) })
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// expected takes what the process that is about to change the copy expects of the file. The caller holds mu.
func (h *controlHandle) expected(ctx context.Context) {
	if !h.edit.by.Only && h.n.p.expecting.Load() == 0 {
		return
	}
	seen, process := h.n.p.expected(ctx, h.n.rel)
	if h.expects = process; process != 0 {
		h.edit.by.Seen = seen
	}
	h.edit.by.Only = process != 0
}

// Setxattr sets what the caller expects of the file. Changes in a store that is alone have no numbers.
func (n *controlFile) Setxattr(ctx context.Context, name string, data []byte, flags uint32) syscall.Errno {
	if name != ctxabi.ExpectAttr {
		return n.noXattrs.Setxattr(ctx, name, data, flags)
	}
	if !n.p.x.Numbered() {
		return syscall.ENOTSUP
	}
	if err := n.p.expect(ctx, n.rel, string(data)); err != nil {
		return n.p.refuse(ctx, "expect", n.rel, err)
	}
	return 0
}

// Removexattr forgets what the caller expects of the file.
func (n *controlFile) Removexattr(ctx context.Context, name string) syscall.Errno {
	if name != ctxabi.ExpectAttr || !n.p.x.Numbered() {
		return n.noXattrs.Removexattr(ctx, name)
	}
	_, process := n.p.expected(ctx, n.rel)
	if process == 0 {
		return syscall.ENODATA
	}
	n.p.fulfilled(n.rel, process)
	return 0
}

// maxAnswer is how many bytes an attribute has at most that is asked for in parts.
const maxAnswer = 60 << 10

// revision is an earlier content of a control file that was read from the journal.
type revision struct {
	rel   string
	entry uint64
	data  []byte
}

// historyOf answers what stands behind the name of ctxabi.HistoryAttr: "" and ".before.N" are the newest changes
// that have a number below N, ".N" and ".N.OFFSET" what entry N has written.
func (n *controlFile) historyOf(ctx context.Context, asked string) ([]byte, error) {
	late, cancel := patient(ctx)
	defer cancel()
	before, some := strings.CutPrefix(asked, ".before.")
	if asked == "" || some {
		return n.changes(late, before)
	}
	number, offset, _ := strings.Cut(strings.TrimPrefix(asked, "."), ".")
	entry, err := strconv.ParseUint(number, 10, 64)
	off, bad := strconv.ParseUint("0"+offset, 10, 31)
	if err != nil || bad != nil {
		return nil, syscall.ENODATA
	}
	n.p.mu.Lock()
	last := n.p.earlier
	n.p.mu.Unlock()
	if last.data == nil || last.rel != n.rel || last.entry != entry {
		data, err := n.p.x.Earlier(late, n.rel, entry)
		if err != nil {
			return nil, err
		}
		last = revision{n.rel, entry, data}
		n.p.mu.Lock()
		n.p.earlier = last
		n.p.mu.Unlock()
	}
	data := last.data[min(int(off), len(last.data)):]
	return data[:min(len(data), maxAnswer)], nil
}

// changes returns the last changes before an entry, or the last of all, as lines of JSON, the newest first.
func (n *controlFile) changes(ctx context.Context, before string) (text []byte, err error) {
	end := ^uint64(0)
	if before != "" {
		if end, err = strconv.ParseUint(before, 10, 64); err != nil {
			return nil, syscall.ENODATA
		}
	}
	list, err := n.p.x.History(ctx, n.rel)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(list) {
		if r.Entry >= end {
			continue
		}
		line, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		if len(text)+len(line) >= maxAnswer {
			break
		}
		text = append(append(text, line...), '\n')
	}
	return text, nil
}
