package volume

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Tree is the mount, as far as volumes need it. Both methods look beneath the
// store, by its own rules, and follow no symbolic link.
type Tree interface {
	// MakePlace makes the directory of ref with those above it, for owner where it has to be
	// made, as his mkdir -p would. One that is there is left as it is.
	MakePlace(ref ctxabi.Ref, owner uint32) error
	// HasPlace fails with ctxabi.ErrNotFound where the directory of ref is not there.
	HasPlace(ref ctxabi.Ref) error
}

// Info is a volume as Docker is told of it.
type Info struct {
	Name    string
	Place   Place
	Dir     string // in the mount, absolute
	Created time.Time
	Mounts  int // how many containers have it
}

// Volumes are the volumes of one store. They are safe for concurrent use.
type Volumes struct {
	tree  Tree
	mount string // the mountpoint, absolute
	file  string
	now   func() time.Time

	mu     sync.Mutex
	byName map[string]*volume // guarded by mu
}

type volume struct {
	place   Place
	created time.Time
	mounts  map[string]bool // by id
}

// Open reads the definitions in file, which need not exist. mountpoint is where Docker finds
// the tree. A line that is no volume is ctxabi.ErrMalformed.
func Open(file, mountpoint string, tree Tree) (*Volumes, error) {
	v := &Volumes{tree: tree, mount: mountpoint, file: file, now: time.Now}
	var err error
	v.byName, err = readFile(file)
	return v, err
}

// Create makes a volume, and its directory where that is not there. The same
// volume again is no error: Docker asks again when an answer got lost.
func (v *Volumes) Create(name string, opts map[string]string) (Info, error) {
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\n\x00") {
		return Info{}, ctxabi.E("volume", "", ctxabi.ErrMalformed, "%q is not the name of a volume", name)
	}
	place, err := ParseOptions(opts)
	if err != nil {
		return Info{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	old := v.byName[name]
	if old != nil && old.place.Path() != place.Path() {
		return Info{}, ctxabi.E("volume", "", ctxabi.ErrExists, "the volume %s is %s; docker volume rm %s removes it, or choose another name", name, old.place.Path(), name)
	}
	if err := v.tree.MakePlace(place.Ref, place.Owner); err != nil {
		return Info{}, err
	}
	if old == nil {
		v.byName[name] = &volume{place: place, created: v.now().UTC().Truncate(time.Second)}
		if err := writeFile(v.file, v.byName); err != nil {
			delete(v.byName, name)
			return Info{}, err
		}
	}
	return v.info(name), nil
}

// Remove forgets a volume that nobody has mounted. Its directory stays, whatever it holds.
// It returns an error while somebody has it mounted, if there is none of that name, or if the disk fails.
func (v *Volumes) Remove(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	old, err := v.find(name)
	if err != nil {
		return err
	}
	if n := len(old.mounts); n > 0 {
		return ctxabi.E("volume", "", ctxabi.ErrProtected, "the volume %s is in use, mounted by %s; stop them first", name, containers(n))
	}
	delete(v.byName, name)
	if err := writeFile(v.file, v.byName); err != nil {
		v.byName[name] = old
		return err
	}
	return nil
}

// Mount counts the mount id of a volume and gives the directory. It is refused
// when the directory is not there any more: an empty one in its place would
// hide that a session is gone.
func (v *Volumes) Mount(name, id string) (dir string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	vol, err := v.find(name)
	if err != nil {
		return "", err
	}
	err = v.tree.HasPlace(vol.place.Ref)
	if errors.Is(err, ctxabi.ErrNotFound) {
		return "", ctxabi.E("volume", "", ctxabi.ErrNotFound, "%s, the directory of the volume %s, was removed or renamed; docker volume rm %s, and create it again", vol.place.Path(), name, name)
	}
	if err != nil {
		return "", err
	}
	if vol.mounts == nil {
		vol.mounts = map[string]bool{}
	}
	vol.mounts[id] = true
	return v.dir(vol), nil
}

// Unmount ends the mount id of a volume; one that is not known, after a
// restart of the daemon for example, is no error.
func (v *Volumes) Unmount(name, id string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	vol, err := v.find(name)
	if err != nil {
		return err
	}
	delete(vol.mounts, id)
	return nil
}

// Get returns one volume; it returns an error if there is none of that name.
func (v *Volumes) Get(name string) (Info, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, err := v.find(name); err != nil {
		return Info{}, err
	}
	return v.info(name), nil
}

// List returns all volumes, in the order of their names.
func (v *Volumes) List() []Info {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := []Info{}
	for _, name := range sortedKeys(v.byName) {
		list = append(list, v.info(name))
	}
	return list
}

// find needs mu.
func (v *Volumes) find(name string) (*volume, error) {
	if vol := v.byName[name]; vol != nil {
		return vol, nil
	}
	return nil, ctxabi.E("volume", "", ctxabi.ErrNotFound, "there is no volume %s", name)
}

// info needs mu, and a name that is there.
func (v *Volumes) info(name string) Info {
	vol := v.byName[name]
	return Info{Name: name, Place: vol.place, Dir: v.dir(vol), Created: vol.created, Mounts: len(vol.mounts)}
}

func (v *Volumes) dir(vol *volume) string { return filepath.Join(v.mount, vol.place.Path()) }

func containers(n int) string {
	if n == 1 {
		return "one container"
	}
	return fmt.Sprintf("%d containers", n)
}
