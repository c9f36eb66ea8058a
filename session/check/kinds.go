package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/disk"
	"github.com/ctxfs/ctxfs/session/log"
)

// Class is to whom a file of a session matters, and with that what a repair may do to it.
type Class int

// The classes.
const (
	Truth   Class = iota // cannot be made again: only an open repairs its end
	Control              // settings and notes: what breaks their rules counts as absent
	Cache                // follows from the truth: is removed
	Kept                 // does not, but is only a memory: what is whole of it stays
	Report               // tells of what happened
	Agent                // the agent's own, whatever it holds
	Tree                 // a directory of the agent's own, with all below it
)

// FileKind is a kind of file that sessions hold. A new one is one entry, here or in the list that
// another package gives Fsck.
type FileKind struct {
	Name  string             // its path in a session, as a pattern of path.Match; that of a directory ends in /
	Class Class              //
	Check func(*CheckedFile) // looks at its content; nil: it may hold anything. A directory's is called before its files are looked at
}

// sessionKinds are the files that this package keeps. Where two fit, the first counts.
var sessionKinds = []FileKind{
	{ctxabi.MessagesFile, Truth, nil}, // sessionTree.checkLog
	{ctxabi.EventsFile, Truth, nil},
	{disk.IDFile, Truth, nil}, // sessionTree.checkID
	{log.ArrivalsFile(ctxabi.MessagesFile), Truth, nil},
	{log.ArrivalsFile(ctxabi.EventsFile), Truth, nil},
	{log.IndexFile(ctxabi.MessagesFile), Cache, nil},
	{log.IndexFile(ctxabi.EventsFile), Cache, nil},
	{log.TokensFile(ctxabi.MessagesFile), Cache, nil},
	{log.TokensFile(ctxabi.EventsFile), Cache, nil},

	{ctxabi.StateFile, Control, checkControl},
	{ctxabi.CwdFile, Control, checkControl},
	{ctxabi.MetaFile, Control, checkControl},
	{ctxabi.ContextDir + "/", Control, nil},
	{ctxabi.BudgetFile, Control, checkControl},
	{ctxabi.PolicyFile, Control, checkControl},
	{ctxabi.RecipeFile, Control, checkControl},
	{ctxabi.EnvFile, Control, checkControl},
	{ctxabi.ProjectFile, Control, checkControl},
	{ctxabi.PlanFile, Control, checkControl},
	{ctxabi.DiffFile, Control, checkControl},
	{ctxabi.HandoffFile, Control, checkControl},
	{ctxabi.SummaryFile, Control, checkControl},
	{ctxabi.FactsFile, Control, checkControl},
	{ctxabi.DecisionsFile, Control, checkControl},
	{ctxabi.TodoFile, Control, checkControl},
	{ctxabi.RefsFile, Control, checkControl},
	{ctxabi.OwnNote(ctxabi.ContextDir + "/*"), Control, checkAdded},
	{ctxabi.PinnedDir + "/", Control, nil},
	{ctxabi.PinnedDir + "/*", Agent, checkPin},
	{ctxabi.ChildDir + "/", Control, nil},
	{ctxabi.ChildDir + "/*/", Control, nil},
	{ctxabi.ChildDir + "/*/" + ctxabi.ChildArtifact + "/", Tree, nil},
	{ctxabi.ChildDir + "/*/*", Agent, checkControl},

	{ctxabi.InternalDir + "/", Truth, nil},
	{ctxabi.InternalDir + "/*.foreign", Control, nil},
	{ctxabi.InternalDir + "/" + session.VersionsFile, Kept, checkVersions},
	{ctxabi.InternalDir + "/" + session.VersionsFile + ".seen", Cache, DerivedFile(nil)},
	{disk.ErrorsFile, Report, checkErrors},
	{disk.QuarantineDir + "/", Report, nil},
	{disk.QuarantineDir + "/*", Report, nil},
	{blob.Dir + "/", Truth, nil},
	{blob.Dir + "/*", Truth, checkBlob},
	{blob.ServedDir + "/", Kept, nil},
	{blob.ServedRows, Kept, checkServedRows},
	{blob.ServedDir + "/[1-9]*", Kept, checkSegment},
}

// ownerKinds are the files of an owner that this package keeps.
var ownerKinds = []FileKind{
	{ctxabi.InternalDir + "/" + session.KnownAgents + "/", Cache, nil},
	{ctxabi.InternalDir + "/" + session.KnownAgents + "/*", Cache, DerivedFile(nil)},
}

// kindOf finds the kind of a file; nil: none is known.
func (c *checker) kindOf(rel string, isDir bool) *FileKind { return kindIn(c.kinds, rel, isDir) }

// kindIn finds the kind of a file among some; nil: none fits.
func kindIn(kinds []FileKind, rel string, isDir bool) *FileKind {
	for i := range kinds {
		pattern, dir := strings.CutSuffix(kinds[i].Name, "/")
		if ok, _ := path.Match(pattern, rel); ok && dir == isDir {
			return &kinds[i]
		}
	}
	return nil
}

