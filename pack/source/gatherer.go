package source

import (
	"sync"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/memory"
	"github.com/ctxfs/ctxfs/session"
)

// Config is what decides how the inputs of packs are gathered.
type Config struct {
	Budget     int                 // tokens; used when neither the session nor the recipe says; 0: no limit
	Instead    int                 // tokens; in place of what the session or the recipe says; 0: as they say
	Encoding   string              // an encoding or a model name; "": o200k_base
	Workspace  Workspace           // nil: no workspace files
	Wait       time.Duration       // how long a read may wait for workspace files and generators; 0: what the recipe says
	MapPath    func(string) string // translates a path outside of the store as a container calls it; nil: as it is
	Mountpoint string              // where the store is mounted; "": it is not
	Memory     *memory.Limit       // nil: none
	WaitForAll bool                // a build waits for all generators, however long they take
}

// Gatherer gathers the inputs of packs. It is safe for concurrent use.
type Gatherer struct {
	Config Config
	roots  sync.Map // *os.File of stores' directories, by path; they stay open, for handles of a detached mount
}

// CheckRecipe reports what is wrong with the session's recipe in its errors.jsonl, where that was not done before.
func (gr *Gatherer) CheckRecipe(x *session.Session) {
	h, rel, err := gr.openHome(x, nil)
	if err != nil {
		return // the next pack says so
	}
	defer h.close()
	if entry := recipeEntry(h, rel); entry != "" && len(h.file(entry, ctxabi.MaxControl).data) == 0 {
		return // somebody is between truncating it and writing; if not, the next pack says so
	}
	gr.setUp(x, &Gathered{Ref: h.ref}, h, rel, &Gathered{})
}
