package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/arrival"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// Problem is one thing that Verify found wrong, or remarkable: see [Noted].
type Problem struct {
	Log      string   // the log's name, or that of another file of the session
	What     string   // one sentence
	Severity Severity // "" is Lost
}

// String is the problem as verify prints it.
func (p Problem) String() string { return p.Log + ": " + p.What }

func (p Problem) severity() Severity { return cmp.Or(p.Severity, Lost) }

// Verify reads everything of the session at ref that can be held against a hash: the chain, the
// hash of each commit, each record, the index, what users stored, packs that were read. It changes
// nothing. An error says that it could not look, not that something is wrong.
func Verify(ctx context.Context, s *session.Store, ref ctxabi.Ref) ([]Problem, error) {
	x, err := s.Session(ref)
	if err != nil {
		return nil, err
	}
	var all []Problem
	for _, l := range []*log.Log{x.Events(), x.Messages()} {
		found, err := verifyLog(ctx, l)
		all = append(all, found...)
		if err != nil {
			return all, err
		}
	}
	if ctx.Err() == nil {
		all = append(all, verifyBlobs(x)...)
		all = append(all, verifyServed(x)...)
	}
	return all, ctx.Err()
}

// verifyLog reads everything of a log.
func verifyLog(ctx context.Context, l *log.Log) (found []Problem, err error) {
	a, err := l.Audit()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	v, err := verify(ctx, a)
	if err != nil {
		return v.found, err
	}
	if err := v.unrowed(); err != nil {
		return v.found, err
	}
	ix, err := l.Index()
	if err != nil {
		return v.found, err
	}
	if a.Guessed() { // part of the log cannot be read: the index may know more
		return v.found, ctx.Err()
	}
	for _, what := range a.CheckIndex(ctx, ix) {
		v.bad(Rebuildable, "%s", what)
	}
	return v.found, ctx.Err()
}

// verification is a log that is read as a whole.
type verification struct {
	*log.Audit
	found []Problem
}

func (v *verification) bad(sev Severity, format string, args ...any) {
	v.found = append(v.found, Problem{v.Log.Name(), fmt.Sprintf(format, args...), sev})
}

// verify holds the records against the arrival rows, the rows against the chain, and each record
// against the rules of its log.
func verify(ctx context.Context, a *log.Audit) (*verification, error) {
	v := &verification{Audit: a}
	if err := a.Scan(); err != nil {
		return v, err
	}
	if err := v.rows(ctx); err != nil {
		return v, err
	}
	v.records()
	return v, ctx.Err()
}

// unrowed reports records behind the last arrival row.
func (v *verification) unrowed() error {
	if v.Tail.Size == v.End {
		return nil
	}
	fi, err := v.Arrivals().Stat()
	if err != nil {
		return err
	}
	if fi.Size() > v.Tail.Arrivals { // of rows that do not fit
		v.bad(Rebuildable, "the arrival rows end at byte %d, the log ends at byte %d", v.Tail.Size, v.End)
	} else {
		v.bad(Noted, "there is no arrival row for %s (bytes %d-%d): power was lost, or something was added past the mount; the next open makes one row, marked estimated",
			v.span(v.Tail.Size, v.End), v.Tail.Size, v.End)
	}
	return nil
}

// records reports lines that are no records, runs of them at once.
func (v *verification) records() {
	n := v.Len()
	for line := 1; line <= n; line++ {
		first := line
		for line <= n && v.At(line).Flags&ctxabi.Damaged != 0 {
			line++
		}
		if line > first {
			a, b := v.At(first), v.At(line-1)
			what := "is not a valid record"
			if line > first+1 {
				what = "are not valid records"
			}
			v.bad(Lost, "%s %s (bytes %d-%d)", lines(v.Log.Name(), first, line-1), what, a.Offset, b.End())
		}
	}
}

