package process

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/jobs"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// States of a session with and without a running agent program.
const (
	active = "active"
	idle   = "idle"
)

// note links a session to its agent process.
type note struct {
	Store   string `json:"store"`
	Session string `json:"session"` // its path in the tree; without a store any path
	Process ID     `json:"process"`
	file    string
}

// noteOf returns the note of the session directory dir, without a process.
func noteOf(dir string) note {
	i, rest, ok := mounts.At(dir)
	if !ok {
		return note{Session: dir}
	}
	return note{Store: i.Source, Session: strings.TrimPrefix(filepath.Join(i.Root, rest), "/")}
}

// name returns the file name of the note.
func (n note) name() string {
	sum := sha256.Sum256([]byte(n.Store + "\x00" + n.Session))
	return hex.EncodeToString(sum[:16]) + ".json"
}

// notesDirs returns all directories that may contain notes. There are several, because programs
// start hooks and servers with different environment variables.
func notesDirs() []string {
	uid := os.Getuid()
	dirs := []string{fmt.Sprintf("/run/user/%d/ctxfs", uid), filepath.Join(os.TempDir(), fmt.Sprintf("ctxfs-%d", uid))}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		dirs = append([]string{filepath.Join(run, "ctxfs")}, dirs...)
	}
	for i := range dirs {
		dirs[i] = filepath.Join(dirs[i], "agents")
	}
	return dirs
}

// readNote reads a note that belongs to the calling user. ok is false if the file is missing,
// invalid, or in a directory that other users can modify.
func readNote(file string) (n note, ok bool) {
	fi, err := os.Lstat(filepath.Dir(file))
	if err != nil || !jobs.IsMine(fi) {
		return n, false
	}
	b, err := os.ReadFile(file)
	ok = err == nil && json.Unmarshal(b, &n) == nil && n.name() == filepath.Base(file)
	n.file = file
	return n, ok
}

// find reads the note of a session.
func (n note) find() (note, bool) {
	for _, dir := range notesDirs() {
		if found, ok := readNote(filepath.Join(dir, n.name())); ok {
			return found, true
		}
	}
	return n, false
}

// Record writes a note that links the session directory dir to the agent process that called this
// hook. If Record cannot determine the process, it removes an existing note. It returns the errors
// of [jobs.Open] and of writing the note.
func Record(dir string) error {
	n := noteOf(dir)
	if old, ok := n.find(); ok {
		os.Remove(old.file)
	}
	var ok bool
	if n.Process, ok = agent(); !ok {
		return nil
	}
	all, err := jobs.Open()
	if err != nil {
		return err
	}
	notes := filepath.Join(filepath.Dir(all.Path()), "agents")
	b, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(notes, 0o700)
	}
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(notes, ".note-")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(notes, n.name()))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// State returns the state of the session directory dir, or "" if it cannot read the state. It
// returns "idle" for an active session with an ended agent process.
func State(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, ctxabi.StateFile))
	return noteOf(dir).state(strings.TrimSpace(string(b)))
}

// StateIn is [State] for the session at a path in a store. state is the content of its file
// "state".
func StateIn(store, session, state string) string {
	if abs, err := filepath.Abs(store); err == nil {
		store = abs
	}
	return note{Store: store, Session: session}.state(state)
}

func (n note) state(state string) string {
	if state != active {
		return state
	}
	if n, ok := n.find(); ok && n.Process.ended() {
		return idle
	}
	return state
}

// Sweep sets the state of each active session of the agent at home to "idle" if its agent process
// has ended.
func Sweep(home string) { activeIn(home) }

// activeIn sweeps and returns the remaining active sessions of the agent at home with their agent
// processes.
func activeIn(home string) map[string]ID {
	base := noteOf(filepath.Join(home, ctxabi.SessionDir))
	of := map[string]ID{}
	for _, notes := range notesDirs() {
		files, _ := filepath.Glob(filepath.Join(notes, "*.json"))
		for _, file := range files {
			n, ok := readNote(file)
			if !ok || n.Store != base.Store || filepath.Dir(n.Session) != base.Session {
				continue
			}
			dir := filepath.Join(home, ctxabi.SessionDir, filepath.Base(n.Session))
			state := filepath.Join(dir, ctxabi.StateFile)
			b, err := os.ReadFile(state)
			is := err == nil && strings.TrimSpace(string(b)) == active
			if ended := n.Process.ended(); !ended && is {
				of[dir] = n.Process
				continue
			} else if ended && is && os.WriteFile(state, []byte(idle+"\n"), 0o600) != nil {
				continue // State still says idle
			}
			if err == nil || os.IsNotExist(err) {
				os.Remove(file)
			}
		}
	}
	return of
}

// Find returns the active sessions of the agent at home with the working directory cwd that belong
// to the agent process that started this process, sorted. The result has several sessions if the
// agent process has several conversations, and none if its hooks recorded no session.
func Find(home, cwd string) (dirs []string) {
	if cwd == "" {
		return nil
	}
	of := map[ID][]string{}
	for dir, id := range activeIn(home) {
		b, err := os.ReadFile(filepath.Join(dir, ctxabi.CwdFile))
		if err == nil && strings.TrimSuffix(string(b), "\n") == cwd {
			of[id] = append(of[id], dir)
		}
	}
	for _, id := range starters() {
		if dirs := of[id]; len(dirs) > 0 {
			slices.Sort(dirs)
			return dirs
		}
	}
	return nil
}
