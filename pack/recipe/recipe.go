package recipe

import (
	"slices"
	"time"
)

// Recipe is an effective recipe: imports merged, defaults filled in, checked.
// It survives being written as JSON and read again.
type Recipe struct {
	Name     string // path of the file it was read from, as Load was given it; "default" for the built-in one
	Files    []File // all files it was made from, the entry first; none for the built-in one
	Strategy string // "" : by the agent's name, else general
	Model    string // as written; gives the encoding when Encoding is ""
	Encoding string
	// TotalMaxTokens is -1 when the recipe does not say, 0 for no limit.
	TotalMaxTokens int
	ReserveTokens  int
	Wait           time.Duration // how long a read may wait for generators
	History        History
	Summarizer     *Generator
	SummaryRequest Asking     `json:",omitempty"`
	Variation      bool       // the goal is written another way each turn
	Env            []Variable // in order of their names
	Messages       []Message  // instead of the strategy's sections
	Strategies     []Strategy // built-in ones and those defined here, in order of their names
	Sources        []Source   // flat: the fallbacks of a source follow it
	// Origins is where each key was written ("model", "history.low", "env.NAME"). A key that it lacks has its default.
	Origins map[string]Origin
	Hash    string // SHA-256, hex, of all above that decides what a pack is; not of Name, Files and origins
}

// Has reports whether a source of r has the type t.
func (r *Recipe) Has(t Type) bool {
	return slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Type == t })
}

// Computes reports whether a source of r runs commands.
func (r *Recipe) Computes() bool {
	return slices.ContainsFunc(r.Sources, func(s Source) bool { return s.Type.Computed() })
}

// File is one file that a recipe was made from.
type File struct {
	Path     string // slash-separated, relative to the agent's home
	SHA256   string // hex
	Imported bool   // by another one
	Package  string // name of the package it is from, or ""
}

// Variable is one NAME=value of env.
type Variable struct{ Name, Value string }

// Message is one entry of messages.
type Message struct{ Role, Content string }

// History steers the journal. All are shares of its room.
type History struct {
	High         float64 // a compaction happens when the journal passes this
	Low          float64 // and brings it down to this
	UserWords    float64 // of that, for what the user said
	Summary      float64 // for what was done, found and decided, and why
	FilesAndRuns float64 // for the state of files, and how commands ended
	KeyLines     float64 // for verbatim old lines
	Folded       float64 // for records in one line each
	MinGain      float64 // a compaction that frees less does not happen
}

// Source is one source of blocks. Fields that its type does not have are zero.
type Source struct {
	Type     Type
	ID       string // as written; "" when it has none
	Block    string // id of its block, unique in the recipe: ID, else "file (DELTA.md)", "journal", "memory"
	Phase    Phase
	Priority int // smaller is served first; 100 when not given
	// MaxTokens is 0 when not given. With Percent it is a share of the limit instead, in hundredths of a percent.
	MaxTokens int
	Percent   bool
	OnMissing OnMissing
	Role      Role
	Condition *Condition // nil: always
	// Fallback is 0 for a source of its own, n for the n-th fallback of the last source before it that has 0.
	Fallback int

	// Path, with variables: the file of file; for the built-ins that read one, where it is.
	Path string
	Top  int // memory, knowledge: how many of the most relevant

	// computed_file has one stage, pipeline one or more.
	Stages  []Stage
	Refresh Refresh
	Cache   Cache

	// Of a journal.
	MaxIterations int  // 0: all
	Step          int  // how many iterations are dropped at a time, at least 1
	TruncateHead  bool // instead of compactions, the oldest records go

	Origin Origin
	// Origins is where each key was written ("path", "generator.command[1]"). A key that it lacks has its default.
	Origins map[string]Origin
}

// Stage is one command of a computed source.
type Stage struct {
	Generator
	Output string // path with variables; "": standard output is the content
}

// Generator is a command that makes content.
type Generator struct {
	Command []string // with variables
	Timeout time.Duration

	// OpenAI, Model, and KeyEnv belong to a summarizer without a command.
	OpenAI string `json:",omitempty"` // base URL of an API, with variables
	Model  string `json:",omitempty"` // name of the model, with variables
	KeyEnv string `json:",omitempty"` // variable that contains the API key; "" if none is needed
}

// SummarizeProgram is the name of the ctxfs binary in the result of [Generator.Words].
const SummarizeProgram = "ctxfs"

// Words returns the program and the arguments of g, with unexpanded variables. For an API, the
// program is [SummarizeProgram].
func (g *Generator) Words() []string {
	if g.OpenAI == "" {
		return g.Command
	}
	words := []string{SummarizeProgram, "summarize", "--openai", g.OpenAI, "--model", g.Model}
	if g.KeyEnv != "" {
		words = append(words, "--api-key-env", g.KeyEnv)
	}
	return words
}

// Cache decides when an output is used again.
type Cache struct {
	Strategy     CacheStrategy // "" : by Refresh
	InvalidateOn []string      // globs relative to ${CWD}; ** stands for any directories
	TTL          time.Duration
}

