package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
)

// ErrorRow is one line of context/errors.jsonl.
type ErrorRow struct {
	Time   time.Time `json:"time"`
	UID    uint32    `json:"uid"`
	Op     string    `json:"op"`
	Path   string    `json:"path"`
	Errno  string    `json:"errno"` // "EINVAL", ...
	Reason string    `json:"reason"`
	Count  int       `json:"count,omitempty"` // how many rows this one stands for, when more than one
}

// The rate limit of errors.jsonl: a user may have a burst of rows at once, then
// one an interval. What comes faster is folded into the next row of that user.
const (
	reportBurst    = 20
	reportInterval = time.Second
	maxReason      = 1000 // bytes of a reason
)

// reports is the ring behind context/errors.jsonl. Its truth is in memory once
// it was used; the file is appended to and now and then written anew, and when
// the disk is full it is simply late.
type reports struct {
	mu      sync.Mutex
	loaded  bool
	rows    [][]byte // the last ctxabi.MaxErrorRows lines, each with its newline
	onDisk  int      // lines in the file
	stale   bool     // the file lacks rows, or has lines that are none: it is written anew as soon as that works
	buckets map[uint32]*reportBucket
}

type reportBucket struct {
	tokens  int
	at      time.Time // when tokens was true
	pending ErrorRow  // folded rows not written yet; Count 0: none
}

// Report adds a row to context/errors.jsonl; the last 100 are kept. It never fails.
func (x *Dir) Report(row ErrorRow) {
	if row.Time.IsZero() {
		row.Time = x.Root.Now()
	}
	row.Time = row.Time.UTC()
	row.Reason = clip(row.Reason, maxReason)
	x.Root.Logger.Debug("refused", "session", x.ID(), "op", row.Op, "path", row.Path, "errno", row.Errno, "reason", row.Reason)
	r := x.reports.Get()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load(x)
	if r.buckets == nil {
		r.buckets = map[uint32]*reportBucket{}
	}
	b := r.buckets[row.UID]
	if b == nil {
		b = &reportBucket{tokens: reportBurst, at: row.Time}
		r.buckets[row.UID] = b
	}
	if n := int(row.Time.Sub(b.at) / reportInterval); n > 0 {
		b.tokens = min(reportBurst, b.tokens+n)
		b.at = row.Time
	}
	count := max(row.Count, 1)
	if b.tokens == 0 {
		row.Count = b.pending.Count + count
		b.pending = row
		return
	}
	b.tokens--
	if b.pending.Count > 0 {
		r.add(x, b.pending)
		b.pending = ErrorRow{}
	}
	r.add(x, row)
}

// ReportError is Report for an error of package ctxabi.
func (x *Dir) ReportError(op, name string, err error) {
	x.Report(RowOf(op, name, 0, err))
}

// RowOf returns the row for err, with which what the user uid tried (op) on the
// session file name, and err's own sentence where it has one. The kind is
// there already, as the errno.
func RowOf(op, name string, uid uint32, err error) ErrorRow {
	row := ErrorRow{UID: uid, Op: op, Path: name, Errno: ctxabi.ErrnoName(err), Reason: err.Error()}
	var e *ctxabi.Error
	if errors.As(err, &e) && e.Why != "" {
		row.Op, row.Reason = e.Op, e.Why
		if e.Path != "" {
			row.Path = e.Path
		}
		if e.Err != nil {
			row.Reason += " (" + e.Err.Error() + ")"
		}
	}
	return row
}

// Errors returns context/errors.jsonl as it stands.
func (x *Dir) Errors() []byte {
	r := x.reports.Get()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load(x)
	for _, b := range r.buckets {
		if b.pending.Count > 0 {
			r.add(x, b.pending)
			b.pending = ErrorRow{}
		}
	}
	return bytes.Join(r.rows, nil)
}

// load reads the file once. A line that is no row, which a crash while the disk was full may leave,
// goes from it.
func (r *reports) load(x *Dir) {
	if r.loaded {
		return
	}
	data, err := vfs.ReadFile(x.Root.FS, x.Path(ErrorsFile))
	if errors.Is(err, ctxabi.ErrNoFiles) {
		return
	}
	r.loaded = true
	if err == nil {
		since := r.rows
		r.rows = nil
		for line := range bytes.Lines(data) {
			r.onDisk++
			if IsErrorRow(line) {
				r.push(line)
			} else {
				r.stale = true
			}
		}
		for _, line := range since {
			r.push(line)
		}
	}
	if r.stale && !x.Root.ReadOnly {
		r.rewrite(x)
	}
}

// IsErrorRow reports whether line, with its newline, is a row.
func IsErrorRow(line []byte) bool {
	var row ErrorRow
	return line[len(line)-1] == '\n' && json.Unmarshal(line, &row) == nil && row.Op != ""
}

// rewrite writes the file anew.
func (r *reports) rewrite(x *Dir) {
	r.stale = x.Replace(ErrorsFile, bytes.Join(r.rows, nil), false) != nil
	if !r.stale {
		r.onDisk = len(r.rows)
	}
}

func (r *reports) push(line []byte) {
	if len(r.rows) >= ctxabi.MaxErrorRows {
		r.rows = append(r.rows[:0:0], r.rows[len(r.rows)-ctxabi.MaxErrorRows+1:]...)
	}
	r.rows = append(r.rows, line)
}

func (r *reports) add(x *Dir, row ErrorRow) {
	if row.Count == 1 {
		row.Count = 0
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it: > stays >
	if enc.Encode(row) != nil {
		return
	}
	line := b.Bytes()
	r.push(line)
	if x.Root.ReadOnly {
		return
	}
	r.onDisk++
	switch {
	case !r.loaded:
		r.stale = true
	case r.stale || r.onDisk > 2*ctxabi.MaxErrorRows:
		r.rewrite(x)
	default:
		r.stale = vfs.AppendLine(x.Root.FS, x.Path(ErrorsFile), line) != nil // late at worst: the ring in memory has it
	}
}

// clip shortens s to about n bytes at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
