package follower

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/ctxfs/ctxfs/cluster/shared"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Request is one change that a local writer asks for.
type Request struct {
	Kind     shared.Kind
	Key      arrival.Key        // of records
	UID, PID uint32             // of the writer of records
	Content  []byte             // of a row of another kind
	Body     []byte             // whole records, or the body of the row
	Creates  *shared.NewSession // a child, which is created together with the row of its parent
}

// isRecords reports whether rows of a kind belong to a log.
func isRecords(k shared.Kind) bool { return k == shared.Message || k == shared.Event }

// logOf returns the index of the log of a kind in Mark.Logs.
func logOf(k shared.Kind) int {
	if k == shared.Message {
		return 0
	}
	return 1
}

// buildRow returns the row of a request after ends, which it moves. It always writes the whole
// value of a log's chain.
func buildRow(r *Request, ends *[2]LogEnd, now time.Time) shared.Row {
	if !isRecords(r.Kind) {
		return shared.Row{Kind: r.Kind, Content: r.Content, Body: r.Body}
	}

	end := &ends[logOf(r.Kind)]
	a := arrival.Row{
		Off: end.Size, Len: int64(len(r.Body)), SHA: sha256.Sum256(r.Body), Whole: true,
		At: now.UnixNano(), UID: r.UID, PID: r.PID, Events: -1, Key: r.Key,
	}
	a.Chain = arrival.ChainNext(end.Chain, a.SHA, a.Off, a.Len)
	if r.Kind == shared.Message {
		a.Events = ends[1].Size
	}
	*end = LogEnd{Size: a.End(), Chain: a.Chain}

	row := shared.Row{Kind: r.Kind, Content: arrival.AppendRow(nil, &a), Body: r.Body}
	if len(row.Body) > maxInline {
		row.Body = nil // an object
	}
	return row
}

// moveEnds moves ends past the rows of an entry. Rows of a base are chained anew for the fork, in
// place. It returns shared.ErrDamaged if a row of a log does not follow the end of the log.
func moveEnds(rows []shared.Row, ends *[2]LogEnd, inherited bool) error {
	for i := range rows {
		row := &rows[i]
		if !isRecords(row.Kind) {
			continue
		}
		a, ok := parseArrival(row)
		end := &ends[logOf(row.Kind)]
		if !ok || a.Off != end.Size {
			return fmt.Errorf("%w: records at byte %d, and the log ends at %d", shared.ErrDamaged, a.Off, end.Size)
		}

		chain, follows := a.Follows(end.Chain)
		switch {
		case inherited:
			a.Chain, a.Whole = chain, true
			row.Content = arrival.AppendRow(nil, &a)
		case !follows:
			return fmt.Errorf("%w: the chain of records breaks at byte %d", shared.ErrDamaged, a.Off)
		}
		*end = LogEnd{Size: a.End(), Chain: chain}
	}
	return nil
}

func parseArrival(row *shared.Row) (arrival.Row, bool) {
	line, whole := bytes.CutSuffix(row.Content, []byte{'\n'})
	a, ok := arrival.ParseRow(line)
	return a, ok && whole
}

// fetchBodies completes the rows of an entry whose records are objects. Records that are not those
// of their row are shared.ErrDamaged.
func fetchBodies(ctx context.Context, objects shared.Objects, owner string, rows []shared.Row) error {
	for i := range rows {
		row := &rows[i]
		if !isRecords(row.Kind) {
			continue
		}
		a, ok := parseArrival(row)
		if !ok {
			return fmt.Errorf("%w: row of records", shared.ErrDamaged)
		}

		if len(row.Body) == 0 {
			body, err := objects.Object(ctx, owner, shared.Hash(a.SHA), a.Len)
			if err != nil {
				return fmt.Errorf("records at byte %d: %w", a.Off, err)
			}
			row.Body = body
		}
		if int64(len(row.Body)) != a.Len || sha256.Sum256(row.Body) != a.SHA {
			return fmt.Errorf("%w: records at byte %d", shared.ErrDamaged, a.Off)
		}
	}
	return nil
}
