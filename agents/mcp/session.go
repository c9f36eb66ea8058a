package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Chosen is the session of a client.
type Chosen struct {
	Dir      string // in a mount
	Cwd      string // that it gets when it is made; "": none
	Recorded bool   // hooks of the client record its conversation there
	Told     bool   // the client has hooks of ctxfs, which may tell it of its memory and of another session
	Unclear  string // why none of several sessions can be taken for the client's; ""
}

// isFinal reports whether the choice of the session holds until the server ends.
func (c Chosen) isFinal() bool { return c.Unclear == "" && (c.Recorded || !c.Told) }

// session is a session as a client of the mount has it: a directory.
type session struct {
	Chosen
	root string // of the mount's tree; "": not to be seen, as in a container
	home string // of the agent; "": only the session is to be seen
	who  sdk.Implementation

	mu   sync.Mutex
	made bool // guarded by mu
}

func newSession(c Chosen, who sdk.Implementation) *session {
	x := &session{Chosen: c, who: who}
	if home, ok := homeOf(c.Dir); ok {
		x.home = home
		if filepath.Base(filepath.Dir(home)) == ctxabi.AgentDir {
			x.root = filepath.Join(home, "../../../..")
		}
	}
	return x
}

// homeOf returns the home of the agent that a session's directory is in:
// .../home/1000/agent/coder/session/s1, as the tree has it, or .../session/s1 where
// a container sees an agent's home under a name of its own. Of a session that it
// sees alone, what is around it is not ctxfs's, but of another file system.
func homeOf(dir string) (home string, ok bool) {
	home = filepath.Dir(filepath.Dir(dir))
	switch {
	case filepath.Base(filepath.Dir(dir)) != ctxabi.SessionDir:
		return home, false
	case filepath.Base(filepath.Dir(home)) == ctxabi.AgentDir:
		return home, true
	}
	var a, b unix.Stat_t
	return home, unix.Stat(dir, &a) == nil && unix.Stat(home, &b) == nil && a.Dev == b.Dev && isSession(dir)
}

func isSession(dir string) bool {
	_, err := unix.Getxattr(filepath.Join(dir, ctxabi.MessagesFile), "user.ctx.lines", nil)
	return err == nil
}

// make makes the session where it is not there, and notes who works in it.
func (x *session) make() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made {
		return nil
	}
	_, err := os.Stat(filepath.Join(x.Dir, ctxabi.MessagesFile))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(x.Dir, 0o700); err == nil {
			_, err = os.Stat(filepath.Join(x.Dir, ctxabi.MessagesFile))
		}
		if err == nil && x.who.Name != "" {
			err = x.sign()
		}
		if err == nil && x.Cwd != "" {
			err = os.WriteFile(x.path(ctxabi.CwdFile), []byte(x.Cwd+"\n"), 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("there is no session: %w", err)
	}
	x.made = true
	return nil
}

// sign writes into a new session's meta.json whose it is.
func (x *session) sign() error {
	meta, err := json.Marshal(map[string]string{"client": strings.TrimSpace(x.who.Name + " " + x.who.Version)})
	if err == nil {
		err = os.WriteFile(x.path(ctxabi.MetaFile), append(meta, '\n'), 0o600)
	}
	return err
}

func (x *session) path(rel string) string { return filepath.Join(x.Dir, rel) }

// reason finds what the session says of a refusal: the last row of errors.jsonl
// that is of this user, of a path (relative to the session; "": any), and not
// older than the attempt. Without one the error speaks for itself.
func (x *session) reason(rel string, since time.Time, err error) error {
	rows, readErr := os.ReadFile(x.path(ctxabi.ErrorsFile))
	if readErr != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSpace(rows), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		var row struct {
			Time                time.Time
			UID                 int
			Path, Errno, Reason string
		}
		if json.Unmarshal(lines[i], &row) != nil || row.UID != os.Geteuid() || rel != "" && row.Path != rel {
			continue
		}
		if row.Time.Before(since.Add(-time.Second)) { // the daemon's clock ticks in its own steps
			break
		}
		return fmt.Errorf("%s (%s)", row.Reason, row.Errno)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", rel, at.Err)
	}
	return err
}

// session returns the client's session, creates it if necessary, and makes the choice final. It
// returns an error if several sessions are possible or if it cannot create the session.
func (s *server) session(client *sdk.Implementation) (*session, error) {
	x, err := s.choose(client, true)
	if err != nil {
		return nil, err
	}
	if x.Unclear != "" {
		return nil, errors.New(x.Unclear)
	}
	return x, x.make()
}

// choose returns the client's session: the final choice if there is one, otherwise the current
// answer of [Config.Session]. If use is true, the caller uses the session and the choice becomes
// final. choose returns the errors of [Config.Session].
func (s *server) choose(client *sdk.Implementation, use bool) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.fixed {
		var who sdk.Implementation
		if client != nil {
			who = *client
		}
		chosen, err := s.Session(who.Name)
		if err != nil {
			return nil, err
		}
		s.chosen = newSession(chosen, who)
	}
	s.fixed = s.fixed || s.chosen.isFinal() || use && s.chosen.Unclear == ""
	return s.chosen, nil
}

// Unclear returns the error text for a client whose session may be any of dirs.
func Unclear(dirs []string) string {
	var names []string
	for _, dir := range dirs {
		names = append(names, filepath.Base(filepath.Dir(filepath.Dir(dir)))+"/"+filepath.Base(dir))
	}
	return fmt.Sprintf("cannot tell which session is yours: your program works in %s at once; nothing was done. "+
		"Ask the user to start the server for one session: ctxfs mcp %s", strings.Join(names, " and "), names[0])
}

// AgentName converts a client's name to a valid agent name: "Claude Code" becomes Claude-Code.
func AgentName(client string) string {
	s := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("._+-", r)) {
			return r
		}
		return '-'
	}, client)
	s = strings.TrimLeft(s, "._+-")
	return strings.TrimRight(s[:min(len(s), ctxabi.MaxName)], "-")
}
