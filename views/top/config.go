package top

import (
	"context"
	"path/filepath"

	"github.com/ctxfs/ctxfs/views/inspect"
	"github.com/ctxfs/ctxfs/views/overview"
)

// Config holds which sessions are shown, and how.
type Config struct {
	Source *overview.Source
	Match  func(ref string) bool // the sessions that are shown; nil: all
	Wanted string                // how the user calls those of Match
	Order  Order
	Budget int // of sessions that set none, in tokens; 0: none, or not known
	Color  bool

	// Look opens the session in dir to look at its present pack; end closes it. Nothing of the session is changed by
	// that, and no command of its recipe runs.
	Look func(ctx context.Context, dir string) (h *inspect.History, end func() error, err error)
}

// dir returns the directory of a session.
func (c *Config) dir(ref string) string { return filepath.Join(c.Source.Root, ref) }

// matching returns the entries that are shown.
func (c *Config) matching(all []overview.Entry) (list []overview.Entry) {
	for _, e := range all {
		if c.Match == nil || c.Match(e.Ref) {
			list = append(list, e)
		}
	}
	return list
}
