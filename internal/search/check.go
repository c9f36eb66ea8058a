package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

// FileKinds are the files of the index, for [check.Fsck]. All of them follow from the logs.
func FileKinds() []check.FileKind {
	const in = ctxabi.InternalDir + "/"
	return []check.FileKind{
		{Name: in + Dir + "/", Class: check.Cache},
		{Name: in + manifestFile, Class: check.Cache, Check: check.DerivedFile(checkManifest)},
		{Name: in + Dir + "/[1-9]*" + suffix, Class: check.Cache, Check: checkSegment},
		{Name: in + RecentName, Class: check.Kept, Check: check.DerivedFile(nil)},
	}
}

// RecentName is the derived content that holds a session's recent queries.
const RecentName = "search.recent"

func checkManifest(f *check.CheckedFile, data []byte) error {
	var m manifest
	if json.Unmarshal(data, &m) == nil && m.Version != version {
		return nil // of another version: made anew when somebody searches
	}
	if err := check.StrictJSON(data, &m); err != nil {
		return fmt.Errorf("it cannot be decoded: %w", err)
	}
	return nil
}

func checkSegment(f *check.CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	if err := verifySegment(data); err != nil {
		f.Report(check.Rebuildable, f.Remove(), "%v", err)
	}
}

// verifySegment reads all of a segment.
func verifySegment(data []byte) error {
	r := bytesAt(data)
	s, err := openSegment(r, int64(len(data)))
	if err != nil {
		return err
	}
	t, err := s.loadRows(r)
	if err != nil {
		return err
	}
	total := uint64(0)
	for doc := range uint32(s.n) {
		total += uint64(t.length(doc))
		if int(t.tools(doc)) > len(s.tools) {
			return damaged("a record has tools that are not there")
		}
	}
	if total != s.total {
		return damaged("the lengths of the records do not add up")
	}
	var docs, counts []uint32
	for k := range s.dict {
		var failed error
		err := s.eachEntry(r, k, func(term uint64, e entry) bool {
			if docs, counts, failed = s.postings(r, e, docs[:0], counts[:0]); failed == nil && len(docs) != e.records {
				failed = damaged("a list does not have as many records as its count")
			}
			for i, doc := range docs {
				if e.inline == nil && (counts[i] > e.most || t.length(doc) < e.shortest) {
					failed = damaged("a list has a record that is beyond its bounds")
				}
			}
			return failed == nil
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// Check returns what of a session's index does not fit together or does not fit the logs. What each file holds, FileKinds know.
// It returns an error if the session itself cannot be read, or ctx ends.
func Check(ctx context.Context, x *session.Session) (found []check.Problem, err error) {
	bad := func(format string, args ...any) {
		found = append(found, check.Problem{Log: path.Join(ctxabi.InternalDir, manifestFile), Severity: check.Rebuildable, What: fmt.Sprintf(format, args...)})
	}
	m := readManifest(x)
	if m == nil {
		return nil, ctx.Err()
	}
	if why := m.fits(x); why != "" {
		bad("the index is of another history: %s", why)
	} else if _, err := m.open(x); err != nil {
		bad("%v", err)
	}
	return found, ctx.Err()
}
