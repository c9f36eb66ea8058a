package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
	"github.com/ctxfs/ctxfs/session/blob"
	"github.com/ctxfs/ctxfs/session/log"
)

// Mounted is a session's directory in a mount. Its packs are compiled by the daemon.
type Mounted struct {
	dir              string
	messages, events *log.MemLog
}

// FromMount reads the logs of the session whose directory is dir, in a mount. It fails where they cannot be read.
func FromMount(dir string) (*Mounted, error) {
	m := &Mounted{dir: dir, messages: log.NewMemLog(ctxabi.MessagesFile), events: log.NewMemLog(ctxabi.EventsFile)}
	return m, errors.Join(m.read(ctxabi.MessagesFile, m.messages), m.read(ctxabi.EventsFile, m.events))
}

func (m *Mounted) read(name string, log *log.MemLog) error {
	data, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return fmt.Errorf("%s is not the directory of a session: %w", m.dir, err)
	}
	for line := range bytes.Lines(data) {
		log.Append(bytes.TrimSuffix(line, []byte("\n")))
	}
	return nil
}

func (m *Mounted) Messages() record.Records { return m.messages }
func (m *Mounted) Events() record.Records   { return m.events }

// Pack implements [Source]; it returns the error of reading the mount.
func (m *Mounted) Pack(_ context.Context, n int) (markdown, account []byte, err error) {
	return m.at(strconv.Itoa(n))
}

// at reads both files of a moment.
func (m *Mounted) at(name string) (markdown, account []byte, err error) {
	dir := filepath.Join(m.dir, ctxabi.AtDir, name)
	if account, err = os.ReadFile(filepath.Join(dir, filepath.Base(ctxabi.PackJSONFile))); err == nil {
		markdown, err = os.ReadFile(filepath.Join(dir, filepath.Base(ctxabi.PackFile)))
	}
	return markdown, account, err
}

// Native returns the pack of the first n messages as the body of a request. It returns the error of reading the mount.
func (m *Mounted) Native(_ context.Context, n int, f native.Format) ([]byte, error) {
	return os.ReadFile(filepath.Join(m.dir, ctxabi.AtDir, strconv.Itoa(n), "pack."+string(f)+".json"))
}

// Moment implements [Source]; it returns the error of reading the mount.
func (m *Mounted) Moment(_ context.Context, when time.Time) (int, error) {
	md, account, err := m.at(when.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return 0, err
	}
	p, err := NewPack(0, md, account, "")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, s := range p.spans[0] {
		n = max(n, s.To)
	}
	return n, nil
}

// Served implements [Source]; it returns the error of reading the mount.
func (m *Mounted) Served() ([]blob.Row, error) {
	data, err := m.rows(ctxabi.PacksFile)
	return parseRows(data, isServed), err
}

func isServed(r *blob.Row) bool { return r.PackID != "" }

// Swapped implements [Source]; it returns the error of reading the mount.
func (m *Mounted) Swapped(context.Context) ([]ctxabi.SwapRow, error) {
	data, err := m.rows(ctxabi.SwapIndexFile)
	return parseRows(data, isSwapped), err
}

func isSwapped(r *ctxabi.SwapRow) bool {
	*r = r.Named()
	return r.ID != ""
}

// rows reads a file that an older daemon does not have.
func (m *Mounted) rows(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(m.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// parseRows reads a JSON object a line. What is none, such as a last row that is on its way, is passed over.
func parseRows[T any](data []byte, good func(*T) bool) (rows []T) {
	for line := range bytes.Lines(data) {
		var row T
		if json.Unmarshal(line, &row) == nil && good(&row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// ServedPack implements [Source]; it returns ctxabi.ErrNotFound if the pack is not kept.
func (m *Mounted) ServedPack(id string) ([]byte, error) {
	return os.ReadFile(filepath.Join(m.dir, ctxabi.ServedDir, filepath.Base(id)+".md"))
}

// Before knows nothing: the files do not say in which order the records of both logs came.
func (m *Mounted) Before(int) (int, bool) { return 0, false }
