package fs

import (
	"syscall"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/handles"
)

// keep counts a descriptor that a client keeps open until release is called. It returns ctxabi.ErrNoFiles if clients have all
// that they may have: what is left of them is for reading sessions, appending to them and making packs.
func (t *tree) keep() (release func(), err error) {
	release, err = handles.Keep()
	if err != nil {
		err = ctxabi.E("open", "", ctxabi.ErrNoFiles, "%d files of this mount are open, the most that the daemon's limit of %d descriptors allows; close some, or raise the limit",
			handles.Keepable(), handles.Limit())
		t.short(err)
	}
	return release, err
}

// keep is [tree.keep] for an ordinary file, of which no session can tell.
func (p *plain) keep() (release func(), errno syscall.Errno) {
	release, err := p.t.keep()
	return release, errnoOf(err)
}

// shortEvery is how often the log tells that descriptors ran out.
const shortEvery = time.Minute

// short tells in the log that descriptors ran out.
func (t *tree) short(err error) {
	now := time.Now().UnixNano()
	last := t.shortAt.Load()
	if now-last >= int64(shortEvery) && t.shortAt.CompareAndSwap(last, now) {
		t.log.Warn("too many files are open", "limit", handles.Limit(), "err", err)
	}
}
