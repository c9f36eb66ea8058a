package process

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// The states of a session whose agent program runs, and of one without.
const (
	active = "active"
	idle   = "idle"
)

// maxSessions bounds how many sessions of an agent are searched, the ones with the newest state first.
const maxSessions = 200

// Record notes in meta.json of the session directory dir which agent process called this hook. It changes nothing if that is not known,
// or noted already. It returns the errors of meta.json.
func Record(dir string) error {
	id, ok := agent()
	if !ok {
		return nil
	}
	name := filepath.Join(dir, ctxabi.MetaFile)
	was, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	meta := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(was)) > 0 && json.Unmarshal(was, &meta) != nil {
		return nil
	}
	value, err := json.Marshal(id)
	if err != nil || bytes.Equal(meta[ctxabi.MetaProcess], value) {
		return err
	}
	meta[ctxabi.MetaProcess] = value
	if value, err = json.Marshal(meta); err != nil {
		return err
	}
	return os.WriteFile(name, append(value, '\n'), 0o600)
}

// recorded returns the agent process that a meta.json names.
func recorded(meta []byte) (id ID, ok bool) {
	var keys map[string]json.RawMessage
	return id, json.Unmarshal(meta, &keys) == nil && json.Unmarshal(keys[ctxabi.MetaProcess], &id) == nil && id.PID > 0
}

// StateOf returns the state of a session with the given files "state" and meta.json: "idle" if it is active without its agent process.
func StateOf(state, meta []byte) string {
	is := strings.TrimSpace(string(state))
	if id, ok := recorded(meta); ok && is == active && id.ended() {
		return idle
	}
	return is
}

// State returns the state of the session directory dir, as [StateOf]; "" if it cannot be read.
func State(dir string) string {
	state, _ := os.ReadFile(filepath.Join(dir, ctxabi.StateFile))
	return StateOf(state, metaOf(dir))
}

func metaOf(dir string) []byte {
	meta, _ := os.ReadFile(filepath.Join(dir, ctxabi.MetaFile))
	return meta
}

// Sweep writes the state "idle" into the sessions of the agent at home that are active without their agent process.
func Sweep(home string) { activeIn(home) }

// activeIn returns the active sessions of the agent at home, after a sweep.
func activeIn(home string) (dirs []string) {
	entries, err := os.ReadDir(filepath.Join(home, ctxabi.SessionDir))
	if err != nil {
		return nil
	}
	type candidate struct {
		dir string
		at  time.Time
	}
	var all []candidate
	for _, e := range entries {
		dir := filepath.Join(home, ctxabi.SessionDir, e.Name())
		if fi, err := os.Stat(filepath.Join(dir, ctxabi.StateFile)); err == nil {
			all = append(all, candidate{dir, fi.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.dir, a.dir)) })
	for _, c := range all[:min(len(all), maxSessions)] {
		name := filepath.Join(c.dir, ctxabi.StateFile)
		b, err := os.ReadFile(name)
		switch {
		case err != nil || strings.TrimSpace(string(b)) != active:
		case StateOf(b, metaOf(c.dir)) != active:
			_ = os.WriteFile(name, []byte(idle+"\n"), 0o600) // its owner may have made it read-only: State still says idle
		default:
			dirs = append(dirs, c.dir)
		}
	}
	return dirs
}

// Find returns the active sessions of the agent at home in the working directory cwd that belong to the agent process that started this
// one. Several mean that the agent process has several conversations; none that its hooks have not recorded any.
func Find(home, cwd string) (dirs []string) {
	if cwd == "" {
		return nil
	}
	of := map[ID][]string{}
	for _, dir := range activeIn(home) {
		b, err := os.ReadFile(filepath.Join(dir, ctxabi.CwdFile))
		if id, ok := recorded(metaOf(dir)); ok && err == nil && strings.TrimSuffix(string(b), "\n") == cwd {
			of[id] = append(of[id], dir)
		}
	}
	for _, id := range starters() {
		if dirs := of[id]; len(dirs) > 0 {
			return dirs
		}
	}
	return nil
}