// lines names records as packs cite them.
func lines(log string, from, to int) string {
	name := strings.TrimSuffix(log, ".jsonl")
	if from == to {
		return fmt.Sprintf("%s:%d", name, from)
	}
	return fmt.Sprintf("%s:%d-%d", name, from, to)
}

// span names the records of which bytes lie in [from, to).
func (v *verification) span(from, to int64) string {
	n := v.Len()
	first := sort.Search(n, func(i int) bool { return v.At(i+1).End() > from }) + 1
	last := sort.Search(n, func(i int) bool { return v.At(i+1).Offset >= to })
	if first > last {
		return "no whole record"
	}
	return lines(v.Log.Name(), first, last)
}

// rows walks over the arrival rows.
func (v *verification) rows(ctx context.Context) error {
	w := rowWalk{v: v, chain: v.Seed()}
	var failed error
	err := vfs.ScanLines(v.Arrivals(), 0, v.Tail.Arrivals, func(_, _ int64, line []byte, whole bool) bool {
		w.n++
		a, ok := arrival.ParseRow(line)
		if !ok || !whole {
			w.damaged++
			return ctx.Err() == nil
		}
		failed = w.row(&a)
		return failed == nil && ctx.Err() == nil
	})
	if err = cmp.Or(err, failed, ctx.Err()); err != nil {
		return err
	}
	w.flush()
	if w.damaged > 0 {
		v.bad(Lost, "%s %s at their end", log.ArrivalsFile(v.Log.Name()), rowsAre(w.n-w.damaged+1, w.n))
	}
	return nil
}

// rowWalk is where the walk is.
type rowWalk struct {
	v       *verification
	n       int // rows so far
	damaged int // of them, in front of the next one
	chain   arrival.Chain

	from, to    int64  // bytes that are not what arrived, not reported yet
	first, last int    // their rows
	unread      string // why they cannot be read, where that is so
}

func rowsAre(from, to int) string {
	if from == to {
		return fmt.Sprintf("row %d is damaged", from)
	}
	return fmt.Sprintf("rows %d-%d are damaged", from, to)
}

func (w *rowWalk) row(a *arrival.Row) error {
	v := w.v
	_, follows := a.Follows(w.chain.Value)
	follows = follows || !w.chain.Known // what comes before it was reported
	if next := w.chain.Next; w.damaged > 0 || a.Off > next {
		proven := false
		if w.damaged == 1 && a.Off > next && a.Off <= v.End {
			// What the damaged row said of the bytes can be had from the bytes; the chain behind it proves it.
			sum, err := vfs.HashRange(v.Data(), next, a.Off)
			if lost := new(archive.DamageError); err != nil && !errors.As(err, &lost) {
				return err
			}
			if err == nil {
				proven = w.chain.Pass(sum, a)
			}
		}
		w.gap(a, next, proven)
		follows, w.damaged = true, 0
	} else if a.Off < next {
		v.bad(Lost, "arrival row %d begins at byte %d, the one before it ends at %d", w.n, a.Off, next)
	}
	if !follows {
		v.bad(Lost, "arrival row %d breaks the chain: nothing proves the bytes before byte %d", w.n, a.Off)
	}
	w.chain.Add(a)
	if a.End() > v.End {
		v.bad(Lost, "bytes %d-%d, which belong to arrival row %d, are missing", max(a.Off, v.End), a.End(), w.n)
		return nil
	}
	sum, err := vfs.HashRange(v.Data(), a.Off, a.End())
	unread := ""
	if lost := new(archive.DamageError); errors.As(err, &lost) {
		unread = lost.Error()
	} else if err != nil || sum == a.SHA {
		return err
	}
	if w.to != a.Off || w.to == 0 || w.unread != unread {
		w.flush()
		w.from, w.first, w.unread = a.Off, w.n, unread
	}
	w.to, w.last = a.End(), w.n
	return nil
}

