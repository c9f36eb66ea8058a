package volume

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// row is a line of the file of volumes.
type row struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // Place.Path
	Created time.Time `json:"created"`
}

// Check reads a file of volumes as a daemon does at its start, and gives what is wrong with it.
// One that does not exist is whole. It returns an error that names the first wrong line or field.
func Check(file string) error {
	_, err := readFile(file)
	return err
}

func readFile(file string) (map[string]*volume, error) {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	volumes := map[string]*volume{}
	for n, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r row
		err := json.Unmarshal(line, &r)
		var place Place
		if err == nil {
			place, err = parsePath(r.Path)
		}
		if err == nil && (r.Name == "" || volumes[r.Name] != nil) {
			err = fmt.Errorf("%q is not the name of a volume, or another volume has it", r.Name)
		}
		if err != nil {
			return nil, ctxabi.E("volume", "", ctxabi.ErrMalformed, "line %d of %s is not a volume (%s); repair it, or move the file away and create the volumes again", n+1, file, sentence(err))
		}
		volumes[r.Name] = &volume{place: place, created: r.Created}
	}
	return volumes, nil
}

// writeFile replaces the file at once and durably: after a crash it is the old one or the new one.
func writeFile(file string, volumes map[string]*volume) (err error) {
	var out bytes.Buffer
	for _, name := range sortedKeys(volumes) {
		vol := volumes[name]
		line, err := json.Marshal(row{name, vol.place.Path(), vol.created})
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	temp := file + ".new"
	defer func() {
		if err != nil {
			os.Remove(temp)
			err = fmt.Errorf("the volumes cannot be stored: %w", err)
		}
	}()
	os.Remove(temp) // whatever it is: a link in its place would lead elsewhere
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(out.Bytes())
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
