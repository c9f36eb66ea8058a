package session

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/session/disk"
)

// checkServedRows looks at each row of the packs that were read.
func checkServedRows(f *CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	good, bad := goodLines(data, func(line []byte) bool {
		_, ok := parseServedRow(line)
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
		f.Report(Odd, f.SetAside(), "no file of this name belongs there")
		return
	}
	x := new(disk.Dir)
	x.Init(f.t.c.s.disk, f.t.ref, "", time.Time{})
	g := &segment{number: n}
	if err := g.load(x); err != nil {
		f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
		return
	}
	good := &segment{number: n}
	var whole []byte
	var lost []string
	for i := range g.frames {
		data, err := g.readFrame(x, i)
		if err != nil {
			lost = append(lost, g.frames[i].ID)
			continue
		}
		h := frame{At: g.frames[i].At, ID: g.frames[i].ID, SHA256: g.frames[i].SHA256, Size: len(data), Tokens: g.frames[i].Tokens, Redact: g.frames[i].Redact}
		if len(good.frames) > 0 {
			h.Cut, h.Tail = common(good.end, data)
		}
		bytes, err := h.encode(data)
		if err != nil {
			f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
			return
		}
		whole = append(whole, bytes...)
		good.frames, good.end = append(good.frames, h), data
	}
	odd := 0
	if raw, ok := f.Data(); ok {
		for _, h := range g.frames {
			if end := h.off + int64(h.Len); end < int64(len(raw)) && raw[end] != '\n' {
				odd++
			}
		}
	}
	r := f.SetAside()
	if len(good.frames) > 0 {
		r = f.Rewrite(whole)
	}
	switch {
	case len(lost) > 0:
		f.Report(Lost, r, "%d packs in it are damaged: %s", len(lost), strings.Join(lost[:min(len(lost), 3)], " "))
	case g.torn:
		f.Report(Lost, r, "the %d bytes from %d on are no packs: what stood there is lost", f.info.Size()-g.size, g.size)
	case odd > 0:
		f.Report(Odd, r, "%d packs in it do not end in a newline", odd)
	}
}

// checkServed looks for packs that rows name and no segment has.
func (t *sessionTree) checkServed(x *Session) {
	s := &Served{x: &x.dir}
	if err := s.load(); err != nil {
		t.report(servedDir, Lost, NoRemedy, "%v", err)
		return
	}
	var gone []string
	for _, r := range s.rows {
		if g, _ := s.find(r.id); g == nil && !slices.Contains(gone, r.id) {
			gone = append(gone, r.id)
		}
	}
	if len(gone) > 0 {
		t.report(path.Join(servedDir), Lost, NoRemedy, "%d packs that rows name are not kept any more: %s", len(gone), strings.Join(gone[:min(len(gone), 3)], " "))
	}
}
