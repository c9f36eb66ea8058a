package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path"
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session/archive"
	"github.com/ctxfs/ctxfs/session/log"
)

// sealedKinds are the sealed parts of logs and the lists of them.
func sealedKinds() (kinds []FileKind) {
	for _, log := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
		kinds = append(kinds, FileKind{log + ".[1-9]*.zst", Truth, checkSealed}, FileKind{archive.ListFile(log), Cache, checkSealedList})
	}
	return kinds
}

// checkSealed looks at a sealed part: what it says about itself, and each frame. Which records are
// lost is told where the log is held against its arrival rows.
func checkSealed(f *CheckedFile) {
	log, n, ok := archive.ParsePartName(path.Base(f.Rel))
	if !ok {
		f.Report(Odd, f.SetAside(), "its name is not that of a sealed part")
		return
	}
	file, err := f.t.c.s.Disk().FS.OpenFile(f.path(), os.O_RDONLY, 0)
	if err != nil {
		f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
		return
	}
	defer file.Close()
	m, err := archive.ReadMeta(file, f.info.Size())
	if err != nil {
		if again := f.t.walkSealed(file, f.info.Size(), log, n); again != nil {
			f.Report(Rebuildable, f.retrailed(file, again), "its description of itself is damaged (%v); its frames are undamaged", err)
			return
		}
		f.Report(Lost, NoRemedy, "its end is damaged (%v); ctxfs serves its undamaged frames", err)
		return
	}
	trailer := m.Trailer()
	b := make([]byte, len(trailer))
	if err := vfs.ReadFull(file, b, max(0, f.info.Size()-int64(len(b)))); err != nil || !bytes.Equal(b, trailer) {
		f.Report(Rebuildable, f.retrailed(file, m), "its seek table is damaged: other programs cannot seek in it, ctxfs can")
	}
	p := archive.NewPart(&archive.Location{Log: log}, archive.Entry{Number: n, Off: m.Off, Size: m.Size, SHA256: m.SHA256})
	p.CheckIn(file, func(_ []byte, err error) bool {
		if err != nil {
			f.Report(Lost, NoRemedy, "%v", err)
		}
		return true
	})
}

// walkSealed makes again what a sealed part says about itself, from its frames and the list of
// parts; nil where they are not what was sealed.
func (t *sessionTree) walkSealed(file vfs.File, size int64, log string, number int) *archive.Meta {
	raw, err := vfs.ReadFile(t.c.s.Disk().FS, path.Join(t.dir, archive.ListFile(log)))
	if err != nil {
		return nil
	}
	list, err := archive.ParseList(raw)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(list.Parts, func(e archive.Entry) bool { return e.Number == number })
	if i < 0 {
		return nil
	}
	e := &list.Parts[i]
	m := &archive.Meta{Chain: e.Chain, Log: log, Off: e.Off, Session: t.id(), SHA256: e.SHA256, Size: e.Size, Records: e.Records}
	all, at := sha256.New(), int64(0)
	for _, f := range archive.WalkFrames(file, size) {
		packed := make([]byte, f.Packed)
		if vfs.ReadFull(file, packed, at) != nil {
			return nil
		}
		one, err := f.Inflate(packed)
		if err != nil {
			return nil
		}
		sum := sha256.Sum256(one)
		f.SHA256 = hex.EncodeToString(sum[:])
		all.Write(one)
		at += int64(f.Packed)
		m.Frames = append(m.Frames, f)
	}
	if hex.EncodeToString(all.Sum(nil)) != e.SHA256 || m.Fits(at) != nil {
		return nil
	}
	return m
}

// retrailed is the remedy that gives the frames of a sealed part a new end.
func (f *CheckedFile) retrailed(file vfs.File, m *archive.Meta) Remedy {
	return f.rewrite(func(w vfs.File) error {
		packed := int64(0)
		for i := range m.Frames {
			packed += int64(m.Frames[i].Packed)
		}
		n, err := io.Copy(w, io.NewSectionReader(file, 0, packed))
		if err == nil && n < packed {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = vfs.WriteFull(w, m.Trailer())
		}
		return err
	})
}

