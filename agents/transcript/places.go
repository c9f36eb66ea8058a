package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/usage"
)

// Kept is the transcript of one session of a program, where the program keeps it.
type Kept struct {
	File    string // what people call it: the path of a file, or the program and its session
	Program string // the name of its format, which is the agent's by default
	Session string // the program's id of the session
	Cwd     string // where the program worked; "" if the transcript does not say
	Changed time.Time

	write func(ctx context.Context, w io.Writer) error // the program writes it; nil for a file
}

// programs are those that keep transcripts in files, each in one place.
var programs = []struct {
	format string
	home   string   // the variable that names the program's directory
	dir    string   // else this, below the user's home
	below  []string // directories there that have transcripts
}{
	{"claude-code", "CLAUDE_CONFIG_DIR", ".claude", []string{"projects"}},
	{"codex", "CODEX_HOME", ".codex", []string{"sessions", "archived_sessions"}},
	{"gemini", "", ".gemini", []string{"tmp"}},
	{"pi", "PI_CODING_AGENT_DIR", filepath.Join(".pi", "agent"), []string{"sessions"}},
	{"opencode", "", "", nil}, // see opencode.go; a file is one that it has exported
}

// Programs returns the names of the programs whose transcripts have a place, for people.
func Programs() string {
	var names []string
	for _, p := range programs {
		names = append(names, p.format)
	}
	return strings.Join(names, ", ")
}

// Places returns the directories in which programs keep the transcripts of this user, whether they are there or not. home is the
// user's home, getenv reads a variable.
func Places(home string, getenv func(string) string) (dirs []string) {
	for _, p := range programs {
		at := filepath.Join(home, p.dir)
		switch {
		case p.home != "" && getenv(p.home) != "":
			at = getenv(p.home)
		case p.format == "gemini" && getenv("GEMINI_CLI_HOME") != "": // it names the home
			at = filepath.Join(getenv("GEMINI_CLI_HOME"), p.dir)
		}
		for _, dir := range p.below {
			dirs = append(dirs, filepath.Join(at, dir))
		}
	}
	return append(dirs, databaseDir(home, getenv))
}

// KeptIn returns the transcripts of sessions below directories, those that changed last behind the others. Directories that are not there
// have none. Conversations of sub-agents belong to the sessions that started them, and are among them only where the transcript of that
// session is gone; unknown are the files that should be transcripts and are of no known format. It returns the error of a directory that cannot be read.
func KeptIn(dirs []string) (all []Kept, unknown []string, err error) {
	err = eachKept(dirs, func(file string, _ fs.FileInfo) error {
		k, ok, err := keptIn(file)
		switch {
		case ok:
			all = append(all, k)
		case err == nil && mustBeKnown(file):
			unknown = append(unknown, file)
		}
		return err
	})
	sortKept(all)
	return all, unknown, err
}

// mustBeKnown reports whether a file is there, has something in it, and bears the name of a transcript.
func mustBeKnown(file string) bool {
	fi, err := os.Stat(file)
	return err == nil && fi.Size() > 0 && (filepath.Ext(file) == ".jsonl" || strings.HasPrefix(filepath.Base(file), "session-"))
}

// sortKept puts those that changed last behind the others.
func sortKept(all []Kept) {
	slices.SortStableFunc(all, func(a, b Kept) int { return a.Changed.Compare(b.Changed) })
}

// eachKept calls visit once with each file below directories that may be the transcript of a session.
func eachKept(dirs []string, visit func(file string, fi fs.FileInfo) error) error {
	seen := map[string]bool{}
	for _, dir := range dirs {
		if _, is := databaseStamp(dir); is || ownerOf(dir) != "" {
			continue
		}
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // not there, or gone meanwhile
				return nil
			case err != nil:
				return err
			case e.IsDir() && file != dir && (claudeSession(file+".jsonl") != "" || ofGeminiSubagent(file)):
				return fs.SkipDir
			case !e.Type().IsRegular() || !mayBeKept(file) || seen[file]:
				return nil
			}
			seen[file] = true
			fi, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			return visit(file, fi)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayBeKept reports whether a file has the name of a transcript of a session.
func mayBeKept(file string) bool {
	base := filepath.Base(file)
	if ofGeminiSubagent(filepath.Dir(file)) {
		return false
	}
	if _, is := agentID(file); is {
		return ownerOf(file) == "" // else it is imported with that
	}
	return filepath.Ext(file) == ".jsonl" || filepath.Ext(file) == ".json" && !strings.HasSuffix(base, ".meta.json")
}

// Alone describes a transcript that a user imports without naming a session. It returns a
// [usage.Error] if the transcript names no session, and an error if it cannot read the file.
func Alone(file string) (k Kept, err error) {
	const example = "; for example: ctxfs import %s coder/s1"
	if file == "-" {
		return k, usage.Errorf("SESSION is missing: standard input has no name for one"+example, file)
	}
	fi, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, usage.Errorf("there is no file %s; name a transcript, and its session: ctxfs import FILE SESSION", file)
	}
	if err != nil {
		return k, err
	}
	if fi.IsDir() {
		return k, usage.Errorf("SESSION is missing"+example+", or for each transcript in it: ctxfs import --all %[1]s", file)
	}
	k, ok, err := keptIn(file)
	if err == nil && !ok {
		err = usage.Errorf("SESSION is missing: only a transcript of %s names its own"+example, Programs(), file)
	}
	return k, err
}

// keptIn reads the head of a file; ok is false if it is no transcript of one of the programs.
func keptIn(file string) (k Kept, ok bool, err error) {
	f, err := inputs.OpenRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, false, nil // the program has removed it meanwhile
	}
	if err != nil {
		return k, false, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return k, false, err
	}
	head, err := io.ReadAll(io.LimitReader(f, HeadSize))
	if err != nil {
		return k, false, fmt.Errorf("%s: %w", file, err)
	}
	for _, p := range programs {
		format, _ := formats.Lookup(p.format)
		if format.Sniff(file, adapter.Decode(head)) < 90 {
			continue
		}
		k = Kept{File: file, Program: p.format, Changed: fi.ModTime()}
		k.Session, k.Cwd = saysOf(head)
		if p.format == "gemini" {
			k.Cwd = geminiProject(file)
		}
		if t, _ := threadOf(head); p.format == "codex" && t.parent != "" {
			t.among(rolloutsWith(file))
			k.Session = t.root
		}
		k.Session = cmp.Or(k.Session, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		return k, ctxabi.ValidName(k.Session) == nil, nil
	}
	return k, false, nil
}

// saysOf returns what the first lines of a transcript, or the head of its document, say of its session: its id, and where the program worked.
func saysOf(head []byte) (id, cwd string) {
	note := func(line gjson.Result, idAt, cwdAt string) {
		id, cwd = cmp.Or(id, line.Get(idAt).Str), cmp.Or(cwd, line.Get(cwdAt).Str)
	}
	lines := bufio.NewScanner(bytes.NewReader(head))
	lines.Buffer(nil, HeadSize+1)
	for lines.Scan() && (id == "" || cwd == "") {
		switch line := gjson.ParseBytes(lines.Bytes()); line.Get("type").Str {
		case "session_meta":
			note(line, "payload.id", "payload.cwd")
		case "session":
			note(line, "id", "cwd")
		default:
			note(line, "sessionId", "cwd")
		}
	}
	document := gjson.ParseBytes(head) // of one that is cut off, what stands in front
	note(document, "sessionId", "cwd")
	note(document, "info.id", "info.directory")
	if !filepath.IsAbs(cwd) {
		cwd = ""
	}
	return id, cwd
}
