package sessiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/arrival"
)

// Old makes a store that nobody serves one of format 3, with the sessions in dirs as they were then: their arrival rows are
// lines of JSON. What it writes is synced. It returns the error of the disk, and one for a row that cannot be read.
func Old(v vfs.FS, store string, dirs ...string) error {
	for _, dir := range dirs {
		id, err := vfs.ReadFile(v, path.Join(dir, ctxabi.InternalDir, "id"))
		for _, name := range []string{ctxabi.MessagesFile, ctxabi.EventsFile} {
			file := path.Join(dir, ctxabi.InternalDir, "arrivals")
			if name == ctxabi.EventsFile {
				file += ".events"
			}
			var rows, old []byte
			if err == nil {
				rows, err = vfs.ReadFile(v, file)
			}
			chain := arrival.ChainFrom(string(bytes.TrimSpace(id)), name)
			for line := range bytes.Lines(rows) {
				a, ok := arrival.ParseRow(bytes.TrimSuffix(line, []byte("\n")))
				if !ok || !chain.Add(&a) {
					return fmt.Errorf("%s has the row %q", file, line)
				}
				old = arrival.AppendJSON(old, &a)
			}
			if err == nil {
				err = vfs.WriteFile(v, file, old, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	file := path.Join(store, session.StoreFile)
	raw, err := vfs.ReadFile(v, file)
	if err != nil {
		return err
	}
	var header struct {
		Version int    `json:"version"`
		ID      string `json:"id"`
	}
	if err := json.Unmarshal(raw, &header); err != nil {
		return err
	}
	header.Version = 3
	line, err := json.Marshal(header)
	if err != nil {
		return err
	}
	return vfs.WriteFile(v, file, append(vfs.Summed(line), '\n'), 0o600)
}
