package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ctxfs/ctxfs/session"
)

// Records is a snapshot of a log. *session.Index is one.
type Records interface {
	Len() int
	At(line int) session.Entry       // 1-based
	Record(line int) ([]byte, error) // without its newline
}

// Input is all that a pack is made from.
type Input struct {
	Session  string // its name
	Agent    string
	Budget   int    // tokens; 0: no limit
	Encoding string // "": tokens.DefaultEncoding
	Files    []File // in the order of the recipe
	Messages Records
	// Head identifies the bytes of Messages: the log's chain value at that length.
	Head string
	// Tools are the events that stand in the journal and where; nil: none do.
	// Events and EventsHead are then the log they are from and its chain value behind the last of them.
	Tools      []session.ToolEvent
	Events     Records
	EventsHead string
}

// File is one file that the recipe names, as it was when it was read.
type File struct {
	Source string // id of the source in the recipe it belongs to
	ID     string // id of the block: "summary", "pinned/rules.md"
	Path   string // where a reader of the pack finds it whole
	Data   []byte
	Stale  bool   // the last known content, newer content did not come in time
	Reason string // why a file that exists is not used, else ""
}

// id is the pack's id: a hash of every input, of the recipe and of the renderer.
func (in *Input) id(r *recipe, encoding string) string {
	h := sha256.New()
	fmt.Fprintf(h, "ctxfs pack, renderer %d\nrecipe %s\nencoding %s\nbudget %d\nsession %q\nagent %q\n",
		RendererVersion, r.Name, encoding, in.Budget, in.Session, in.Agent)
	for _, f := range in.Files {
		fmt.Fprintf(h, "file %q %q %q stale %v reason %q bytes %d sha256 %x\n",
			f.Source, f.ID, f.Path, f.Stale, f.Reason, len(f.Data), sha256.Sum256(f.Data))
	}
	fmt.Fprintf(h, "messages %d chain %s\n", in.Messages.Len(), in.Head)
	if n := len(in.Tools); n > 0 {
		fmt.Fprintf(h, "events %d last %+v chain %s\n", n, in.Tools[n-1], in.EventsHead)
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil))
}
