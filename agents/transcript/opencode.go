package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// opencode keeps its sessions in a database. The program itself says which there are, and exports them.
const (
	opencodeProgram = "opencode"
	database        = "opencode.db"
)

// ErrNoProgram: the sessions of a program are in its database, and the program is not there to export them.
var ErrNoProgram = errors.New("the program is not in PATH")

// databaseDir is where opencode keeps its database.
func databaseDir(home string, getenv func(string) string) string {
	return filepath.Join(cmp.Or(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), opencodeProgram)
}

// Exported returns the sessions that opencode has in a database in one of the directories, those that changed last behind the others;
// nothing where none has one. It returns ErrNoProgram, with the database's path, when opencode is not there to export them.
func Exported(ctx context.Context, dirs []string) (all []Kept, err error) {
	for _, dir := range dirs {
		file := filepath.Join(dir, database)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		program, err := exec.LookPath(opencodeProgram)
		if err != nil {
			return nil, fmt.Errorf("%s holds the sessions of opencode, which exports them itself: %w", file, ErrNoProgram)
		}
		of := opencode{program, filepath.Dir(dir)}
		found, err := of.sessions(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// opencode is the program with the directory that has its data.
type opencode struct{ program, data string }

// run runs the program and writes what it prints to w. What it says besides is part of its error.
func (o opencode) run(ctx context.Context, w io.Writer, args ...string) error {
	var said bytes.Buffer
	c := exec.CommandContext(ctx, o.program, args...)
	c.Env = append(os.Environ(), "XDG_DATA_HOME="+o.data, "OPENCODE_DISABLE_AUTOUPDATE=1")
	c.Dir = string(filepath.Separator)
	c.Stdout, c.Stderr = w, &said
	c.WaitDelay = time.Second
	if err := c.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("opencode %s: %w: %s", args[0], err, lines[len(lines)-1])
	}
	return nil
}

// sessions lists the sessions of all directories, those of sub-agents too.
func (o opencode) sessions(ctx context.Context) (all []Kept, err error) {
	var out bytes.Buffer
	if err := o.run(ctx, &out, "db", "--format", "json", "select id, directory, time_updated as updated from session order by time_updated"); err != nil {
		out.Reset() // versions before there was db
		if o.run(ctx, &out, "session", "list", "--format", "json") != nil {
			return nil, err
		}
	}
	var rows []struct {
		ID, Directory string
		Updated       int64
	}
	if text := bytes.TrimSpace(out.Bytes()); len(text) > 0 {
		if err := json.Unmarshal(text, &rows); err != nil {
			return nil, fmt.Errorf("opencode does not list its sessions as JSON: %w", err)
		}
	}
	for _, row := range rows {
		if !strings.HasPrefix(row.ID, "ses_") {
			continue
		}
		all = append(all, Kept{File: "opencode session " + row.ID, Program: opencodeProgram, Session: row.ID, Cwd: row.Directory, Changed: time.UnixMilli(row.Updated),
			write: func(ctx context.Context, w io.Writer) error { return o.run(ctx, w, "export", row.ID) }})
	}
	return slices.DeleteFunc(all, func(k Kept) bool { return k.Cwd != "" && !filepath.IsAbs(k.Cwd) }), nil
}

// Open returns the file that has the transcript, and what removes it again where the program had to write it. It returns the error of the program.
func (k Kept) Open(ctx context.Context) (file string, done func(), err error) {
	if k.write == nil {
		return k.File, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "ctxfs-import-")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	file = filepath.Join(dir, k.Session+".json")
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = cmp.Or(k.write(ctx, f), f.Close())
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return file, done, nil
}

// stamp is what tells that a transcript has changed: its own bytes, and those of the conversations of sub-agents beside it.
type stamp struct {
	size    int64
	changed time.Time
}

// databaseStamp is the stamp of a program's database in a directory; ok is false without one.
func databaseStamp(dir string) (s stamp, ok bool) {
	fi, err := os.Stat(filepath.Join(dir, database))
	if err != nil {
		return s, false
	}
	s = stamp{fi.Size(), fi.ModTime()}
	if wal, err := os.Stat(filepath.Join(dir, database+"-wal")); err == nil {
		s.size += wal.Size()
		if wal.ModTime().After(s.changed) {
			s.changed = wal.ModTime()
		}
	}
	return s, true
}
