package daemon

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ctxfs/ctxfs/session"
)

// Info is what a daemon leaves in its store for the other verbs: a hint, never the truth.
type Info struct {
	PID         int       `json:"pid"`
	Mountpoint  string    `json:"mountpoint"`
	Store       string    `json:"store"`
	Budget      int       `json:"budget"`
	Encoding    string    `json:"encoding,omitempty"`
	Maps        []string  `json:"map,omitempty"`
	Redact      bool      `json:"redact,omitempty"`
	RedactAllow string    `json:"redact_allow,omitempty"`
	Started     time.Time `json:"started"`
	RunnerEnds  int       `json:"runner_ends,omitempty"` // how often the runner process ended by itself
	RunnerEnded time.Time `json:"runner_ended,omitzero"` // the last time
	Ended       string    `json:"ended,omitempty"`       // why the mount was taken from it; "" of one that runs
}

func (d Info) file() string { return filepath.Join(d.Store, session.DaemonFile) }

// Write leaves d in its store. It returns the error of making or writing the file; no note is left then.
func (d Info) Write() error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	temp := d.file() + ".new"
	os.Remove(temp) // whatever it is: a link in its place would lead elsewhere
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		os.Remove(temp)
		os.Remove(d.file()) // rather nothing than the words of an earlier daemon
		return err
	}
	return os.Rename(temp, d.file())
}

// End removes the info file when the daemon ends. If d.Ended has a reason, End keeps the file, so
// that [Ended] can report the reason.
func (d Info) End() {
	if d.Ended == "" || d.Write() != nil {
		os.Remove(d.file())
	}
}

// Ended returns the reason why the last daemon of store lost its mount; "" if it ended normally.
func Ended(store string) string {
	d, _ := readInfo(store)
	return d.Ended
}

func readInfo(store string) (d Info, err error) {
	b, err := os.ReadFile(filepath.Join(store, session.DaemonFile))
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d, err
}
