package check

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
)

// checkServedRows looks at each row of the packs that were read.
func checkServedRows(f *CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	good, bad := goodLines(data, func(line []byte) bool {
		_, ok := blob.ParseRow(line)
		return ok
	})
	if bad > 0 {
		f.Report(Lost, f.Rewrite(good), "%d of its rows are damaged: when these packs were read is lost", bad)
	}
}

// checkSegment looks at each pack of a segment.
func checkSegment(f *CheckedFile) {
	n, err := strconv.Atoi(filepath.Base(f.Rel))
	if err != nil {
		f.Report(Odd, f.SetAside(), "a file with this name does not belong there")
		return
	}
	x := new(disk.Dir)
	x.Init(f.t.c.s.Disk(), f.t.ref, "", time.Time{})
	g, err := blob.ReadSegment(x, n)
	if err != nil {
		f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
		return
	}
	r := f.SetAside()
	if len(g.Whole) > 0 {
		r = f.Rewrite(g.Whole)
	}
	switch {
	case len(g.Lost) > 0:
		f.Report(Lost, r, "%d packs in it are damaged: %s", len(g.Lost), strings.Join(g.Lost[:min(len(g.Lost), 3)], " "))
	case g.Torn:
		f.Report(Lost, r, "the %d bytes from %d on are not packs: the packs there are lost", f.info.Size()-g.Size, g.Size)
	case g.Unended > 0:
		f.Report(Odd, r, "%d packs in it do not end in a newline", g.Unended)
	}
}

// checkServed looks for packs that rows name and no segment has.
func (t *sessionTree) checkServed(x *session.Session) {
	s, err := blob.LoadServed(x.Disk(), nil)
	if err != nil {
		t.report(blob.ServedDir, Lost, NoRemedy, "%v", err)
		return
	}
	if gone := s.Missing(); len(gone) > 0 {
		t.report(path.Join(blob.ServedDir), Lost, NoRemedy, "%d packs are missing that rows name: %s", len(gone), strings.Join(gone[:min(len(gone), 3)], " "))
	}
}
