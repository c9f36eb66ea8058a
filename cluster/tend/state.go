package tend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// stateFile is where a maintainer keeps what it remembers, in its directory.
const stateFile = "tend.json"

// state is what a maintainer remembers from one look to the next, after a restart, too.
type state struct {
	Clock    clock                `json:"clock"`
	Ends     map[string]seen      `json:"ends"`     // of journals of sessions, by their names
	Nameless map[string]time.Time `json:"nameless"` // journals of sessions that have no name, since when
	Unnamed  map[string][]byte    `json:"unnamed"`  // bulk.Unnamed of owners

	now time.Time // by Clock, of the present look
}

// seen is where a journal ends, and since when it does, by the clock of the state.
type seen struct {
	Seq   uint64    `json:"seq"`
	Since time.Time `json:"since"`
}

// loadState returns what a maintainer remembers; nothing if the file is damaged or not there: all begins
// to be old from then on.
func loadState(dir string) *state {
	s := new(state)
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil || json.Unmarshal(data, s) != nil {
		s = new(state)
	}
	if s.Ends == nil {
		s.Ends = map[string]seen{}
	}
	if s.Nameless == nil {
		s.Nameless = map[string]time.Time{}
	}
	if s.Unnamed == nil {
		s.Unnamed = map[string][]byte{}
	}
	return s
}

// save keeps it. It returns the error of the disk.
func (s *state) save(dir string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file := filepath.Join(dir, stateFile)
	if err := os.WriteFile(file+".tmp", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}