// checkControl holds a control file against the rules by which it was written.
func checkControl(f *CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	if err := session.CheckControl(f.Rel, data); err != nil {
		f.Report(Rebuildable, f.SetAside(), "it breaks the rules of this file, and is ignored: %s", whyOf(err))
	}
}

// checkAdded holds what an agent added to a derived note against the rules of that note.
func checkAdded(f *CheckedFile) {
	i := slices.IndexFunc(ctxabi.NoteFiles, func(note string) bool { return ctxabi.OwnNote(note) == f.Rel })
	if i < 0 {
		f.Report(Odd, f.SetAside(), "there is no note of this name")
		return
	}
	data, ok := f.Data()
	if !ok {
		return
	}
	if err := session.CheckControl(ctxabi.NoteFiles[i], data); err != nil {
		f.Report(Rebuildable, f.SetAside(), "it breaks the rules of this file, and is ignored: %s", whyOf(err))
	}
}

func checkPin(f *CheckedFile) {
	if ctxabi.IsPin(path.Base(f.Rel)) {
		checkControl(f)
	}
}

// whyOf is the sentence of a refusal.
func whyOf(err error) string {
	var e *ctxabi.Error
	if errors.As(err, &e) && e.Why != "" {
		return e.Why
	}
	return err.Error()
}

// checkVersions checks the rows of the versions of a summary: each by its hash, and their order.
func checkVersions(f *CheckedFile) {
	messages, events := 0, 0
	DerivedLines(func(_ *CheckedFile, line []byte) error {
		var row session.VersionRow
		if err := StrictJSON(line, &row); err != nil {
			return err
		}
		if row.Messages < messages || row.Events < events {
			return errors.New("it counts fewer records than the line before it")
		}
		messages, events = row.Messages, row.Events
		return row.Check()
	})(f)
}

func checkErrors(f *CheckedFile) {
	data, ok := f.Data()
	if !ok {
		return
	}
	good, bad := goodLines(data, disk.IsErrorRow)
	if bad > 0 {
		f.Report(Odd, f.Rewrite(good), "%d of its lines are not reports", bad)
	}
}

// goodLines is data without the lines that are not ok, and how many these are. A line has its newline.
func goodLines(data []byte, ok func(line []byte) bool) (good []byte, bad int) {
	for line := range bytes.Lines(data) {
		if ok(line) {
			good = append(good, line...)
		} else {
			bad++
		}
	}
	return good, bad
}

// checkBlob holds what a user stored against the hash that is its name.
func checkBlob(f *CheckedFile) {
	id := path.Base(f.Rel)
	if ctxabi.ParseContentID(id) != nil {
		f.Report(Odd, f.SetAside(), "its name is not a hash")
		return
	}
	file, err := f.t.c.s.Disk().FS.OpenFile(f.path(), 0, 0)
	if err == nil {
		var sum string
		if sum, err = blob.SumOf(file, f.info.Size()); err == nil && sum != id {
			f.Report(Lost, f.SetAside(), "its %d bytes have the hash %s: the stored content is lost", f.info.Size(), sum)
		}
		file.Close()
	}
	if err != nil {
		f.Report(Lost, NoRemedy, "it cannot be read: %v", err)
	}
}

// DerivedFile checks derived content: the line in front of it, and then the content.
func DerivedFile(check func(f *CheckedFile, data []byte) error) func(*CheckedFile) {
	return func(f *CheckedFile) {
		raw, ok := f.Data()
		if !ok {
			return
		}
		sev, remedy := f.damaged()
		data, ok := session.DerivedContent(raw)
		if !ok {
			f.Report(sev, remedy, "it does not match its checksum")
			return
		}
		if check == nil {
			return
		}
		if err := check(f, data); err != nil {
			f.Report(sev, remedy, "%v", err)
		}
	}
}

// DerivedLines checks derived content that is kept in lines: the checksum of each, and then each.
func DerivedLines(check func(f *CheckedFile, line []byte) error) func(*CheckedFile) {
	return func(f *CheckedFile) {
		raw, ok := f.Data()
		if !ok {
			return
		}
		var good []byte
		var first error
		bad := 0
		for line := range bytes.Lines(raw) {
			if len(line) == 1 && line[0] == '\n' {
				continue
			}
			content, err := session.DerivedLineContent(line)
			if err == nil && check != nil {
				err = check(f, content)
			}
			if err == nil {
				good = append(append(good, '\n'), line...)
				continue
			}
			bad++
			if first == nil {
				first = err
			}
		}
		if bad > 0 {
			sev, _ := f.damaged()
			f.Report(sev, f.Rewrite(good), "%d of its lines are damaged, the first of them: %v", bad, first)
		}
	}
}

// StrictJSON reads exactly one JSON value into v. It returns an error if data is of another kind,
// has keys that v does not know, or has something behind the value.
func StrictJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if len(bytes.TrimSpace(data[d.InputOffset():])) > 0 {
		return errors.New("there is text after the JSON value")
	}
	return nil
}
