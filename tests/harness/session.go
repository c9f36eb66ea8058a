package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Session is one session of a mount, with its paths and its clients.
type Session struct {
	Mount *Mount
	UID   uint32
	Agent string
	Name  string
	Dir   string // in the mount

	tb testing.TB
}

// Self is the tester's own uid: sessions of it are the cheapest to make.
func Self() uint32 { return uint32(os.Getuid()) }

// Two ordinary users and a group. The machine need not know them.
const (
	Alice = 21001
	Bob   = 21002
	Team  = 21500
)

// created counts the sessions that NewSession created.
var created atomic.Int64

// NewSession creates a session of the tester and of the agent coder. Its name is unique in the test
// process, so that tests of one mount can run in parallel.
func (m *Mount) NewSession(tb testing.TB) *Session {
	tb.Helper()
	return m.Session(tb, Self(), "coder", fmt.Sprintf("s%d", created.Add(1)))
}

// Session makes home/<uid>/agent/<agent>/session/<name>, as its owner would.
func (m *Mount) Session(tb testing.TB, uid uint32, agent, name string) *Session {
	tb.Helper()
	s := &Session{Mount: m, UID: uid, Agent: agent, Name: name, tb: tb,
		Dir: filepath.Join(m.Dir, "home", fmt.Sprint(uid), "agent", agent, "session", name)}
	if uid == Self() {
		if err := os.MkdirAll(s.Dir, 0o700); err != nil {
			tb.Fatal(err)
		}
		return s
	}
	m.Run(tb, Client{UID: uid, Dir: m.Dir, Argv: []string{"mkdir", "-p", s.Dir}}).OK()
	return s
}

// Ref is the session's path below the mountpoint, as ctxfs pack takes it.
func (s *Session) Ref() string { return strings.TrimPrefix(s.Dir, s.Mount.Dir+"/") }

// AgentHome is the agent's home in the mount.
func (s *Session) AgentHome() string { return filepath.Dir(filepath.Dir(s.Dir)) }

// InStore is the session's directory in the store.
func (s *Session) InStore() string { return filepath.Join(s.Mount.Store, s.Ref()) }

// Path is the path of a file of the session in the mount.
func (s *Session) Path(name string) string { return filepath.Join(s.Dir, name) }

// Marks returns the marks in the prompts of the session.
func (s *Session) Marks() ctxabi.Marks {
	first, _, ok := strings.Cut(s.Read(ctxabi.MessagesFile), "\n")
	if !ok {
		return ctxabi.MarksOf(s.Agent, s.Name)
	}
	return ctxabi.MarksOf("", fmt.Sprintf("%x", sha256.Sum256([]byte(first))))
}

// Read reads a file of the session through the mount.
func (s *Session) Read(name string) string {
	s.tb.Helper()
	b, err := os.ReadFile(s.Path(name))
	if err != nil {
		s.tb.Fatal(err)
	}
	return string(b)
}

// Write replaces a file of the session with O_TRUNC, as a shell's > does.
func (s *Session) Write(name, data string) {
	s.tb.Helper()
	if err := os.WriteFile(s.Path(name), []byte(data), 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

// Append appends data to a log with one write.
func (s *Session) Append(name, data string) {
	s.tb.Helper()
	f, err := os.OpenFile(s.Path(name), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		s.tb.Fatal(err)
	}
	if _, err := f.WriteString(data); err != nil {
		s.tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		s.tb.Fatal(err)
	}
}

// Xattr reads the extended attribute user.ctx.<attr> of a file of the session.
func (s *Session) Xattr(name, attr string) (string, error) {
	value := make([]byte, 1024)
	n, err := unix.Getxattr(s.Path(name), "user.ctx."+attr, value)
	if err != nil {
		return "", err
	}
	return string(value[:n]), nil
}

// ErrorRow is a row of context/errors.jsonl.
type ErrorRow struct {
	Time   time.Time
	UID    uint32
	Op     string
	Path   string
	Errno  string
	Reason string
	Count  int
}

// Errors reads context/errors.jsonl; a row that is not complete fails the test.
func (s *Session) Errors() (rows []ErrorRow) {
	s.tb.Helper()
	for d := json.NewDecoder(strings.NewReader(s.Read("context/errors.jsonl"))); d.More(); {
		var r ErrorRow
		if err := d.Decode(&r); err != nil {
			s.tb.Fatalf("errors.jsonl: %v", err)
		}
		if r.Time.IsZero() || r.Op == "" || r.Errno == "" || r.Reason == "" {
			s.tb.Errorf("errors.jsonl: incomplete row %+v", r)
		}
		rows = append(rows, r)
	}
	return rows
}

// Lines splits a log into its records; a log that does not end in a newline fails the test.
func Lines(tb testing.TB, log string) []string {
	tb.Helper()
	if log == "" {
		return nil
	}
	body, whole := strings.CutSuffix(log, "\n")
	if !whole {
		tb.Fatalf("the log does not end in a newline but in %q", log[max(0, len(log)-40):])
	}
	return strings.Split(body, "\n")
}

// Message is a record of messages.jsonl, with its newline.
func Message(role, content string) string {
	return Record(struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}{role, content})
}

// Record encodes v as one line of JSON, with its newline and without escapes for HTML.
func Record(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.String()
}

// BlobID is the name of content in the directories of chunks and blobs.
func BlobID(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// Called returns a call of a tool and its result, as lines of messages.jsonl.
func Called(id, tool, arguments, result string) string {
	call := `{"role":"assistant","content":"","tool_calls":[{"id":%q,"type":"function",` +
		`"function":{"name":%q,"arguments":%q}}]}` + "\n"
	answer := `{"role":"tool","tool_call_id":%q,"content":%q}` + "\n"
	return fmt.Sprintf(call, id, tool, arguments) + fmt.Sprintf(answer, id, result)
}
