package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/locate"
)

// StoreFlag defines --store, for verbs that find a session in its store.
func StoreFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "store", "", "`DIR` that holds the store (default /var/lib/ctxfs for root, else $XDG_DATA_HOME/ctxfs or ~/.local/share/ctxfs)")
}

// MountFlag defines --mount, for verbs that work only through a mount.
func MountFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "mount", "", "`DIR` where ctxfs is mounted (default: $CTXFS_MOUNT, else the line in ~/.config/ctxfs/mount, else the mount of the default store, else your only mount, else root's)")
}

// BuildFlags defines the flags that change the packs of a session: --budget, --encoding, and --map.
func BuildFlags(c *cobra.Command, budget *int, encoding *string, maps *[]string) {
	fl := c.Flags()
	fl.IntVar(budget, "budget", ctxabi.DefaultBudget, "most `TOKENS` of a pack if context/budget is empty; 0: no limit")
	fl.StringVar(encoding, "encoding", "", "`NAME` of the tokeniser: o200k_base, cl100k_base or a model's (default o200k_base)")
	fl.StringArrayVar(maps, "map", nil, "`/IN=/OUT`: a cwd that says /IN, as in a container, means /OUT here; may be repeated")
}

// pathMap replaces a prefix of paths.
type pathMap struct{ from, to string }

// ParseMaps parses the values of --map. The function that it returns replaces the longest matching
// prefix of a path; it is nil without values. A malformed value is wrong usage.
func ParseMaps(values []string) (func(string) string, error) {
	var maps []pathMap
	for _, v := range values {
		from, to, ok := strings.Cut(v, "=")
		if !ok || !filepath.IsAbs(from) || !filepath.IsAbs(to) {
			return nil, Usagef("--map %q: expected /inside=/outside, both absolute", v)
		}
		maps = append(maps, pathMap{filepath.Clean(from), filepath.Clean(to)})
	}
	if len(maps) == 0 {
		return nil, nil
	}
	return func(p string) string {
		best := -1
		for i, m := range maps {
			if locate.Inside(p, m.from) && (best < 0 || len(m.from) > len(maps[best].from)) {
				best = i
			}
		}
		if best < 0 {
			return p
		}
		return filepath.Join(maps[best].to, p[len(maps[best].from):])
	}, nil
}
