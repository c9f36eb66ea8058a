package pack

// recipe says of what a pack is made and how its budget is shared. There is
// only the default one yet; it is data, so that a recipe read from a file can
// take its place.
type oldRecipe struct {
	Name    string // stands for the whole in a pack's id; the built-in ones change with RendererVersion only
	Reserve int    // tokens kept free for the answer
	History historyRule
	// OptionalShare is what all blocks that are not required may take together, in thousandths of the limit.
	OptionalShare int
	Sources       []source // in the order in which they stand in the pack
}

// historyRule steers the journal; all in thousandths of its room.
type historyRule struct {
	High    int // a compaction happens when the journal passes this
	Low     int // and brings it down to this
	MinGain int // a compaction that frees less does not happen
}

// source is one kind of block of a pack.
type source struct {
	ID       string // the block's id; pins append the file's name
	Kind     string // as pack.json calls it
	Phase    phase
	Trust    string // who wrote it: owner, workspace, agent, history
	Where    place
	Path     string // of the file, relative to Where
	Required bool   // stands verbatim and is never cut
	Cap      int    // tokens at a limit of capScale, scaled with the limit
	Group    string // sources of one group share one cap
}

// phase is a part of a pack. Nothing in an earlier phase depends on what changes in a later one.
type phase string

const (
	phaseStable  phase = "stable"
	phaseSession phase = "session"
	phaseJournal phase = "journal"
	phaseDynamic phase = "dynamic" // the footer
)

// place says where a source's file stands.
type place int

const (
	inAgentHome place = iota
	inSession
	inPinned    // all files of context/pinned, in name order
	inWorkspace // the session's cwd, read by Workspace
	inLog       // messages.jsonl
)

// capScale is the limit at which caps are what the recipe says.
const capScale = 32000

var defaultRecipe = oldRecipe{
	Name:          "default",
	History:       historyRule{High: 1000, Low: 550, MinGain: 150},
	OptionalShare: 300,
	Sources: []source{
		{ID: "system_prompt", Kind: "system", Phase: phaseStable, Trust: "owner", Where: inAgentHome, Path: "system_prompt.md", Required: true},
		{ID: "pinned", Kind: "pinned", Phase: phaseSession, Trust: "owner", Where: inPinned, Path: "context/pinned", Required: true},
		{ID: "AGENTS.md", Kind: "guide", Phase: phaseSession, Trust: "workspace", Where: inWorkspace, Path: "AGENTS.md", Cap: 2000, Group: "guides"},
		{ID: "DELTA.md", Kind: "guide", Phase: phaseSession, Trust: "workspace", Where: inWorkspace, Path: "DELTA.md", Cap: 2000, Group: "guides"},
		{ID: "summary", Kind: "summary", Phase: phaseSession, Trust: "agent", Where: inSession, Path: "context/summary.md", Cap: 500},
		{ID: "facts", Kind: "facts", Phase: phaseSession, Trust: "agent", Where: inSession, Path: "context/facts.jsonl", Cap: 600},
		{ID: "decisions", Kind: "decisions", Phase: phaseSession, Trust: "agent", Where: inSession, Path: "context/decisions.jsonl", Cap: 600},
		{ID: "refs", Kind: "refs", Phase: phaseSession, Trust: "agent", Where: inSession, Path: "context/refs.jsonl", Cap: 400},
		{ID: "conversation", Kind: "recent_messages", Phase: phaseJournal, Trust: "history", Where: inLog},
		{ID: "todo", Kind: "todo", Phase: phaseDynamic, Trust: "agent", Where: inSession, Path: "context/todo.md", Cap: 300},
	},
}

// source finds a source by its id.
func (r *oldRecipe) source(id string) source {
	for _, s := range r.Sources {
		if s.ID == id {
			return s
		}
	}
	return source{ID: id}
}
