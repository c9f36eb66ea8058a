package transcript

import (
	"bufio"
	"cmp"
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

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/adapter"
	"github.com/ctxfs/ctxfs/internal/adapter/formats"
)

// Kept is the transcript of one session of a program, where the program keeps it.
type Kept struct {
	File    string
	Program string // the name of its format, which is the agent's by default
	Session string // the program's id of the session
	Cwd     string // where the program worked; "" if the transcript does not say
	Changed time.Time
}

// programs are those that keep transcripts in one place.
var programs = []struct {
	format string
	home   string   // the variable that names the program's directory
	dir    string   // else this, below the user's home
	below  []string // directories there that have transcripts
}{
	{"claude-code", "CLAUDE_CONFIG_DIR", ".claude", []string{"projects"}},
	{"codex", "CODEX_HOME", ".codex", []string{"sessions", "archived_sessions"}},
}

// Places returns the directories in which programs keep the transcripts of this user, whether they are there or not. home is the
// user's home, getenv reads a variable.
func Places(home string, getenv func(string) string) (dirs []string) {
	for _, p := range programs {
		for _, dir := range p.below {
			dirs = append(dirs, filepath.Join(cmp.Or(getenv(p.home), filepath.Join(home, p.dir)), dir))
		}
	}
	return dirs
}

// KeptIn returns the transcripts of sessions below directories, those that changed last behind the others. Directories that are not there
// have none. Conversations of sub-agents belong to the sessions that started them, and are not among them, nor are files of other
// formats. It returns the error of a directory that cannot be read.
func KeptIn(dirs []string) (all []Kept, err error) {
	err = eachKept(dirs, func(file string, _ fs.FileInfo) error {
		k, ok, err := keptIn(file)
		if ok {
			all = append(all, k)
		}
		return err
	})
	sortKept(all)
	return all, err
}

// sortKept puts those that changed last behind the others.
func sortKept(all []Kept) {
	slices.SortStableFunc(all, func(a, b Kept) int { return a.Changed.Compare(b.Changed) })
}

// eachKept calls visit once with each file below directories that may be the transcript of a session.
func eachKept(dirs []string, visit func(file string, fi fs.FileInfo) error) error {
	seen := map[string]bool{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // not there, or gone meanwhile
				return nil
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "subagents" && file != dir:
				return fs.SkipDir
			case !e.Type().IsRegular() || filepath.Ext(file) != ".jsonl" || strings.HasPrefix(e.Name(), "agent-") || seen[file]:
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

// keptIn reads the head of a file; ok is false if it is no transcript of one of the programs.
func keptIn(file string) (k Kept, ok bool, err error) {
	f, err := os.Open(file)
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
		k.Session = cmp.Or(k.Session, strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		return k, ctxabi.ValidName(k.Session) == nil, nil
	}
	return k, false, nil
}

// saysOf returns what the first lines of a transcript say of its session: its id, and where the program worked.
func saysOf(head []byte) (id, cwd string) {
	lines := bufio.NewScanner(strings.NewReader(string(head)))
	lines.Buffer(nil, HeadSize+1)
	for lines.Scan() && (id == "" || cwd == "") {
		line := gjson.ParseBytes(lines.Bytes())
		if line.Get("type").Str == "session_meta" {
			id, cwd = cmp.Or(id, line.Get("payload.id").Str), cmp.Or(cwd, line.Get("payload.cwd").Str)
			continue
		}
		id, cwd = cmp.Or(id, line.Get("sessionId").Str), cmp.Or(cwd, line.Get("cwd").Str)
	}
	if !filepath.IsAbs(cwd) {
		cwd = ""
	}
	return id, cwd
}
