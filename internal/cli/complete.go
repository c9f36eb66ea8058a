package cli

import (
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/daemon"
	"github.com/ctxfs/ctxfs/internal/locate"
	"github.com/ctxfs/ctxfs/internal/mounts"
)

// mostCompleted is the largest number of sessions that a completion offers.
const mostCompleted = 500

// CompleteArgs sets the completion of all verbs below c that take a SESSION or a MOUNTPOINT and
// have no completion of their own.
func CompleteArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		CompleteArgs(sub)
	}
	_, args, _ := strings.Cut(c.Use, " ")
	switch {
	case c.ValidArgsFunction != nil || len(c.ValidArgs) > 0:
	case c.Name() == "umount":
		c.ValidArgsFunction = completeMounts
	case strings.Contains(args, "MOUNTPOINT"):
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case strings.Contains(args, "SESSION"):
		c.ValidArgsFunction = CompleteSessions
	}
}

// completeMounts offers the mountpoints of ctxfs.
func completeMounts(_ *cobra.Command, args []string, _ string) (points []string, d cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	all, _ := mounts.Ctxfs()
	for _, m := range all {
		points = append(points, m.Point)
	}
	return points, cobra.ShellCompDirectiveNoFileComp
}

// CompleteSessions offers the sessions that the caller may read: from the store, or from its mount
// if the store is not readable. The caller's own sessions have the form AGENT/SESSION. A word that
// begins a path is left to the shell.
func CompleteSessions(c *cobra.Command, _ []string, word string) (names []string, d cobra.ShellCompDirective) {
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	daemon.Asker.Within = time.Second // completion must not delay the shell
	self := ctxabi.Ref{UID: uint32(os.Getuid())}
	all := strings.HasPrefix(word, "home/") || strings.HasPrefix(word, "shared/")
	for ref := range sessionsToComplete(c, self, all) {
		name := ref.Path()
		if ref.UID == self.UID && ref.Space == "" && !all {
			name = ref.Agent + "/" + ref.Session
		}
		if strings.HasPrefix(name, word) {
			if names = append(names, name); len(names) == mostCompleted {
				break
			}
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// sessionsToComplete returns the sessions of self, or all sessions, in the mount or the store that
// the flags of c name, or in the default one.
func sessionsToComplete(c *cobra.Command, self ctxabi.Ref, all bool) iter.Seq[ctxabi.Ref] {
	value := func(flag string) string {
		if f := c.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	none := func(func(ctxabi.Ref) bool) {}
	point := ""
	if mount := value("mount"); mount != "" {
		var err error
		if point, err = locate.Mount(mount); err != nil {
			return none
		}
	} else {
		dir, err := locate.Store(value("store"))
		if err != nil {
			return none
		}
		if store, err := OpenToRead(dir); err == nil {
			return func(yield func(ctxabi.Ref) bool) {
				defer store.Close()
				refs := store.SessionsOf(self)
				if all {
					refs = store.Sessions()
				}
				refs(yield)
			}
		}
		if point, err = locate.ServedAt(dir); point == "" || err != nil {
			return none
		}
	}
	owners := []string{fmt.Sprintf("home/%d", self.UID)}
	if all && self.UID == 0 {
		owners[0] = "home/*"
	}
	if all {
		owners = append(owners, "shared/*")
	}
	refs, err := locate.SessionsIn(point, owners...)
	if err != nil {
		return none
	}
	return slices.Values(refs)
}
