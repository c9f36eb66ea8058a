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

	have, want *names.State               // made true; read
	seq        uint64                     // of the last entry of want
	waiting    []engine.Entry             // that want has and have not, unless jumped
	jumped     bool                       // want went on from a snapshot since have
	missing    map[names.Place]names.Node // files of have whose content could not be fetched: what is on the disk instead
	moves      []move                     // of agents' homes, since have
	lines      int                        // in the file of entries
	size       int64                      // of it
	torn       bool                       // it is longer
}

// line is a line of the file of entries: an entry, a state in place of all before, that all of it is true, or an
// agent's home that is about to be moved.
type line struct {
	Entry *stored `json:"entry,omitempty"`
	Jump  *jump   `json:"jump,omitempty"`
	Done  *done   `json:"done,omitempty"`
	Move  *move   `json:"move,omitempty"`
}

// jump is the state behind the entry Seq.
type jump struct {
	Seq   uint64 `json:"seq"`
	State []byte `json:"state"`
}

// done is what is not true of the state that is.
type done struct {
	Missing []missing `json:"missing,omitempty"`
}

// missing is a file that is on the disk as it was before.
type missing struct {
	Born uint64     `json:"born"`
	Rel  string     `json:"rel"`
	Node names.Node `json:"node"`
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
	c := &localCopy{fs: disk.FS, file: path.Join(dir, subject.Owner), subject: subject, missing: map[names.Place]names.Node{}}
	c.have, c.want = names.New(subject), names.New(subject)
	if data, err := vfs.ReadFile(c.fs, c.file+stateExt); err == nil {
		c.loadState(data)
	}
	data, err := vfs.ReadFile(c.fs, c.file+entriesExt)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.size = int64(c.loadEntries(data))
	c.torn = c.size < int64(len(data))
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
	for rest := data; ; {
		text, after, ok := bytes.Cut(rest, []byte("\n"))
		var l line
		if !ok || !vfs.SumFits(text, &l) || !c.load(l) {
			return whole
		}
		rest = after
		whole = len(data) - len(rest)
		c.lines++
	}
}

// load takes a line. ok is false if it does not continue those before.
func (c *localCopy) load(l line) (ok bool) {
	switch {
	case l.Entry != nil:
		e := l.Entry.entry()
		if p, err := journal.Peek(e); err == nil && p.I < c.want.At().I {
			return true // of before the state
		}
		return c.take(e) == nil
	case l.Jump != nil:
		want, err := names.Decode(c.subject, l.Jump.State)
		if err != nil {
			return false
		}
		if want.At().I > c.want.At().I {
			c.jump(want, l.Jump.Seq)
		}
	case l.Move != nil:
		c.moves = append(c.moves, *l.Move)
	case l.Done != nil:
		return c.settle(l.Done.Missing) == nil
	}
	return true
}

// entry returns the entry as the engine has it.
func (s stored) entry() engine.Entry {
	return engine.Entry{Seq: s.Seq, ID: s.ID, Header: s.Header, Payload: s.Payload}
}

// take applies an entry to the wanted state.
func (c *localCopy) take(e engine.Entry) error {
	if _, err := c.want.Apply(e); err != nil {
		return err
	}
	c.seq, c.waiting = e.Seq, append(c.waiting, e)
	return nil
}

// jump replaces the wanted state by one that is the caller's no more.
func (c *localCopy) jump(want *names.State, seq uint64) {
	c.want, c.seq, c.waiting, c.jumped = want, seq, nil, true
}

// settle makes the wanted state the one that is true, but for some files.
func (c *localCopy) settle(list []missing) error {
	if c.jumped {
		c.have = clone(c.want)
	}
	for _, e := range c.waiting {
		if c.jumped {
			break
		}
		if _, err := c.have.Apply(e); err != nil {
			return err
		}
	}
	c.waiting, c.jumped, c.moves = nil, false, nil
	clear(c.missing)
	for _, m := range list {
		c.missing[names.Place{Born: m.Born, Rel: m.Rel}] = m.Node
	}
	return nil
}

// settled reports whether all that was read is true, but for what is missing.
func (c *localCopy) settled() bool { return c.have.At() == c.want.At() }

// add adds lines, durably if asked for, all or none. It returns the error of the disk.
func (c *localCopy) add(durable bool, lines ...line) error {
	if len(lines) == 0 {
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
	name := c.file + entriesExt
	var err error
	if c.torn, err = vfs.AppendTo(c.fs, name, c.size, c.torn, b.Bytes()); err != nil {
		return err
	}
	if durable {
		if err := c.sync(); err != nil {
			c.torn = true
			return err
		}
	}
	c.lines, c.size = c.lines+len(lines), c.size+int64(b.Len())
	return nil
}

// sync makes the file of entries survive the loss of power.
func (c *localCopy) sync() error {
	f, err := c.fs.OpenFile(c.file+entriesExt, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil || c.lines > 0 {
		return err
	}
	return c.fs.SyncDir(path.Dir(c.file))
}

// rewrite writes the state, which is true and lacks nothing, and begins the file of entries anew.
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
	c.lines, c.size, c.torn = 0, 0, false
	return nil
}
