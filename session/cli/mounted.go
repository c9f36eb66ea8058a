package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
	"github.com/ctxfs/ctxfs/internal/process"
)

// What ls and show tell where the store cannot be read, as of users of root's mount: the files of the mount say it, but for
// the id and the parents of a session, which only the store has.

// listMounted describes the sessions that the caller sees in a mount.
func listMounted(point, prefix string, warnings io.Writer) (rows []sessionInfo, err error) {
	home := "home/*"
	if uid := os.Getuid(); uid != 0 {
		home = fmt.Sprintf("home/%d", uid)
	}
	refs, err := locate.SessionsIn(point, home, "shared/*")
	if err != nil {
		return nil, err
	}
	rows = []sessionInfo{}
	for _, ref := range refs {
		if prefix != "" && !locate.Inside(ref.Path(), prefix) {
			continue
		}
		row, failed := describeMounted(filepath.Join(point, ref.Path()), ref)
		if errors.Is(failed, os.ErrNotExist) {
			continue // it was removed meanwhile
		}
		if failed != nil {
			fmt.Fprintf(warnings, "ctxfs: %s: %v\n", ref, failed)
			err = cli.Silent{Code: cli.ExitFailed}
			continue
		}
		rows = append(rows, row)
	}
	return rows, err
}

func describeMounted(dir string, ref ctxabi.Ref) (s sessionInfo, err error) {
	s.Session, s.State = ref.Path(), cmp.Or(process.State(dir), "idle")
	for _, l := range []struct {
		name string
		info *logInfo
	}{{ctxabi.MessagesFile, &s.Messages}, {ctxabi.EventsFile, &s.Events}} {
		file := filepath.Join(dir, l.name)
		fi, err := os.Stat(file)
		if err != nil {
			return s, err
		}
		*l.info = logInfo{
			Records: int(numberAttr(file, "user.ctx.lines")), Bytes: fi.Size(),
			Sealed: numberAttr(file, "user.ctx.sealed"), Packed: numberAttr(file, "user.ctx.packed"),
		}
	}
	s.Created, s.Updated = cli.ControlTime(dir, ctxabi.CreatedFile), cli.ControlTime(dir, ctxabi.UpdatedFile)
	return s, nil
}

// showMounted is showSession in a mount.
func showMounted(dir string, ref ctxabi.Ref) (s sessionInfo, err error) {
	if s, err = describeMounted(dir, ref); err != nil {
		return s, err
	}
	s.Messages.Head = mounts.Attr(filepath.Join(dir, ctxabi.MessagesFile), "user.ctx.head")
	s.Events.Head = mounts.Attr(filepath.Join(dir, ctxabi.EventsFile), "user.ctx.head")
	s.Directory, s.Cwd, s.Budget = dir, cli.ControlLine(dir, ctxabi.CwdFile), cli.ControlLine(dir, ctxabi.BudgetFile)
	if meta := cli.ControlLine(dir, ctxabi.MetaFile); json.Valid([]byte(meta)) {
		s.Meta = json.RawMessage(meta)
	}
	if rows := cli.ControlLine(dir, ctxabi.ErrorsFile); rows != "" {
		s.Refusals = strings.Count(rows, "\n") + 1
	}
	children, err := os.ReadDir(filepath.Join(dir, ctxabi.ChildDir))
	if err != nil {
		return s, err
	}
	for _, c := range children {
		at := filepath.Join(dir, ctxabi.ChildDir, c.Name())
		info := childInfo{Name: c.Name(), Status: cli.ControlLine(at, ctxabi.ChildStatus), Result: mounts.Attr(filepath.Join(at, ctxabi.ChildResult), "user.ctx.origin")}
		to := ref
		to.Agent, to.Session = cli.ControlLine(at, ctxabi.ChildAgent), cli.ControlLine(at, ctxabi.ChildSession)
		if _, err := os.Stat(filepath.Join(strings.TrimSuffix(dir, ref.Path()), to.Path(), ctxabi.MessagesFile)); err == nil {
			info.Session = to.Path()
		}
		s.Children = append(s.Children, info)
	}
	if s.Messages.Records > 0 {
		line, err := os.ReadFile(filepath.Join(dir, ctxabi.LineDir, strconv.Itoa(s.Messages.Records)))
		if err != nil {
			return s, err
		}
		s.Last = shortMessage(line)
	}
	return s, nil
}