// gap reports bytes from next on that no whole row covers.
func (w *rowWalk) gap(a *arrival.Row, next int64, proven bool) {
	v := w.v
	what := "there is no arrival row for"
	if w.damaged > 0 {
		what = "arrival " + rowsAre(w.n-w.damaged, w.n-1)
		if a.Off <= next {
			v.bad(Lost, "%s, but no bytes are missing between the rows beside them", what)
			return
		}
		what += ": who wrote"
	}
	bytes := fmt.Sprintf("%s (bytes %d-%d)", v.span(next, a.Off), next, a.Off)
	switch {
	case w.damaged == 0:
		v.bad(Lost, "%s %s", what, bytes)
	case proven:
		v.bad(Lost, "%s %s, and when, is lost; the chain proves that these bytes are what arrived", what, bytes)
	default:
		v.bad(Lost, "%s %s, and when, is lost; nothing proves that these bytes are what arrived", what, bytes)
	}
}

// flush reports bytes that are not what arrived.
func (w *rowWalk) flush() {
	if w.to == 0 {
		return
	}
	rows := fmt.Sprintf("arrival row %d", w.first)
	if w.last > w.first {
		rows = fmt.Sprintf("arrival rows %d-%d", w.first, w.last)
	}
	span := w.v.span(w.from, w.to)
	is := "is"
	if strings.Contains(span, "-") {
		is = "are"
	}
	if w.unread != "" {
		w.v.bad(Lost, "%s cannot be read (bytes %d-%d, %s): %s", span, w.from, w.to, rows, w.unread)
	} else {
		w.v.bad(Lost, "%s %s not what arrived (bytes %d-%d, %s)", span, is, w.from, w.to, rows)
	}
	w.from, w.to = 0, 0
}

// verifyBlobs holds what users stored against the hashes that are the names.
func verifyBlobs(x *session.Session) (found []Problem) {
	for _, b := range x.Blobs() {
		f, err := x.OpenBlob(b.ID)
		if err != nil {
			found = append(found, Problem{Log: blob.Name(b.ID), What: whyOf(err)})
			continue
		}
		f.Close()
	}
	return found
}

// verifyServed holds the packs that were read against their hashes.
func verifyServed(x *session.Session) (found []Problem) {
	s, err := x.Served()
	if err != nil {
		return []Problem{{Log: ctxabi.ServedDir, What: err.Error()}}
	}
	for _, p := range s.Packs() {
		if _, err := s.Pack(p.ID); err != nil {
			found = append(found, Problem{Log: ctxabi.ServedDir + "/" + p.ID + ".md", What: whyOf(err)})
		}
	}
	return found
}

// VerifyHead returns what of the log that h speaks of is not there any more, or is not what it was.
// It returns ctxabi.ErrNotFound where the session is gone. It looks at the chain alone: [Verify]
// says whether the bytes fit the chain.
func VerifyHead(s *session.Store, h session.Head) ([]Problem, error) {
	x, err := s.Session(h.Ref)
	if err != nil {
		return nil, err
	}
	l := x.Messages()
	if h.Log == ctxabi.EventsFile {
		l = x.Events()
	}
	if err := l.Open(); err != nil {
		return nil, err
	}
	bad := func(format string, args ...any) ([]Problem, error) {
		return []Problem{{Log: l.Name(), What: fmt.Sprintf(format, args...)}}, nil
	}
	if have := l.Len(); have < h.Bytes {
		return bad("it has %d bytes, but had %d when the head was taken: %d were cut off its end", have, h.Bytes, h.Bytes-have)
	}
	chain, err := l.HeadAt(h.Bytes)
	if err != nil {
		return nil, err
	}
	if known := 2 * arrival.LinkSize; chain != h.Chain && chain[:known] == h.Chain[:known] && strings.Trim(chain[known:], "0") == "" {
		return bad("damaged arrival rows hide the chain after %d bytes: its first %d digits are those of the head, nothing proves the others", h.Bytes, known)
	}
	if chain != h.Chain {
		return bad("its first %d bytes have changed since the head was taken", h.Bytes)
	}
	return nil, nil
}
