package backup

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/cluster/engine"
	"github.com/ctxfs/ctxfs/cluster/journal"
)

// version is the version of directories of backups.
const version = 1

// head is what a directory has about its cluster.
type head struct {
	V     int    `json:"v"`
	Store string `json:"store"`
}

// manifest is one backup.
type manifest struct {
	V      int     `json:"v"`
	Number int     `json:"number"`
	Store  string  `json:"store"`
	Began  int64   `json:"began"` // nanoseconds since 1970: all that was acknowledged before is in it
	Ended  int64   `json:"ended"`
	Owners []owner `json:"owners"`
}

// owner is what a backup has of an owner.
type owner struct {
	Owner    string  `json:"owner"`
	Names    saved   `json:"names"`    // his own journal
	Sessions []saved `json:"sessions"` // in the order of their ids
	Objects  string  `json:"objects"`  // hash of the list of his objects
	Count    int     `json:"count"`    // of his objects
	Bytes    int64   `json:"bytes"`
}

// saved is what a backup has of a journal.
type saved struct {
	ID     string  `json:"id,omitempty"` // of the session; "": the journal of the owner
	I      uint64  `json:"i"`            // it ends behind so many entries
	Chain  string  `json:"chain"`
	Seq    uint64  `json:"seq"`   // of the last of them, in the cluster that was copied
	First  uint64  `json:"first"` // number of the first entry that is there: those before it lie in a snapshot
	Chunks []chunk `json:"chunks,omitempty"`

	Problem string `json:"problem,omitempty"` // why it has less than the cluster
}

// chunk is a file of entries.
type chunk struct {
	First uint64 `json:"first"` // number of the first
	Count int    `json:"count"`
	Size  int64  `json:"size"`
	SHA   string `json:"sha256"`
}

// at returns the position behind the journal.
func (s *saved) at() (p journal.Position, err error) {
	p.I = s.I
	chain, err := hex.DecodeString(s.Chain)
	if err != nil || copy(p.Chain[:], chain) != len(p.Chain) {
		return p, fmt.Errorf("%w: chain %q", ErrDamaged, s.Chain)
	}
	return p, nil
}

// set notes the position behind the journal.
func (s *saved) set(p journal.Position) { s.I, s.Chain = p.I, hex.EncodeToString(p.Chain[:]) }

// entries returns how many entries the backup has of the journal.
func (s *saved) entries() (n int) {
	for _, c := range s.Chunks {
		n += c.Count
	}
	return n
}

// path returns where a file of entries of the journal s lies.
func (c *chunk) path(s engine.Subject) string {
	return path.Join(entriesDir, s.Owner, cmp.Or(s.Session, "names"), fmt.Sprintf("%d-%s", c.First, c.SHA))
}

func listPath(sha string) string { return path.Join(listsDir, sha) }

// session returns what a backup has of a session of the owner.
func (o *owner) session(id string) (saved, bool) {
	i, ok := slices.BinarySearchFunc(o.Sessions, id, func(s saved, id string) int { return cmp.Compare(s.ID, id) })
	if !ok {
		return saved{}, false
	}
	return o.Sessions[i], true
}

// owner returns what a backup has of an owner.
func (m *manifest) owner(name string) owner {
	for _, o := range m.Owners {
		if o.Owner == name {
			return o
		}
	}
	return owner{Owner: name}
}

// numbers returns the backups in the directory: numbers with the names of their files.
func (d *directory) numbers() (map[int]string, error) {
	list, err := os.ReadDir(d.file(manifestDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	found := map[int]string{}
	for _, e := range list {
		before, _, ok := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(before); ok && err == nil && n > 0 {
			found[n] = e.Name()
		}
	}
	return found, err
}

// newest returns the highest of the numbers, or 0.
func newest(numbers map[int]string) (n int) {
	for k := range numbers {
		n = max(n, k)
	}
	return n
}

// ErrNoBackup is the error of a directory that does not have the backup that was asked for.
var ErrNoBackup = errors.New("there is no such backup")

// manifest returns a backup; 0 is the newest one. It returns ErrNoBackup, ErrDamaged, and
// journal.ErrVersion if a newer ctxfs has made it.
func (d *directory) manifest(number int) (*manifest, error) {
	numbers, err := d.numbers()
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = newest(numbers)
	}
	name, ok := numbers[number]
	if !ok {
		return nil, fmt.Errorf("%w: number %d in %s", ErrNoBackup, number, d.path)
	}
	sha, _ := strings.CutSuffix(strings.SplitN(name, "-", 2)[1], ".json")
	data, err := d.read(path.Join(manifestDir, name), sha)
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	if m.V > version {
		return nil, fmt.Errorf("%w: backup %d", journal.ErrVersion, number)
	}
	if m.Number != number {
		return nil, fmt.Errorf("%w: %s says that its number is %d", ErrDamaged, name, m.Number)
	}
	return m, nil
}

// putManifest writes a backup, which counts from then on.
func (d *directory) putManifest(m *manifest) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := d.settle(); err != nil {
		return err
	}
	if _, err := d.write(path.Join(manifestDir, fmt.Sprintf("%06d-%s.json", m.Number, hashOf(data))), data); err != nil {
		return err
	}
	return d.settle()
}

// claim notes that the directory is of a store. It returns ErrOther if it is of another one.
func (d *directory) claim(store string) error {
	data, err := os.ReadFile(d.file(headFile))
	if errors.Is(err, fs.ErrNotExist) {
		data, err := json.Marshal(head{version, store})
		if err != nil {
			return err
		}
		return d.replace(headFile, append(data, '\n'))
	}
	var h head
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", headFile, err)
	case h.V > version:
		return fmt.Errorf("%w: %s", journal.ErrVersion, d.path)
	case h.Store != store:
		return fmt.Errorf("%w: %s is of store %s, and this is %s", ErrOther, d.path, h.Store, store)
	}
	return nil
}

// ErrOther is the error of a directory that has backups of another cluster.
var ErrOther = errors.New("the directory has backups of another cluster; take an empty one")
