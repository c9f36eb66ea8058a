package names

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// Version is the version of rows and snapshots.
const Version = 1

// ParentsVersion is the version of rows and snapshots of which one without children knows nothing: the rows [Parent] and
// [Parents], and states that have applied one.
const ParentsVersion = 2

// NameOp is what a [Name] does.
type NameOp string

// The operations on names.
const (
	MakeHome    NameOp = "home"    // the owner has files: of Owner
	MakeAgent   NameOp = "agent"   // there is an agent Agent: of Owner
	MakeSession NameOp = "create"  // there is a session Session of Agent with the id ID: of Owner
	Rename      NameOp = "rename"  // the agent Agent, or its session Session with the id ID, is called ToAgent, or ToSession of ToAgent
	Remove      NameOp = "remove"  // the agent Agent, which is empty unless All is set, or its session Session with the id ID, is removed
	Park        NameOp = "park"    // the first I entries of the journal of the session ID lie in the snapshot Hash
	Parent      NameOp = "parent"  // the session ID may have children
	Parents     NameOp = "parents" // each session that may have children has a Parent row
)

// Owner is to whom files belong: numeric ids, and the mode of directories.
type Owner struct {
	UID  uint32 `json:"uid"`
	GID  uint32 `json:"gid"`
	Mode uint32 `json:"mode"`
}

// Name is a row of kind n.
type Name struct {
	V         int    `json:"v"`
	Op        NameOp `json:"op"`
	Agent     string `json:"agent,omitempty"`
	Session   string `json:"session,omitempty"`
	ID        string `json:"id,omitempty"`
	Owner     Owner  `json:"owner,omitzero"`
	ToAgent   string `json:"to_agent,omitempty"`
	ToSession string `json:"to_session,omitempty"`
	All       bool   `json:"all,omitempty"`
	I         uint64 `json:"i,omitempty"`
	Hash      string `json:"hash,omitempty"`
}

// File is a row of kind f: the file Path has this content. It counts if the file has the content Base, or
// this one already, and is not there if Base is "".
type File struct {
	V      int               `json:"v"`
	Path   string            `json:"path"` // relative to the owner
	Base   string            `json:"base,omitempty"`
	Hash   string            `json:"hash"`
	Size   int64             `json:"size"`
	Mode   uint32            `json:"mode"` // permissions
	UID    uint32            `json:"uid"`
	GID    uint32            `json:"gid"`
	MTime  int64             `json:"mtime"` // nanoseconds
	Xattrs map[string][]byte `json:"xattrs,omitempty"`
}

// LinkOp is what a [Link] does.
type LinkOp string

// The operations on directories and links.
const (
	Mkdir      LinkOp = "mkdir"
	Attributes LinkOp = "attr" // of a directory
	Rmdir      LinkOp = "rmdir"
	Unlink     LinkOp = "unlink"
	Symlink    LinkOp = "symlink" // Path leads to Target
	Move       LinkOp = "rename"  // what is called Path is called To; a file, a link or an empty directory there is replaced
)

// Link is a row of kind k.
type Link struct {
	V      int    `json:"v"`
	Op     LinkOp `json:"op"`
	Path   string `json:"path"`
	To     string `json:"to,omitempty"`
	Target string `json:"target,omitempty"`
	Mode   uint32 `json:"mode,omitempty"`
	UID    uint32 `json:"uid,omitempty"`
	GID    uint32 `json:"gid,omitempty"`
	MTime  int64  `json:"mtime,omitempty"`
}

// Snapshot is a row of kind S: the state behind the first I entries lies among the objects under Hash.
type Snapshot struct {
	V    int    `json:"v"`
	I    uint64 `json:"i"`
	Hash string `json:"hash"`
}

// row is one of Name, File, Link and Snapshot.
type row interface {
	// Row returns the row of the journal.
	Row() journal.Row
	check() error
}

// Row returns the row of the journal.
func (n Name) Row() journal.Row {
	n.V = n.version()
	return journal.Row{Kind: journal.Name, Content: encode(n)}
}

// Row returns the row of the journal.
func (f File) Row() journal.Row {
	f.V = Version
	return journal.Row{Kind: journal.File, Content: encode(f)}
}

// Row returns the row of the journal.
func (l Link) Row() journal.Row {
	l.V = Version
	return journal.Row{Kind: journal.Link, Content: encode(l)}
}

// Row returns the row of the journal.
func (s Snapshot) Row() journal.Row {
	s.V = Version
	return journal.Row{Kind: journal.Snapshot, Content: encode(s)}
}

// ParseRow returns the Name, File, Link or Snapshot that a row has. It returns journal.ErrVersion if the row
// is of a later version or of a kind that this one does not know, and ctxabi.ErrMalformed if it is none of
// an owner's journal, or has not its one form.
func ParseRow(r journal.Row) (any, error) { return parseRow(r) }

func parseRow(r journal.Row) (row, error) {
	if len(r.Body) > 0 {
		return nil, refuse("parse", "", ctxabi.ErrMalformed, "a row of names with a body")
	}
	switch r.Kind {
	case journal.Name:
		return parse[Name](r.Content)
	case journal.File:
		return parse[File](r.Content)
	case journal.Link:
		return parse[Link](r.Content)
	case journal.Snapshot:
		return parse[Snapshot](r.Content)
	}
	if bytes.IndexByte([]byte("mecdbsoPX"), byte(r.Kind)) >= 0 {
		return nil, refuse("parse", "", ctxabi.ErrMalformed, "a row of kind %q is of a session, not of an owner", r.Kind)
	}
	return nil, fmt.Errorf("%w: a row of kind %q", journal.ErrVersion, r.Kind)
}

