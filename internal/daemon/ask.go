package daemon

import (
	"context"
	"os/exec"
	"time"

	"github.com/ctxfs/ctxfs/internal/mounts"
)

// A mount whose daemon does not answer hangs whoever touches it. So no verb
// touches one before its daemon was asked, and this file is how it is asked.

// Asker is how the verb of this process asks a daemon. A hook waits for less time than it does.
var Asker = mounts.Asker{
	Within: 5 * time.Second,
	Touch:  func(i mounts.Info) *exec.Cmd { return exec.Command("/proc/self/exe", TouchVerb, i.Point, i.Source) },
}

// TouchVerb is the verb of this program that touches a mount, as the child of another: see [mounts.Touched].
const TouchVerb = "touch-mount"

// Ask asks the daemon of a mount. err says that it does not answer.
func Ask(i mounts.Info) (mounts.Mount, error) {
	m := Asker.Ask(context.Background(), i)
	if m.State != mounts.Answers {
		return m, mounts.SilentError{Mount: m}
	}
	return m, nil
}

// MountAround finds the mount that path p lies in. err says that its daemon does not answer: then
// nothing in it is to be touched, nor is the working directory where p is relative.
func MountAround(p string) (i mounts.Info, ok bool, err error) {
	if i, _, ok = mounts.At(p); ok {
		_, err = Ask(i)
	}
	return i, ok, err
}

// AnsweringMount finds the mount of a store; ok is false where it has none that answers, and the
// store itself is looked into.
func AnsweringMount(store string) (i mounts.Info, ok bool) {
	if i, ok = mounts.OfStore(store); ok {
		_, err := Ask(i)
		ok = err == nil
	}
	return i, ok
}
