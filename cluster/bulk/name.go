package bulk

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
	"github.com/ctxfs/ctxfs/ctxabi"
)

// NameKind is the kind of content that an object holds: the first letter of its name.
type NameKind byte

// Kinds of objects.
const (
	BlobObject     NameKind = 'b' // what a user stored, and what is too long for an entry or a snapshot
	PartObject     NameKind = 'p' // a sealed part of a log
	IndexObject    NameKind = 'x' // the arrival rows of a part, and caches of it
	SnapshotObject NameKind = 's' // a session at one moment
)

// Name is the name of an object of an owner. Two values of one name are equal.
type Name struct {
	Kind    NameKind
	Session string // its id; of parts, index objects and snapshots
	Log     string // ctxabi.MessagesFile or ctxabi.EventsFile; of parts and index objects
	At      uint64 // the byte of the log, or the number of entries before a snapshot
	SHA     journal.Hash
}

// BlobName returns the name of content that is known by its hash alone.
func BlobName(sha journal.Hash) Name { return Name{Kind: BlobObject, SHA: sha} }

// PartName returns the name of a sealed part of a log that begins at a byte of it.
func PartName(session, log string, off int64, sha journal.Hash) Name {
	return Name{Kind: PartObject, Session: session, Log: log, At: uint64(off), SHA: sha}
}

// IndexName returns the name of the index object of that part.
func IndexName(session, log string, off int64, sha journal.Hash) Name {
	return Name{Kind: IndexObject, Session: session, Log: log, At: uint64(off), SHA: sha}
}

// SnapshotName returns the name of a snapshot of a session behind i entries of its journal.
func SnapshotName(session string, i uint64, sha journal.Hash) Name {
	return Name{Kind: SnapshotObject, Session: session, At: i, SHA: sha}
}

// logWords are what the logs are called in names.
var logWords = map[string]string{ctxabi.MessagesFile: "messages", ctxabi.EventsFile: "events"}

// String returns the name as the object store knows it.
func (n Name) String() string {
	sha := hex.EncodeToString(n.SHA[:])
	at := strconv.FormatUint(n.At, 10) + "-" + sha
	switch n.Kind {
	case PartObject, IndexObject:
		return string(n.Kind) + "/" + n.Session + "/" + logWords[n.Log] + "/" + at
	case SnapshotObject:
		return "s/" + n.Session + "/" + at
	}
	return string(n.Kind) + "/" + sha
}

// ParseName returns the name that [Name.String] wrote. It returns engine.ErrInvalid for any other text.
func ParseName(s string) (Name, error) {
	bad := fmt.Errorf("%w: %q is not the name of an object", engine.ErrInvalid, s)
	fields := strings.Split(s, "/")
	want := map[string]int{"b": 2, "p": 4, "x": 4, "s": 3}[fields[0]]
	if want == 0 || len(fields) != want {
		return Name{}, bad
	}
	n := Name{Kind: NameKind(s[0])}
	last := fields[want-1]
	if n.Kind != BlobObject {
		at, sha, _ := strings.Cut(last, "-")
		var err error
		if n.At, err = strconv.ParseUint(at, 10, 64); err != nil {
			return Name{}, bad
		}
		last = sha
	}
	if _, err := hex.Decode(n.SHA[:], []byte(last)); err != nil || len(last) != 2*len(n.SHA) {
		return Name{}, bad
	}
	switch n.Kind {
	case PartObject, IndexObject:
		for log, word := range logWords {
			if word == fields[2] {
				n.Log = log
			}
		}
		fallthrough
	case SnapshotObject:
		n.Session = fields[1]
	}
	if n.check() != nil || n.String() != s {
		return Name{}, bad
	}
	return n, nil
}

// check returns engine.ErrInvalid if n is not the name of an object.
func (n Name) check() error {
	ok := false
	switch n.Kind {
	case BlobObject:
		ok = n == BlobName(n.SHA)
	case PartObject, IndexObject:
		ok = logWords[n.Log] != "" && n.At <= math.MaxInt64 && isSession(n.Session)
	case SnapshotObject:
		ok = n.Log == "" && isSession(n.Session)
	}
	if !ok {
		return fmt.Errorf("%w: %+v is not the name of an object", engine.ErrInvalid, n)
	}
	return nil
}

// isSession reports whether s is the id of a session.
func isSession(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}
