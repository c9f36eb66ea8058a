package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes a file for its owner alone: what is there is the old content or the new one, whatever
// happens meanwhile, and the new one is on the disk when it returns. It returns the error of the system.
func WriteFile(name string, data []byte) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteJSON writes a value as WriteFile does, and returns its errors.
func WriteJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(name, append(data, '\n'))
}

// install writes the files of a machine to its directory, those it is known by last. It returns ErrConfig
// if the directory is of a cluster already.
func install(dir string, files map[string][]byte, m Machine) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, machineFile)); err == nil {
		return fmt.Errorf("%w: %s is of a cluster already; nothing was changed", ErrConfig, dir)
	}
	for name, data := range files {
		if err := WriteFile(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return WriteJSON(filepath.Join(dir, machineFile), m)
}
