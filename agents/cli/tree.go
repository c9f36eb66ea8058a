package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ctxfs/ctxfs/agents/transcript"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/cli"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/session"
	"github.com/ctxfs/ctxfs/session/disk"
)

// reach opens the tree in which arg means the session at. The store is made
// where there is none and toChange says that something is to be written.
func reach(arg string, at locate.Place, toChange bool) (transcript.Tree, error) {
	if dir, err := locate.MountedDir(arg, at); err != nil {
		return nil, err
	} else if dir != "" {
		return transcript.Mounted(strings.TrimSuffix(dir, at.Ref.Path())), nil
	}
	owner := func(ref ctxabi.Ref) (disk.Owner, error) {
		return cli.NewOwner(locate.Place{Store: at.Store, Ref: ref})
	}
	if !toChange {
		store, err := cli.OpenToRead(at.Store)
		return transcript.Stored(store, owner), err
	}
	store, err := cli.OpenStore(at.Store, session.Options{})
	if errors.Is(err, ctxabi.ErrLocked) {
		return nil, fmt.Errorf("%w; name the session in its mount instead: MOUNTPOINT/%s", err, at.Ref)
	}
	return transcript.Stored(store, owner), err
}
