package main

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/redact"
	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
)

// reach opens the tree in which arg means the session at. The store is made
// where there is none and toChange says that something is to be written.
func reach(arg string, at locate.Place, toChange bool) (transcript.Tree, error) {
	if dir, err := locate.MountedDir(arg, at); err != nil {
		return nil, err
	} else if dir != "" {
		return transcript.Mounted(strings.TrimSuffix(dir, at.Ref.Path())), nil
	}
	owner := func(ref ctxabi.Ref) (session.Owner, error) { return ownerOf(locate.Place{Store: at.Store, Ref: ref}) }
	if !toChange {
		store, err := openToRead(at.Store)
		return transcript.Stored(store, owner), err
	}
	store, err := openStore(at.Store, session.Options{})
	if errors.Is(err, ctxabi.ErrLocked) {
		return nil, fmt.Errorf("%w; name the session in its mount instead: MOUNTPOINT/%s", err, at.Ref)
	}
	return transcript.Stored(store, owner), err
}

// openToChange opens a store that is there and that no daemon serves.
func openToChange(dir string) (*session.Store, error) {
	if _, err := os.Stat(filepath.Join(dir, session.StoreFile)); err != nil {
		return openToRead(dir) // it says what is wrong
	}
	return openStore(dir, session.Options{})
}

// openToRead opens a store without its lock.
func openToRead(dir string) (*session.Store, error) { return openShown(dir, nil) }

// openShown is openToRead, where what is derived shows no secrets; a nil r redacts nothing.
func openShown(dir string, r *redact.Redactor) (*session.Store, error) {
	store, err := session.Open(dir, session.Options{ReadOnly: true, Shown: builder.Shown(r)})
	if errors.Is(err, iofs.ErrPermission) {
		return nil, fmt.Errorf("%w; the store is another user's: use its mount, where context/pack.md is the same", err)
	}
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, ctxabi.ErrNotFound) {
		return nil, fmt.Errorf("there is no store in %s; 'ctxfs mount' makes one, --store names another", dir)
	}
	return store, err
}

// openAt is openShown for who reads the session at. The store of a host of a cluster is a copy: its mount brings the
// session up to date before, where there is one. openAt returns the error of a mount that has nothing of the session
// and cannot get it.
func openAt(at locate.Place, r *redact.Redactor) (*session.Store, error) {
	if point, err := copiesAt(at.Store); err != nil {
		return nil, err
	} else if point != "" {
		if err := bringUpToDate(point, at.Ref); err != nil {
			return nil, err
		}
	}
	return openShown(at.Store, r)
}

// copiesAt returns where the store of a host of a cluster is mounted; "" for another store, or where it is not.
func copiesAt(store string) (point string, err error) {
	if _, err := os.Stat(filepath.Join(store, session.ClusterFile)); err != nil {
		return "", nil
	}
	return locate.ServedAt(store)
}

// bringOwnerUpToDate is bringUpToDate for all sessions of the owner of ref, of which any may be a child or a parent.
func bringOwnerUpToDate(store string, ref ctxabi.Ref) error {
	point, err := copiesAt(store)
	if point == "" || err != nil {
		return err
	}
	refs, err := locate.SessionsIn(point, ref.Owner())
	for _, ref := range refs {
		err = errors.Join(err, bringUpToDate(point, ref))
	}
	return err
}

// bringUpToDate opens a session through the mount at point, which waits for what other hosts have.
func bringUpToDate(point string, ref ctxabi.Ref) error {
	f, err := os.Open(filepath.Join(point, ref.Path(), ctxabi.MessagesFile))
	if errors.Is(err, iofs.ErrPermission) || errors.Is(err, iofs.ErrNotExist) {
		return nil // the store decides, and has the words for it
	}
	if err == nil {
		f.Close()
	}
	return err
}

// ownerOf returns whose a new session is: the home's user, or the caller with the space's group.
func ownerOf(at locate.Place) (session.Owner, error) {
	if at.Ref.Space != "" {
		var st unix.Stat_t
		dir := filepath.Join(at.Store, at.Ref.Owner())
		if err := unix.Stat(dir, &st); err != nil {
			return session.Owner{}, fmt.Errorf("%s: %w; 'ctxfs space new' makes one", at.Ref.Owner(), err)
		}
		return session.Owner{UID: uint32(os.Getuid()), GID: st.Gid, Mode: 0o2770}, nil
	}
	o := session.Owner{UID: at.Ref.UID, GID: at.Ref.UID, Mode: 0o700}
	if int(o.UID) == os.Getuid() {
		o.GID = uint32(os.Getgid())
	} else if u, err := user.LookupId(strconv.Itoa(int(o.UID))); err == nil {
		if gid, err := strconv.ParseUint(u.Gid, 10, 32); err == nil {
			o.GID = uint32(gid)
		}
	}
	return o, nil
}
