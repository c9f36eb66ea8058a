package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/install"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/views/doctor"
)

// CheckPrograms returns one finding of doctor for each installed agent program: how it is connected
// and when its last record arrived. None of them prevents a mount.
func CheckPrograms(now time.Time) (found []doctor.Finding) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	o := install.Options{Home: home, Getenv: os.Getenv}
	var b [unix.PathMax]byte
	if n, err := unix.Getcwd(b[:]); err == nil && n > 1 { // unlike os.Getwd it touches nothing
		cwd := string(b[:n-1])
		if _, _, in := mounts.At(cwd); !in && filepath.IsAbs(cwd) {
			o.Project = install.ProjectOf(cwd)
		}
	}
	for _, p := range install.Programs {
		s := install.Look(p, o)
		if !s.Found {
			continue
		}
		f := doctor.Finding{Check: "agent", State: doctor.OK, Text: p.Title + ": " + connected(s)}
		switch {
		case s.Err != nil:
			f.State, f.Text = doctor.Note, fmt.Sprintf("%s: %v", p.Title, s.Err)
			f.Remedy = "mend the file; ctxfs changes nothing in it"
		case !s.Hooks && !s.Server:
			f.Remedy = "ctxfs install " + p.Name
		default:
			text, remedy := lastRecord(s, now)
			f.Text += ", " + text
			if s.Hooks && s.Off != "" {
				f.State, f.Text, f.Remedy = doctor.Note, f.Text+"; hooks are switched off", "take out "+s.Off
			} else if f.Remedy = remedy; remedy != "" {
				f.State = doctor.Note
			} else if !s.Hooks || !s.Server {
				f.Remedy = "ctxfs install " + p.Name
			}
		}
		found = append(found, f)
	}
	return found
}

// lastRecord returns when a program's sessions last got a record, in words, in the mounts that its settings name, and what to type about a
// mount that cannot be asked.
func lastRecord(s install.Status, now time.Time) (text, remedy string) {
	points := s.Mounts
	if len(points) == 0 {
		point, err := locate.Mount("")
		if err != nil {
			return "no mount: " + cli.Message(err), "ctxfs mount --mkdir ~/ctx"
		}
		points = []string{point}
	}
	var newest time.Time
	for _, point := range points {
		i, rest, ok := mounts.At(point)
		if !ok || rest != "" {
			return "nothing is mounted at " + point, "ctxfs mount --mkdir " + point
		}
		if m, err := daemon.Ask(i); err != nil || m.State != mounts.Answers {
			return m.Trouble(), m.Remedy()
		}
		for _, agent := range s.Agents {
			if t := newestRecord(point, agent); t.After(newest) {
				newest = t
			}
		}
	}
	if newest.IsZero() {
		return "no record yet", ""
	}
	return "last record " + ago(now.Sub(newest)), ""
}

// newestRecord returns when the sessions of an agent of the caller last changed; zero where it has none.
func newestRecord(point, agent string) (newest time.Time) {
	home := ctxabi.Ref{UID: uint32(os.Getuid()), Agent: agent}.AgentHome()
	files, _ := filepath.Glob(filepath.Join(point, home, ctxabi.SessionDir, "*", ctxabi.UpdatedFile))
	for _, name := range files {
		if t := cli.ControlTime(filepath.Dir(name), ctxabi.UpdatedFile); t.After(newest) {
			newest = t
		}
	}
	return newest
}

// ago writes how long something is past, in one unit.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "min"}} {
		if n := int(d / unit.of); n > 0 {
			if n > 1 && !strings.HasPrefix(unit.name, "min") {
				return fmt.Sprintf("%d %ss ago", n, unit.name)
			}
			return fmt.Sprintf("%d %s ago", n, unit.name)
		}
	}
	return "just now"
}
