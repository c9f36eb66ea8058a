package keeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/cluster/names"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
)

// localCopy is the copy of an owner's journal in a store.
type localCopy struct {
	fs      vfs.FS
	file    string // without its extension
	subject engine.Subject

	have, want *names.State // made true; read
	seq        uint64       // of the last entry of want
	moves      []move       // of agents' homes, since have
	lines      int          // in the file of entries
	torn       bool         // nothing can be added to it
}

// line is a line of the file of entries: an entry, how many entries are true, or an agent's home that is about
// to be moved.
type line struct {
	Entry *stored `json:"entry,omitempty"`
	Done  *uint64 `json:"done,omitempty"`
	Move  *move   `json:"move,omitempty"`
}

// stored is an entry as the engine has it.
type stored struct {
	Seq     uint64        `json:"seq"`
	ID      string        `json:"id"`
	Header  engine.Header `json:"header"`
	Payload []byte        `json:"payload"`
}

// move notes that the agent's home with an inode gets a name.
type move struct {
	Born uint64 `json:"born"`
	To   string `json:"to"`
	Ino  uint64 `json:"ino"`
}

// head is the first line of the file of the state.
type head struct {
	V   int    `json:"v"`
	Seq uint64 `json:"seq"`
}

const (
	stateExt   = ".state"
	entriesExt = ".entries"
	maxLines   = 2000 // in the file of entries, before the state is written anew
)

// loadCopy reads the copy of an owner's journal; what cannot be read is not in it. It returns the error of a
// disk on which no copy can be kept.
func loadCopy(store *session.Store, subject engine.Subject) (*localCopy, error) {
	disk := store.Disk()
	dir := disk.Join(session.ClusterDir)
	if err := disk.FS.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	c := &localCopy{fs: disk.FS, file: path.Join(dir, subject.Owner), subject: subject}
	c.have, c.want = names.New(subject), names.New(subject)
	if data, err := vfs.ReadFile(c.fs, c.file+stateExt); err == nil {
		c.loadState(data)
	}
	data, err := vfs.ReadFile(c.fs, c.file+entriesExt)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := c.loadEntries(data)
	if whole < len(data) {
		if err := c.cut(int64(whole)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// loadState takes the state of a file, if it is whole.
func (c *localCopy) loadState(data []byte) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var h head
	if !vfs.SumFits(first, &h) || h.V != names.Version {
		return
	}
	have, err := names.Decode(c.subject, bytes.TrimSuffix(rest, []byte("\n")))
	if err != nil {
		return
	}
	c.have, c.want, c.seq = have, clone(have), h.Seq
}

// clone returns a state of its own with the same value.
func clone(s *names.State) *names.State {
	c, err := names.Decode(s.Subject(), s.Encode())
	if err != nil {
		panic(err) // Decode takes what Encode returns
	}
	return c
}

// loadEntries takes the lines of a file, and returns how many bytes of it are whole and follow each other.
func (c *localCopy) loadEntries(data []byte) (whole int) {
	var waiting []engine.Entry // applied to want alone
	for rest := data; ; {
		text, after, ok := bytes.Cut(rest, []byte("\n"))
		var l line
		if !ok || !vfs.SumFits(text, &l) {
			return whole
		}
		switch {
		case l.Entry != nil:
			e := engine.Entry{Seq: l.Entry.Seq, ID: l.Entry.ID, Header: l.Entry.Header, Payload: l.Entry.Payload}
			if p, err := journal.Peek(e); err == nil && p.I < c.want.At().I {
				break // of before the state
			}
			if _, err := c.want.Apply(e); err != nil {
				return whole
			}
			c.seq, waiting = e.Seq, append(waiting, e)
		case l.Move != nil:
			c.moves = append(c.moves, *l.Move)
		case l.Done != nil:
			for len(waiting) > 0 && c.have.At().I < *l.Done {
				c.have.Apply(waiting[0])
				waiting = waiting[1:]
			}
			c.moves = nil
		}
		rest = after
		whole = len(data) - len(rest)
		c.lines++
	}
}

// cut cuts the file of entries, whose end is not whole.
func (c *localCopy) cut(size int64) error {
	f, err := c.fs.OpenFile(c.file+entriesExt, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// add adds lines, durably if asked for. After an error nothing is added until the state is written anew: what
// is in the file stays true, but it is not all.
func (c *localCopy) add(durable bool, lines ...line) error {
	if c.torn || len(lines) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		b.Write(append(vfs.Summed(text), '\n'))
	}
	f, err := c.fs.OpenFile(c.file+entriesExt, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		defer f.Close()
		err = vfs.WriteFull(f, b.Bytes())
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if err == nil && durable && c.lines == 0 {
		err = c.fs.SyncDir(path.Dir(c.file))
	}
	c.lines += len(lines)
	c.torn = err != nil
	return err
}

// rewrite writes the state, which is true, and begins the file of entries anew.
func (c *localCopy) rewrite() error {
	first, err := json.Marshal(head{names.Version, c.seq})
	if err != nil {
		return err
	}
	data := append(append(vfs.Summed(first), '\n'), append(c.have.Encode(), '\n')...)
	for _, part := range []struct {
		ext  string
		data []byte
	}{{stateExt, data}, {entriesExt, nil}} {
		name := c.file + part.ext
		if err = vfs.WriteFile(c.fs, name+".new", part.data, 0o600); err == nil {
			err = c.fs.Rename(name+".new", name)
		}
		if err == nil {
			err = c.fs.SyncDir(path.Dir(name))
		}
		if err != nil {
			return err
		}
	}
	c.lines, c.torn, c.moves = 0, false, nil
	return nil
}
