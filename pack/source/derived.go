package source

import (
	"io"

	"github.com/ctxfs/ctxfs/pack/prefix"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session"
)

// Derived is derived content of a session. It implements [prefix.File] and [prefix.Lines].
type Derived struct {
	Session *session.Session
	Name    string
}

var (
	_ prefix.File  = Derived{}
	_ prefix.Lines = Derived{}
)

// Load returns the content, or nil.
func (d Derived) Load() []byte {
	data, err := d.Session.Derived(d.Name)
	if err != nil {
		return nil
	}
	return data
}

// Keep replaces the content. On an error, the old content stays.
func (d Derived) Keep(data []byte) error { return d.Session.SetDerived(d.Name, data) }

// Each calls do for each line of the content until do returns false. It returns an error if the
// content cannot be read.
func (d Derived) Each(do func(line []byte) bool) error { return d.Session.EachDerivedLine(d.Name, do) }

// Append adds a line to the content. On an error, the line is not stored.
func (d Derived) Append(line []byte) error { return d.Session.AppendDerived(d.Name, line) }

// Remove removes the content.
func (d Derived) Remove() { d.Session.RemoveDerived(d.Name) }

// Open opens the content and returns its size. It returns an error if there is none.
func (d Derived) Open() (content io.ReaderAt, closer io.Closer, size int64, err error) {
	f, size, err := d.Session.OpenDerived(d.Name)
	if err != nil {
		return nil, nil, 0, err
	}
	size -= int64(session.DerivedHeader)
	return io.NewSectionReader(f, int64(session.DerivedHeader), size), f, size, nil
}

// History returns both logs of the session as they are stored. It returns an error if they cannot be
// read.
func (d Derived) History() (record.Records, error) {
	t, err := d.Session.Timeline()
	if err != nil || len(t.Tools) == 0 {
		return t.Messages, err
	}
	return &record.Merged{Messages: t.Messages, Events: t.Events, Tools: t.Tools}, nil
}

// Head returns the hashes of both logs up to the first at records of m. It returns an error if a log
// cannot be read.
func (d Derived) Head(m record.Records, at int) (string, error) {
	var sizes [2]int64
	events := record.ToolsUpTo(m, at)
	if n := at - events; n > 0 {
		e := record.MessagesOf(m).At(n)
		sizes[0] = e.Offset + int64(e.Len) + 1
	}
	if events > 0 {
		t := m.(*record.Merged)
		e := t.Events.At(int(t.Tools[events-1].Line))
		sizes[1] = e.Offset + int64(e.Len) + 1
	}
	messages, err := d.Session.Messages().HeadAt(sizes[0])
	if err != nil {
		return "", err
	}
	tools, err := d.Session.Events().HeadAt(sizes[1])
	return messages + " " + tools, err
}