// strayParts reports sealed parts that a log does not have: their records are raw, or were never
// its own. One with records that the list does not reach is set aside by nobody: they may be
// nowhere else. older names the one that shows the list to be older than the parts.
func (t *sessionTree) strayParts(log string, m *archive.List) (older string) {
	v := t.c.s.Disk().FS
	entries, err := v.ReadDir(t.dir)
	if err != nil {
		return "" // reported already
	}
	for _, e := range entries {
		of, n, ok := archive.ParsePartName(e.Name())
		if !ok || of != log || slices.ContainsFunc(m.Parts, func(p archive.Entry) bool { return p.Number == n }) {
			continue
		}
		said, err := t.sealMeta(e.Name())
		switch {
		case err == nil && said.Log == log && said.Off == m.Base() && !t.reaches(log, m.Base()):
			older = e.Name()
		case err == nil && (said.Log != log || said.Off+said.Size <= m.Base()):
			t.report(e.Name(), Odd, t.aside(e.Name()), "%s has no such part: a program that reads the files one after another reads its records twice", log)
		default:
			t.report(e.Name(), Odd, NoRemedy, "%s has no such part; its records may exist only here", log)
		}
	}
	return older
}

// sealMeta is what a sealed part of the session says about itself.
func (t *sessionTree) sealMeta(name string) (*archive.Meta, error) {
	file, err := t.c.s.Disk().FS.OpenFile(path.Join(t.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return archive.ReadMeta(file, fi.Size())
}

// reaches reports whether a tail that begins at base ends where the arrivals say that the log does;
// true where they cannot be read.
func (t *sessionTree) reaches(name string, base int64) bool {
	v := t.c.s.Disk().FS
	fi, err := v.Stat(path.Join(t.dir, name))
	if err != nil {
		return true
	}
	arrivals, err := v.OpenFile(path.Join(t.dir, log.ArrivalsFile(name)), os.O_RDONLY, 0)
	if err != nil {
		return true
	}
	defer arrivals.Close()
	total, err := log.LastEnd(arrivals)
	return err != nil || base+fi.Size() == total
}

// checkSealedList holds the list of a log's parts against what they say about themselves.
func checkSealedList(f *CheckedFile) {
	raw, ok := f.Data()
	if !ok {
		return
	}
	m, err := archive.ParseList(raw)
	if err != nil {
		f.Report(Rebuildable, f.Remove(), "its parts do not fit together: %v", err)
		return
	}
	log := ctxabi.MessagesFile
	if f.Rel == archive.ListFile(ctxabi.EventsFile) {
		log = ctxabi.EventsFile
	}
	v := f.t.c.s.Disk().FS
	if name := f.t.strayParts(log, m); name != "" {
		f.Report(Rebuildable, f.Remove(), "it is older than %s", name)
		return
	}
	for _, e := range m.Parts {
		name := archive.PartName(log, e.Number)
		file, err := v.OpenFile(path.Join(f.t.dir, name), os.O_RDONLY, 0)
		if err != nil {
			if !m.Pending {
				f.t.report(name, Lost, NoRemedy, "the sealed part is missing: bytes %d-%d of %s are lost", e.Off, e.End(), log)
			}
			continue
		}
		fi, err := file.Stat()
		var said *archive.Meta
		if err == nil {
			said, err = archive.ReadMeta(file, fi.Size())
		}
		file.Close()
		if err == nil && (said.Off != e.Off || said.Size != e.Size || said.SHA256 != e.SHA256 || said.Records != e.Records || fi.Size() != e.Packed) {
			f.Report(Rebuildable, f.Remove(), "it does not match %s", name)
			return
		}
	}
}
