package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/lazy"
	"github.com/ctxfs/ctxfs/internal/vfs"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// setAsideDir of the store takes what a repair takes away outside of sessions.
const setAsideDir = "quarantine"

// daemonFiles are kept there by a daemon, for its own use; they are replaced by a rename of NAME.new.
var daemonFiles = []string{session.DaemonFile, session.VolumesFile, session.MountpointFile}

// storeFiles are the names in a store's directory.
var storeFiles = []string{session.StoreFile, ctxabi.HomeDir, ctxabi.SharedDir, disk.TmpDir, setAsideDir, session.StrayDir, "lost+found"}

// open looks at what must be right before a store can be opened, and opens it.
func (c *checker) open(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	v := c.o.VFS
	name := path.Join(dir, session.StoreFile)
	raw, err := vfs.ReadFile(v, name)
	switch {
	case err == nil || errors.Is(err, fs.ErrInvalid):
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("check store %s: %w", dir, err)
	default:
		if fi, err := v.Stat(path.Join(dir, ctxabi.HomeDir)); err != nil || !fi.IsDir() {
			return ctxabi.E("fsck", "", ctxabi.ErrNotFound, "%s is not a ctxfs store (neither %s nor %s in it)", dir, session.StoreFile, ctxabi.HomeDir)
		}
	}
	_, bad := session.ParseHeader(dir, raw)
	if errors.Is(bad, ctxabi.ErrVersion) {
		return bad
	}
	if bad != nil {
		if err := c.header(dir, raw, err == nil); err != nil {
			return err
		}
	}
	leftover, _ := v.ReadDir(path.Join(dir, disk.TmpDir)) // an open clears it
	if c.o.Repair {
		if c.s, err = session.Open(dir, c.o.Options); err != nil {
			return err
		}
	} else {
		// Not by Open: what it would refuse is to be looked at.
		c.s = session.Look(dir, c.o.Options)
	}
	if n := len(leftover); n > 0 && !c.o.Served {
		c.report(disk.TmpDir, Odd, Remedy{"removed", func() error { return nil }}, "it contains %d unfinished files of a daemon that ended", n)
	}
	return nil
}

var idPattern = lazy.Regexp(`[0-9a-f]{32}`)

