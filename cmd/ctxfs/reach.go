package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/transcript"
	"github.com/ctxfs/ctxfs/session"
)

// reach opens the tree in which arg means the session at. The store is made
// where there is none and toChange says that something is to be written.
func reach(arg string, at place, toChange bool) (transcript.Tree, error) {
	if dir, err := mountedDir(arg, at); err != nil {
		return nil, err
	} else if dir != "" {
		return transcript.Mounted(strings.TrimSuffix(dir, at.ref.Path())), nil
	}
	owner := func(ref ctxabi.Ref) (session.Owner, error) { return ownerOf(place{at.store, ref}) }
	if !toChange {
		store, err := openToRead(at.store)
		return transcript.Stored(store, owner), err
	}
	store, err := openStore(at.store, session.Options{})
	if errors.Is(err, ctxabi.ErrLocked) {
		return nil, fmt.Errorf("%w; name the session in its mount instead: MOUNTPOINT/%s", err, at.ref)
	}
	return transcript.Stored(store, owner), err
}
