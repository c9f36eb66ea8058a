package main

import (
	"context"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/fs"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// A mount whose daemon does not answer hangs whoever touches it. So no verb
// touches one before its daemon was asked, and this file is how it is asked.

// answerWithin is how long the verb of this process waits for the answer of a daemon. A hook waits less.
var answerWithin = 5 * time.Second

// touchCommand is the child that touches a mount for this process.
var touchCommand = func(i mounts.Info) *exec.Cmd {
	return exec.Command("/proc/self/exe", "touch-mount", i.Point, i.Source)
}

func asker() mounts.Asker { return mounts.Asker{Within: answerWithin, Touch: touchCommand} }

// ask asks the daemon of a mount. err says that it does not answer.
func ask(i mounts.Info) (mounts.Mount, error) {
	m := asker().Ask(context.Background(), i)
	if m.State != mounts.Answers {
		return m, mounts.SilentError{Mount: m}
	}
	return m, nil
}

// mountAround finds the mount that path p lies in. err says that its daemon does not answer: then nothing in it is to be
// touched, nor is the working directory where p is relative.
func mountAround(p string) (i mounts.Info, ok bool, err error) {
	if i, _, ok = mounts.At(p); ok {
		_, err = ask(i)
	}
	return i, ok, err
}

// answeringMount finds the mount of a store; ok is false where it has none that answers, and the store itself is looked into.
func answeringMount(store string) (i mounts.Info, ok bool) {
	if i, ok = mounts.OfStore(store); ok {
		_, err := ask(i)
		ok = err == nil
	}
	return i, ok
}

// mountsMeant asks the mounts of which one could be meant where none is named: whole ones that root or the user made, the user's
// own first. It tells those that answer from those that do not; a mount whose daemon is gone is neither.
func mountsMeant() (answer, silent []mounts.Mount, err error) {
	own, err := mounts.Own()
	if err != nil {
		return nil, nil, err
	}
	var whole []mounts.Info
	for _, i := range own {
		if i.Whole() {
			whole = append(whole, i)
		}
	}
	for _, m := range asker().All(context.Background(), whole) {
		switch m.State {
		case mounts.Answers:
			answer = append(answer, m)
		case mounts.Gone:
		default:
			silent = append(silent, m)
		}
	}
	return answer, silent, nil
}

// touchCmd is the child of touchCommand; nobody types it.
func touchCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "touch-mount POINT STORE",
		Short:  "Find out whether a mount answers, or hang (started by ctxfs itself)",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			pid, _ := lockHolder(args[1])
			return mounts.Touched(c.OutOrStdout(), pid, func() bool { return fs.Dead(args[0]) })
		},
	}
}

// warnOfSilent names on standard error what does not answer, where the verb goes on without it.
func warnOfSilent(silent []mounts.Mount) {
	for _, m := range silent {
		warnOnce(mounts.SilentError{Mount: m}.Error())
	}
}