// version returns the version in which a row is written.
func (n Name) version() int {
	if n.Op == Parent || n.Op == Parents {
		return ParentsVersion
	}
	return Version
}

// parse reads the one form of a row.
func parse[T row](content []byte) (row, error) {
	var v T
	newest := Version
	if _, ok := any(v).(Name); ok {
		newest = ParentsVersion
	}
	if err := decode(content, &v, newest); err != nil {
		return nil, err
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}

// decode reads JSON that encode made, of the version newest at most. It returns journal.ErrVersion or ctxabi.ErrMalformed.
func decode(content []byte, v any, newest int) error {
	var head struct {
		V int `json:"v"`
	}
	err := json.Unmarshal(content, &head)
	if err == nil && head.V > newest {
		return fmt.Errorf("%w: names of version %d", journal.ErrVersion, head.V)
	}
	if err == nil && head.V >= Version {
		err = json.Unmarshal(content, v)
	}
	if err != nil || head.V < Version || !bytes.Equal(encode(v), content) {
		return refuse("parse", "", ctxabi.ErrMalformed, "%.100q has not the form of names", content)
	}
	return nil
}

// encode returns JSON in the one form of names.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // plain structs of text and numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// check returns ctxabi.ErrMalformed if a field is not valid, or is one that the operation does not have.
func (n Name) check() error {
	only := Name{V: n.V, Op: n.Op}
	valid := true
	names := func(list ...string) {
		for _, name := range list {
			valid = valid && ctxabi.ValidName(name) == nil
		}
	}
	owned := func() { only.Owner, valid = n.Owner, valid && n.Owner.Mode != 0 && n.Owner.Mode&^0o7777 == 0 }
	session := func() {
		names(n.Session)
		only.Session, only.ID, valid = n.Session, n.ID, valid && hexDigits(n.ID, 32)
	}
	switch n.Op {
	case MakeHome, Park, Parent, Parents:
	default:
		names(n.Agent)
		only.Agent = n.Agent
	}
	switch n.Op {
	case MakeHome, MakeAgent:
		owned()
	case MakeSession:
		session()
		owned()
	case Rename:
		names(n.ToAgent)
		only.ToAgent = n.ToAgent
		if n.Session != "" {
			session()
			names(n.ToSession)
			only.ToSession = n.ToSession
		}
	case Remove:
		if n.Session != "" {
			session()
		} else {
			only.All = n.All
		}
	case Park:
		only.ID, only.I, only.Hash = n.ID, n.I, n.Hash
		valid = valid && hexDigits(n.ID, 32) && hexDigits(n.Hash, 64) && n.I > 0
	case Parent:
		only.ID, valid = n.ID, valid && hexDigits(n.ID, 32)
	case Parents:
	default:
		valid = false
	}
	if !valid || n != only || n.V != 0 && n.V != n.version() {
		return refuse("parse", "", ctxabi.ErrMalformed, "%+v is no change of names", n)
	}
	return nil
}

func (f File) check() error {
	size := 0
	for _, name := range slices.Sorted(maps.Keys(f.Xattrs)) {
		size += len(name) + len(f.Xattrs[name])
		if !strings.HasPrefix(name, "user.") || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return refuse("set", f.Path, ctxabi.ErrMalformed, "an attribute %q of a file", name)
		}
	}
	if f.Size > MaxFile || size > MaxXattrs {
		return refuseFor(ErrPerHost, "write", f.Path, ctxabi.ErrTooLarge, "hosts share files of at most %d bytes with %d bytes of attributes", MaxFile, MaxXattrs)
	}
	if !validPath(f.Path) || !hexDigits(f.Hash, 64) || f.Base != "" && !hexDigits(f.Base, 64) || f.Size < 0 || f.Mode&^0o7777 != 0 {
		return refuse("write", f.Path, ctxabi.ErrMalformed, "no content of a file")
	}
	return nil
}

func (l Link) check() error {
	only := Link{V: l.V, Op: l.Op, Path: l.Path}
	valid := validPath(l.Path)
	switch l.Op {
	case Mkdir, Attributes:
		only.Mode, only.UID, only.GID, only.MTime = l.Mode, l.UID, l.GID, l.MTime
		valid = valid && l.Mode&^0o7777 == 0
	case Symlink:
		only.Target, only.UID, only.GID, only.MTime = l.Target, l.UID, l.GID, l.MTime
		valid = valid && l.Target != "" && len(l.Target) <= MaxPath && utf8.ValidString(l.Target) && !strings.ContainsRune(l.Target, 0)
	case Move:
		only.To, valid = l.To, valid && validPath(l.To)
	case Rmdir, Unlink:
	default:
		valid = false
	}
	if !valid || l != only {
		return refuse("parse", l.Path, ctxabi.ErrMalformed, "%+v is no change of a directory", l)
	}
	return nil
}

func (s Snapshot) check() error {
	if !hexDigits(s.Hash, 64) {
		return refuse("parse", "", ctxabi.ErrMalformed, "%q is not the hash of a snapshot", s.Hash)
	}
	return nil
}

// hexDigits reports whether s is n lower-case hexadecimal digits.
func hexDigits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
