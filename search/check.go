package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/search/segment"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/check"
)

const internal = ctxabi.InternalDir + "/"

// FileKinds are the files of searches in a session, for [check.Fsck]: the recent queries, and the
// index of that session alone that older programs made, of which nothing is read.
func FileKinds() []check.FileKind {
	return []check.FileKind{
		{Name: internal + Dir + "/", Class: check.Cache},
		{Name: internal + oldManifest, Class: check.Cache},
		{Name: internal + Dir + "/[1-9]*" + suffix, Class: check.Cache},
		{Name: internal + RecentName, Class: check.Kept, Check: check.DerivedFile(nil)},
	}
}

// oldManifest is what an index of one session, of the first version, consists of.
const oldManifest = Dir + "/manifest.json"

// OwnerKinds are the files of an owner's index, for [check.Fsck]. All of them follow from the logs.
func OwnerKinds() []check.FileKind {
	return []check.FileKind{
		{Name: internal + Dir + "/", Class: check.Cache},
		{Name: internal + manifestFile, Class: check.Cache, Check: check.DerivedFile(checkManifest)},
		{Name: internal + Dir + "/[1-9]*" + suffix, Class: check.Cache, Check: checkSegment},
	}
}

// RecentName is the derived content that holds a session's recent queries.
const RecentName = "search.recent"

func checkManifest(f *check.CheckedFile, data []byte) error {
	_, err := decodeManifest(data, ctxabi.Ref{})
	if errors.Is(err, errVersion) {
		return nil // made anew when somebody searches
	}
	return err
}

func checkSegment(f *check.CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	if err := segment.Verify(data); err != nil {
		f.Report(check.Rebuildable, f.Remove(), "%v", err)
	}
}

// Check returns what of an owner's index does not fit together or does not fit the logs. What each
// file holds, OwnerKinds know. It returns an error if ctx ends.
func Check(ctx context.Context, store *session.Store, of ctxabi.Ref) (found []check.Problem, err error) {
	bad := func(format string, args ...any) {
		found = append(found, check.Problem{Log: path.Join(ctxabi.InternalDir, manifestFile), Severity: check.Rebuildable, What: fmt.Sprintf(format, args...)})
	}
	files := store.Owned(of)
	if files.Check() != nil {
		return nil, ctx.Err()
	}
	data, err := files.Derived(manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	var m *manifest
	if err == nil {
		m, err = decodeManifest(data, of)
	}
	if err != nil {
		return nil, ctx.Err() // that of its file is said already
	}
	var segments []*segment.Segment
	for _, e := range m.segments {
		s, err := openNamed(files, e)
		if err != nil {
			bad("%v", err)
			return found, ctx.Err()
		}
		segments = append(segments, s)
	}
	if lost := m.lacking(segments); len(lost) > 0 {
		bad("the segments lack records of %d sessions, the first of them %s", len(lost), lost[0].ref)
	}
	for _, k := range m.sessions {
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		x, err := store.Session(k.ref)
		if err != nil || x.ID() != k.id {
			continue // a search finds that out
		}
		if why, err := k.fitsLogs(x); err == nil && why != nil {
			bad("the index is of another history of %s: %v", k.ref, why)
			break
		}
	}
	return found, ctx.Err()
}