// header reports a header that is damaged, and writes one.
func (c *checker) header(dir string, raw []byte, there bool) error {
	v, name := c.o.VFS, path.Join(dir, session.StoreFile)
	id := string(idPattern().Find(raw))
	what, words := "it is missing", "written again, with a new id"
	if there {
		what = "it is damaged: it does not contain a version and an id with their checksum"
		if id != "" {
			words = "written again, with its old id"
		}
	}
	if id == "" {
		id = disk.NewID()
	}
	var failed error
	c.report(session.StoreFile, Rebuildable, Remedy{words, func() error {
		failed = func() error {
			inner, err := session.LockStore(v, dir, session.LockedDir)
			if err != nil {
				return err
			}
			defer inner.Close()
			if !there {
				return session.WriteHeader(v, dir, id)
			}
			lock, err := session.LockStore(v, dir, session.StoreFile)
			if err != nil {
				return err
			}
			defer lock.Close()
			aside := path.Join(dir, setAsideDir)
			if err := v.Mkdir(aside, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			root := &disk.Root{FS: v, Dir: dir}
			if _, err := root.MoveAside(name, aside, session.StoreFile); err != nil {
				return err
			}
			return session.WriteHeader(v, dir, id)
		}()
		return failed
	}}, "%s", what)
	return failed
}

// checkStore looks at the store's own files, at homes and spaces, and at the directories of agents.
func (c *checker) checkStore() {
	s := c.s
	c.sum.Files++
	entries, err := s.Disk().FS.ReadDir(s.Disk().Dir)
	if err != nil {
		c.report(".", Lost, NoRemedy, "the store cannot be listed: %v", err)
		return
	}
	for _, e := range entries {
		name := e.Name()
		if slices.Contains(storeFiles, name) || path.Ext(name) == ".log" || slices.Contains(daemonFiles, strings.TrimSuffix(name, ".new")) {
			continue
		}
		c.report(name, Odd, c.asideOfStore(name), "a file with this name does not belong in a store")
	}
	if entries, err := s.Disk().FS.ReadDir(s.Disk().Join(setAsideDir)); err == nil {
		c.sum.Quarantined += len(entries)
	}
	for _, top := range []string{ctxabi.HomeDir, ctxabi.SharedDir} {
		entries, err := s.Disk().FS.ReadDir(s.Disk().Join(top))
		if errors.Is(err, fs.ErrNotExist) {
			c.report(top, Rebuildable, Remedy{"created", func() error { return nil }}, "the directory is missing") // by Open
			continue
		}
		if err != nil {
			c.report(top, Lost, NoRemedy, "it cannot be listed: %v", err)
			continue
		}
		for _, e := range entries {
			c.checkOwned(top, e.Name())
		}
	}
}

// checkOwned looks at a home or a space and at the agents in it.
func (c *checker) checkOwned(top, name string) {
	rel := path.Join(top, name)
	fi, err := c.s.Disk().FS.Stat(c.s.Disk().Join(rel))
	if err != nil {
		return
	}
	uid, isUID := ctxabi.ParseUID(name)
	if top == ctxabi.HomeDir && !isUID || top == ctxabi.SharedDir && ctxabi.ValidName(name) != nil {
		c.report(rel, Odd, c.asideOfStore(rel), "it is not the name of %s, and nobody can reach it through a mount", map[string]string{ctxabi.HomeDir: "a uid", ctxabi.SharedDir: "a space"}[top])
		return
	}
	if !fi.IsDir() {
		c.report(rel, Odd, c.asideOfStore(rel), "it is %s, and must be a directory", typeOf(fi))
		return
	}
	store, _ := c.s.Disk().FS.Stat(c.s.Disk().Dir)
	if top == ctxabi.HomeDir {
		have, gid, known := vfs.OwnerOf(fi)
		by, _, _ := vfs.OwnerOf(store)
		o := disk.Owner{UID: uid, GID: gid, Mode: 0o700}
		t := &sessionTree{c: c, dir: c.s.Disk().Join(rel), rel: rel, owner: o}
		if known && by != 0 { // a user's own store: all is his
			t.owner.UID = have
		}
		t.checkMode("", o.DirMode(), fi)
		c.checkTrust(t)
		c.checkProjects(path.Join(rel, ctxabi.ProjectsDir))
	}
	c.checkDerived(rel)
	agents := path.Join(rel, ctxabi.AgentDir)
	for _, agent := range c.entries(agents) {
		at := path.Join(agents, agent.Name())
		if !agent.IsDir() || ctxabi.ValidName(agent.Name()) != nil {
			c.report(at, Odd, c.asideOfStore(at), "it is not the directory of an agent, which has a name such as coder")
			continue
		}
		c.checkAgent(at)
	}
}

// checkAgent looks at what ctxfs reads of an agent's home, and at what stands among its sessions.
func (c *checker) checkAgent(rel string) {
	for _, name := range []string{ctxabi.AgentRecipeFile, ctxabi.SystemPromptFile, ctxabi.ToolsFile} {
		if fi, err := c.s.Disk().FS.Stat(c.s.Disk().Join(rel, name)); err == nil && !fi.Mode().IsRegular() {
			c.report(path.Join(rel, name), Odd, c.asideOfStore(path.Join(rel, name)), "it is %s, and must be a file", typeOf(fi))
		}
	}
	dir := path.Join(rel, ctxabi.SessionDir)
	if fi, err := c.s.Disk().FS.Stat(c.s.Disk().Join(dir)); err == nil && !fi.IsDir() {
		c.report(dir, Odd, c.asideOfStore(dir), "it is %s, and must be a directory", typeOf(fi))
		return
	}
	for _, e := range c.entries(dir) {
		at := path.Join(dir, e.Name())
		switch {
		case !e.IsDir():
			c.report(at, Odd, c.asideOfStore(at), "it is a file, and only directories can be here")
		case ctxabi.ValidName(e.Name()) != nil:
			c.report(at, Odd, c.asideOfStore(at), "it is not the name of a session, and nobody can reach it through a mount")
		}
	}
}

// checkProjects looks at the directories of workspaces. What lies in them is the user's own.
func (c *checker) checkProjects(rel string) {
	fi, err := c.s.Disk().FS.Stat(c.s.Disk().Join(rel))
	if err != nil {
		return
	}
	if !fi.IsDir() {
		c.report(rel, Odd, c.asideOfStore(rel), "it is %s, and must be a directory", typeOf(fi))
		return
	}
	for _, e := range c.entries(rel) {
		at := path.Join(rel, e.Name())
		if _, ok := ctxabi.ParseProjectSlug(e.Name()); !ok || !e.IsDir() {
			c.report(at, Odd, c.asideOfStore(at), "it is not the directory of a workspace, and nobody can reach it through a mount")
		}
	}
}

func (c *checker) checkTrust(t *sessionTree) {
	rel := path.Join(t.rel, ctxabi.TrustFile)
	fi, err := c.s.Disk().FS.Stat(c.s.Disk().Join(rel))
	if err != nil {
		return
	}
	aside := c.asideOfStore(rel)
	if !fi.Mode().IsRegular() {
		c.report(rel, Odd, aside, "it is %s, and must be a file", typeOf(fi))
		return
	}
	t.checkMode(ctxabi.TrustFile, 0o600, fi)
	data, err := vfs.ReadFile(c.s.Disk().FS, c.s.Disk().Join(rel))
	if err == nil {
		err = session.CheckControl(ctxabi.TrustFile, data)
	}
	if err != nil {
		c.report(rel, Rebuildable, aside, "it breaks the rules of this file, and nothing is trusted: %s", whyOf(err))
	}
}

// asideOfStore is the remedy for what is no session's.
func (c *checker) asideOfStore(rel string) Remedy {
	s := c.s
	return Remedy{"moved to " + setAsideDir + "/ of the store", func() error {
		dir := s.Disk().Join(setAsideDir)
		if err := s.Disk().FS.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		_, err := s.Disk().MoveAside(s.Disk().Join(rel), dir, string(bytes.ReplaceAll([]byte(rel), []byte("/"), []byte("-"))))
		return err
	}}
}

func (c *checker) entries(rel string) []fs.DirEntry {
	entries, _ := c.s.Disk().FS.ReadDir(c.s.Disk().Join(rel))
	return entries
}