// Condition decides whether a source is used. Exactly one of its forms is set.
type Condition struct {
	When Predicate // "" with All, Any, Not
	// Pattern of task_contains: a regular expression of Go, case-insensitive. Path of file_exists, with variables.
	Pattern, Path string
	States        []string // of state_is
	N             int      // of turn_at_least and budget_at_least
	All, Any      []Condition
	Not           *Condition
}

// Strategy is a named recipe fragment: what an agent of one kind is shown.
type Strategy struct {
	Name         string
	SystemPrompt string    // used when system_role finds no file
	Sections     []Section // each a block of the SESSION phase, before the journal
	LeavesOut    []string  // types or ids of sources that are not used
	Origin       Origin
	Origins      map[string]Origin // as in Source
}

// Section is one named part of a strategy. One of From, Path and Text is set.
type Section struct {
	Name      string
	From      string // "plan.issue" "plan.design" "plan.constraints" "plan.task" "plan.files" "plan.steps" "plan.acceptance" "review.diff"
	Path      string // of a file, with variables
	Text      string
	MaxTokens int  // 0: whole
	Required  bool // without it the strategy does not apply: general does
}

// Origin is where something was written; the zero Origin is the built-in recipe.
type Origin struct {
	File         string // as in File.Path
	Line, Column int
}

// Type is the type of a source.
type Type string

// The types of sources.
const (
	TypeFile       Type = "file"
	TypeComputed   Type = "computed_file"
	TypeJournal    Type = "journal"
	TypePipeline   Type = "pipeline"
	TypeSystemRole Type = "system_role" // system_prompt.md
	TypeTools      Type = "tools"       // tools.json
	TypeSkills     Type = "skills"      // skills/
	TypePinned     Type = "pinned"      // context/pinned/
	TypeMemory     Type = "memory"      // memory/
	TypeKnowledge  Type = "knowledge"   // knowledge/
	TypePlaybook   Type = "playbook"    // playbooks/
	TypeSummary    Type = "summary"
	TypeFacts      Type = "facts"
	TypeDecisions  Type = "decisions"
	TypeRefs       Type = "refs"
	TypeChildren   Type = "children"
	TypeRecall     Type = "recall"
	TypeErrors     Type = "errors" // error events and failed results, newest last
	TypePlan       Type = "plan"   // goal and progress of context/plan.json
	TypeTodo       Type = "todo"
	TypeHandoff    Type = "handoff" // context/handoff.md
	TypeProject    Type = "project" // what the workspace's sessions know
)

// Computed reports whether sources of this type run commands.
func (t Type) Computed() bool { return t == TypeComputed || t == TypePipeline }

// Selected reports whether sources of this type are chosen by relevance to the task.
func (t Type) Selected() bool { return t == TypeMemory || t == TypeKnowledge || t == TypePlaybook }

// Required reports whether sources of this type stand verbatim in every pack and are never cut.
func (t Type) Required() bool { return t == TypeSystemRole || t == TypePinned }

// Phase is a part of a pack.
type Phase string

// The phases, in the order in which they stand. The journal stands between session and dynamic.
const (
	Stable  Phase = "stable"
	Session Phase = "session"
	Dynamic Phase = "dynamic"
)

// Role is the role of a source's text in the bodies of requests.
type Role string

// The roles of sources.
const (
	SystemRole  Role = "system"
	UserRole    Role = "user"  // as quoted data
	RoleOfOwner Role = "owner" // system if the file belongs to the session's user or to root, else user
)

// OnMissing decides what happens when a source yields nothing.
type OnMissing string

// What happens when a source yields nothing: it is left out, or no pack can be built.
const (
	Skip  OnMissing = "skip"
	Error OnMissing = "error"
)

// Refresh decides when a generator runs again.
type Refresh string

// A generator runs again when the history grew, or when it was compacted.
const (
	EachTurn   Refresh = "turn"
	Compaction Refresh = "compaction"
)

// CacheStrategy decides when an output is used again whatever the history does.
type CacheStrategy string

// The strategies of caches.
const (
	CacheFileHash CacheStrategy = "file_hash" // while the files of InvalidateOn stay as they are
	CacheTTL      CacheStrategy = "ttl"       // for a time
	CacheNever    CacheStrategy = "never"     // not at all: each look at the pack runs it
)

// Asking selects the packs that ask the agent for a summary.
type Asking string

// The values of summary_request.
const (
	AskAuto Asking = "auto" // ask agents that have delivered a summary or read a request
	AskOn   Asking = "on"   // ask every agent
	AskOff  Asking = "off"  // never ask
)

// Predicate is the elementary form of a condition.
type Predicate string

// The predicates.
const (
	TaskContains  Predicate = "task_contains"
	FileExists    Predicate = "file_exists"
	StateIs       Predicate = "state_is"
	TurnAtLeast   Predicate = "turn_at_least"
	BudgetAtLeast Predicate = "budget_at_least"
)
