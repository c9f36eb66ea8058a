package recipe

import (
	"slices"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// This is the table of all keys: the parser, the writer of effective recipes, the
// JSON Schema and the reference read it, and nothing of it is said a second time.

// kind is what a key's value looks like in YAML, and of which Go type it becomes.
type kind int

const (
	text      kind = iota // a string → string
	template              // a string with ${VARIABLES} → string
	version               // 1, 1.6 or "1.6.0" → nothing
	scalar                // any scalar, as it is written → string
	integer               // → int
	number                // → float64
	share                 // a number of tokens, or "6%" of the limit → ratio
	millis                // a whole number of milliseconds → time.Duration
	span                  // "10m", "1d" → time.Duration
	choice                // one of two words of Enum, the second → true
	boolean               // true or false → bool
	pattern               // a regular expression → string
	texts                 // a list of strings → []string
	oneOrMore             // a string, or a list of strings → []string
	globs                 // a list of doublestar patterns → []string
	command               // a list of strings with ${VARIABLES} → []string
	runs                  // a command, or a mapping Of generator → Generator
	mapping               // a mapping Of an object → a struct or a pointer to one
	mappings              // a list of these → a slice
	named                 // a mapping from names to these → a slice, sorted by Name
	variables             // a mapping from names to scalars → []Variable
)

// ratio is where a share goes.
type ratio struct {
	n       *int
	percent *bool
}

// object is a kind of mapping.
type object struct {
	Name string
	Is   string // in a sentence: "a source"; with a tag "a %s source"
	Doc  string
	// Tag is the key whose value decides which others are allowed; "" : none does.
	Tag    string
	Fields []field
}

// field is one key of an object.
type field struct {
	Key      string
	Kind     kind
	Of       string   // the object of mapping, mappings and named
	For      []string // values of the tag with which it is allowed; nil: with all. "" is for mappings without the tag
	Must     bool     // required wherever it is allowed
	Enum     []string
	Examples []string          // of a string that may be any
	Min, Max float64           // of numbers, and of a list's length; Max 0: no limit
	Above    bool              // Min itself is too small
	Default  string            // in YAML; "" : none
	Defaults map[string]string // by the tag's value, instead of Default
	Title    bool              // it becomes a heading
	Tunes    bool              // of a source: may be changed in one that is imported without repeating the rest
	Doc      string
	at       func(any) any // points to the field of a *Recipe, *Source, ...; nil: the loader has it
}

// objectOf finds an object by its name.
func objectOf(name string) *object {
	for i := range objects {
		if objects[i].Name == name {
			return &objects[i]
		}
	}
	panic("recipe: no object " + name)
}

// allows reports whether a mapping whose tag has this value may hold the field.
func (f *field) allows(tag string) bool { return f.For == nil || slices.Contains(f.For, tag) }

// fallback is the field's value where a mapping whose tag has this value does not give it.
func (f *field) fallback(tag string) string {
	if v, ok := f.Defaults[tag]; ok {
		return v
	}
	return f.Default
}

// Bounds of what a recipe says.
const (
	maxTokens  = 1<<31 - 1 // as in context/budget
	maxTimeout = 600_000   // ms
	maxWait    = 60_000    // ms
)

// encodings are those that package tokens counts in.
var encodings = []string{"o200k_base", "cl100k_base"}

// typeInfo is what is known of a type of source.
type typeInfo struct {
	Type  Type
	Path  string // of what it reads, for those that read one file or directory
	Phase Phase  // whatever its position is
	Doc   string
}

var types = []typeInfo{
	{TypeFile, "", "", "A file, as it is."},
	{TypeComputed, "", "", "What a command makes: its standard output, or the file that it writes."},
	{TypePipeline, "", "", "The output of a row of commands; each reads the output of the one before it."},
	{TypeJournal, "", "", "The conversation. A recipe has one at most; without one the pack has no records."},
	{TypeSystemRole, "${AGENT_HOME}/system_prompt.md", Stable, "The system prompt of the agent, else that of the strategy. Never cut."},
	{TypeTools, "${AGENT_HOME}/tools.json", Stable, "The tools, with sorted keys."},
	{TypeSkills, "${AGENT_HOME}/skills", Stable, "The skills that are active."},
	{TypePinned, "${SESSION}/context/pinned", "", "The session's pins, a block each. Never cut."},
	{TypeMemory, "${AGENT_HOME}/memory", "", "The memories that fit the task best."},
	{TypeKnowledge, "${AGENT_HOME}/knowledge", "", "The snippets of the knowledge base that fit the task best, with their paths."},
	{TypePlaybook, "${AGENT_HOME}/playbooks", "", "The playbook that fits the task best."},
	{TypeProject, "", "", "What other sessions of the workspace know, behind your notes of it: `notes.md` and `memory.md` of `home/<uid>/project`. It is taken at the session's first pack and at compactions."},
	{TypeHandoff, "${SESSION}/context/handoff.md", "", "What a parent hands to the session."},
	{TypeSummary, "${SESSION}/context/summary.md", "", "The summary of what was compacted."},
	{TypeFacts, "${SESSION}/context/facts.jsonl", "", "Facts, with their sources."},
	{TypeDecisions, "${SESSION}/context/decisions.jsonl", "", "Decisions, with their sources."},
	{TypeRefs, "${SESSION}/context/refs.jsonl", "", "Files and artifacts that were mentioned."},
	{TypeChildren, "", "", "Results of child sessions."},
	{TypeRecall, "", Dynamic, "Parts of old records that matter now and that the pack does not show otherwise."},
	{TypeErrors, "", "", "Errors and failed results, the newest last."},
	{TypePlan, "${SESSION}/context/plan.json", "", "The plan's goal and progress."},
	{TypeTodo, "${SESSION}/context/todo.md", "", "The open todos."},
}

// Groups of types that have keys of their own.
var (
	runsCommands = []string{string(TypeComputed), string(TypePipeline)}
	withRole     = []string{string(TypeFile), string(TypeComputed), string(TypePipeline)}
	onlyFile     = []string{string(TypeFile)}
	onlyComputed = []string{string(TypeComputed)}
	onlyPipeline = []string{string(TypePipeline)}
	onlyJournal  = []string{string(TypeJournal)}
	topped       = []string{string(TypeMemory), string(TypeKnowledge)}
	notJournal   = typeNames(func(t Type) bool { return t != TypeJournal })
	anyType      = typeNames(func(Type) bool { return true })
)

func typeNames(which func(Type) bool) (names []string) {
	for _, t := range types {
		if which(t.Type) {
			names = append(names, string(t.Type))
		}
	}
	return names
}

// mustExist are the defaults of on_missing that are not skip.
var mustExist = map[string]string{string(TypeFile): string(Error), string(TypeComputed): string(Error), string(TypePipeline): string(Error)}

// of adapts the function that returns the field of a T.
func of[T any](at func(*T) any) func(any) any { return func(v any) any { return at(v.(*T)) } }

// only returns the one stage of a computed_file.
func (s *Source) only() *Stage {
	if len(s.Stages) == 0 {
		s.Stages = make([]Stage, 1)
	}
	return &s.Stages[0]
}

var objects = []object{
	{Name: "recipe", Is: "a recipe", Doc: "The file itself.", Fields: []field{
		{Key: "version", Kind: version, Doc: "Version of the format, 1 or 1.x. It may be left out."},
		{Key: "import", Kind: oneOrMore, Min: 1, Doc: "Recipes that this one builds on: a path that begins with `./` or `../` (from the file it is written in) or ends in `.yaml`, or the name of a package in `node_modules/` or `packages/` of the agent's home."},
		{Key: "strategy", Kind: text, Examples: []string{"architect", "developer", "reviewer", "general"}, Doc: "Name of a strategy, built in or of `strategies`. Without it the agent's name chooses, else `general` applies.", at: of(func(r *Recipe) any { return &r.Strategy })},
		{Key: "model", Kind: text, Doc: "Name of the model. It decides the encoding that tokens are counted in.", at: of(func(r *Recipe) any { return &r.Model })},
		{Key: "encoding", Kind: text, Enum: encodings, Doc: "The encoding itself. It wins over `model`.", at: of(func(r *Recipe) any { return &r.Encoding })},
		{Key: "total_max_tokens", Kind: integer, Max: maxTokens, Doc: "Budget of the pack in tokens; 0 is no limit. A `context/budget` that is not empty wins.", at: of(func(r *Recipe) any { return &r.TotalMaxTokens })},
		{Key: "reserve_tokens", Kind: integer, Max: maxTokens, Default: "0", Doc: "Tokens of the budget that are kept free for the answer.", at: of(func(r *Recipe) any { return &r.ReserveTokens })},
		{Key: "wait_ms", Kind: millis, Max: maxWait, Default: "500", Doc: "How long a read waits for the commands of optional sources before it uses their last output. It waits for those of required ones up to their `timeout_ms`.", at: of(func(r *Recipe) any { return &r.Wait })},
		{Key: "history", Kind: mapping, Of: "history", Doc: "When and how far the journal is compacted.", at: of(func(r *Recipe) any { return &r.History })},
		{Key: "summarizer", Kind: mapping, Of: "summarizer",
			Doc: "A command or a model that summarizes compacted messages: " +
				"see [A summary of your own](#a-summary-of-your-own).",
			at: of(func(r *Recipe) any { return &r.Summarizer })},
		{Key: "summary_request", Kind: text, Enum: []string{string(AskAuto), string(AskOn), string(AskOff)},
			Default: string(AskAuto),
			Doc: "Whether the end of the pack asks the agent for a summary before a compaction: " +
				"see [The request for a summary](abi.md#the-request-for-a-summary). `auto` asks agents that " +
				"have delivered a summary or read `context/summary.request/`. A recipe with a `summarizer` never asks.",
			at: of(func(r *Recipe) any { return &r.SummaryRequest })},
		{Key: "structural_variation", Kind: boolean, Default: "false", Doc: "Writes the goal at the end of the pack another way with each record: progress as a fraction, a percentage, a bar, or a count, other labels, list marks, and separators. Its statements stay the same, and so does everything before it.", at: of(func(r *Recipe) any { return &r.Variation })},
		{Key: "env", Kind: variables, Doc: "Variables for paths and commands, and for the commands' environment. Values are taken as they are written; `context/env` wins.", at: of(func(r *Recipe) any { return &r.Env })},
		{Key: "messages", Kind: mappings, Of: "message", Min: 1, Max: maxSources, Doc: "Messages instead of the strategy's sections.", at: of(func(r *Recipe) any { return &r.Messages })},
		{Key: "strategies", Kind: named, Of: "strategy", Doc: "Strategies by their names, beside the built-in ones or instead of one of them.", at: of(func(r *Recipe) any { return &r.Strategies })},
		{Key: "sources", Kind: mappings, Of: "source", Min: 1, Max: maxSources, Doc: "What the pack is made of, in this order within each phase. Required, unless all comes from an import."},
	}},
	{Name: "history", Is: "history", Doc: "Shares of the journal's room.", Fields: []field{
		{Key: "high", Kind: number, Above: true, Max: 1, Default: "1.0", Doc: "The journal is compacted when it passes this.", at: of(func(h *History) any { return &h.High })},
		{Key: "low", Kind: number, Above: true, Max: 1, Default: "0.78", Doc: "A compaction brings it down to this, with what it keeps of old records.", at: of(func(h *History) any { return &h.Low })},
		{Key: "user_words", Kind: number, Max: 1, Default: "0.1", Doc: "Of that, for what the user said.", at: of(func(h *History) any { return &h.UserWords })},
		{Key: "summary", Kind: number, Max: 1, Default: "0.22", Doc: "For what was done, found and decided, and why.", at: of(func(h *History) any { return &h.Summary })},
		{Key: "files_and_runs", Kind: number, Max: 1, Default: "0.13", Doc: "For the files that calls name, and the last results of commands and other calls.", at: of(func(h *History) any { return &h.FilesAndRuns })},
		{Key: "key_lines", Kind: number, Max: 1, Default: "0.09", Doc: "For old lines that are kept word by word. They have what the others leave, too.", at: of(func(h *History) any { return &h.KeyLines })},
		{Key: "folded", Kind: number, Max: 1, Default: "0.05", Doc: "For the newest of the old records, in one line each.", at: of(func(h *History) any { return &h.Folded })},
		{Key: "min_gain", Kind: number, Max: 1, Default: "0.15", Doc: "A compaction that frees less does not happen.", at: of(func(h *History) any { return &h.MinGain })},
	}},
	{Name: "source", Is: "a source", Tag: "type", Doc: "One source of blocks. One without a `type` changes the source of the same `id` that an import brought.", Fields: []field{
		{Key: "type", Kind: text, Must: true, Enum: anyType, Doc: "What it is.", at: of(func(s *Source) any { return &s.Type })},
		{Key: "id", Kind: text, Title: true, Doc: "Name of its block, unique in the recipe. A source of a recipe that imports takes the place of the one with the same id.", at: of(func(s *Source) any { return &s.ID })},
		{Key: "path", Kind: template, For: onlyFile, Must: true, Doc: "The file. A relative path begins at `${CWD}`.", at: of(func(s *Source) any { return &s.Path })},
		{Key: "generator", Kind: runs, Of: "generator", For: onlyComputed, Must: true, Doc: "The command: a list of words, or a mapping.", at: of(func(s *Source) any { return &s.only().Generator })},
		{Key: "output_path", Kind: template, For: onlyComputed, Doc: "File that the command may write. If it does not write it, or without this key, its standard output is the content.", at: of(func(s *Source) any { return &s.only().Output })},
		{Key: "stages", Kind: mappings, Of: "stage", For: onlyPipeline, Must: true, Min: 1, Max: 32, Doc: "The commands, in order.", at: of(func(s *Source) any { return &s.Stages })},
		{Key: "refresh", Kind: text, For: runsCommands, Enum: []string{string(EachTurn), string(Compaction)}, Default: string(EachTurn), Tunes: true, Doc: "When it runs again: `turn` when the history grew, `compaction` when it was compacted; always when the command or the recipe changed.", at: of(func(s *Source) any { return &s.Refresh })},
		{Key: "cache", Kind: mapping, Of: "cache", For: runsCommands, Doc: "When its output is used again whatever the history does.", at: of(func(s *Source) any { return &s.Cache })},
		{Key: "top", Kind: integer, For: topped, Min: 1, Max: 100, Default: "3", Tunes: true, Doc: "How many of the best.", at: of(func(s *Source) any { return &s.Top })},
		{Key: "max_iterations", Kind: integer, For: onlyJournal, Min: 1, Max: maxTokens, Tunes: true, Doc: "How many iterations the journal shows: an answer of the assistant with its calls and their results is one. Without it, as many as fit.", at: of(func(s *Source) any { return &s.MaxIterations })},
		{Key: "step", Kind: integer, For: onlyJournal, Min: 1, Max: maxTokens, Default: "1", Tunes: true, Doc: "How many iterations are dropped at a time with `max_iterations`.", at: of(func(s *Source) any { return &s.Step })},
		{Key: "strategy", Kind: choice, For: onlyJournal, Enum: []string{"fold", "truncate_head"}, Default: "fold", Tunes: true, Doc: "`fold` compacts what does not fit, `truncate_head` drops the oldest.", at: of(func(s *Source) any { return &s.TruncateHead })},
		{Key: "phase", Kind: text, For: notJournal, Enum: []string{string(Stable), string(Session), string(Dynamic)}, Tunes: true, Doc: "Part of the pack; the journal is between `session` and `dynamic`. Default: `stable` for system_role, tools and skills, else `session` before the journal and `dynamic` after it.", at: of(func(s *Source) any { return &s.Phase })},
		{Key: "priority", Kind: integer, Max: 1_000_000, Default: "100", Tunes: true, Doc: "Sources with a smaller number get budget first. The order stays the same.", at: of(func(s *Source) any { return &s.Priority })},
		{Key: "max_tokens", Kind: share, Tunes: true, Doc: "Most tokens it may take, or a share of the budget as \"6%\". More is cut at a line, with the path of the rest. Without it a file is given whole, and the others have limits of their own.", at: of(func(s *Source) any { return ratio{&s.MaxTokens, &s.Percent} })},
		{Key: "on_missing", Kind: text, Enum: []string{string(Skip), string(Error)}, Default: string(Skip), Defaults: mustExist, Tunes: true, Doc: "What happens when it yields nothing: `skip` leaves it out, `error` builds no pack.", at: of(func(s *Source) any { return &s.OnMissing })},
		{Key: "role", Kind: text, For: withRole, Enum: []string{string(SystemRole), string(UserRole), string(RoleOfOwner)}, Default: string(SystemRole), Tunes: true, Doc: "Role of its text in the bodies of requests: `system` gives it authority, `user` makes it quoted data, `owner` is `system` for a file of the session's user or of root, else `user`.", at: of(func(s *Source) any { return &s.Role })},
		{Key: "condition", Kind: mapping, Of: "condition", Tunes: true, Doc: "When it is used. Without it, always.", at: of(func(s *Source) any { return &s.Condition })},
		{Key: "fallback", Kind: mappings, Of: "source", For: notJournal, Min: 1, Max: 16, Doc: "Sources to try, in order, when this one yields nothing. Each has its phase, priority and on_missing from here unless it says otherwise."},
	}},
	{Name: "generator", Is: "a generator", Doc: "A command, run as the owner of the session in `${CWD}`.", Fields: []field{
		{Key: "command", Kind: command, Must: true, Min: 1, Doc: "The program and its arguments; no shell parses them.", at: of(func(g *Generator) any { return &g.Command })},
		{Key: "timeout_ms", Kind: millis, Min: 1, Max: maxTimeout, Default: "30000", Doc: "After this it is killed, with all that it started.", at: of(func(g *Generator) any { return &g.Timeout })},
	}},
	{Name: "summarizer", Is: "a summarizer", Doc: "A program or a model that writes summaries: either `command` or " +
		"`openai`. It runs as the owner of the session, in an empty directory.", Fields: []field{
		{Key: "command", Kind: command, Min: 1, Doc: "The program and its arguments; no shell parses them.",
			at: of(func(g *Generator) any { return &g.Command })},
		{Key: "openai", Kind: template, Doc: "Base URL of an OpenAI-compatible API, up to `/v1`: " +
			"OpenAI, Ollama, vLLM, or llama-server.",
			at: of(func(g *Generator) any { return &g.OpenAI })},
		{Key: "model", Kind: template, Doc: "Name of the model. Required with `openai`.",
			at: of(func(g *Generator) any { return &g.Model })},
		{Key: "api_key_env", Kind: text, Doc: "Variable that contains the API key. It is set in `env`, in " +
			"`context/env`, or in the environment of a daemon that the owner of the session runs.",
			at: of(func(g *Generator) any { return &g.KeyEnv })},
		{Key: "timeout_ms", Kind: millis, Min: 1, Max: maxTimeout, Default: "30000",
			Doc: "Time after which ctxfs kills the program and its children. The default with `openai` is 300000.",
			at:  of(func(g *Generator) any { return &g.Timeout })},
	}},
	{Name: "stage", Is: "a stage", Doc: "One command of a pipeline.", Fields: []field{
		{Key: "generator", Kind: runs, Of: "generator", Must: true, Doc: "The command: a list of words, or a mapping.", at: of(func(s *Stage) any { return &s.Generator })},
		{Key: "output", Kind: template, Doc: "File that the command may write, instead of standard output.", at: of(func(s *Stage) any { return &s.Output })},
	}},
	{Name: "cache", Is: "a cache", Tag: "strategy", Doc: "When the output of a command is used again.", Fields: []field{
		{Key: "strategy", Kind: text, Must: true, Enum: []string{string(CacheFileHash), string(CacheTTL), string(CacheNever)}, Doc: "`file_hash`: while the files of `invalidate_on` stay as they are. `ttl`: for a time. `never`: each read of the pack runs it.", at: of(func(c *Cache) any { return &c.Strategy })},
		{Key: "invalidate_on", Kind: globs, For: []string{string(CacheFileHash)}, Must: true, Min: 1, Doc: "Patterns of files, relative to `${CWD}`; `**` stands for any directories.", at: of(func(c *Cache) any { return &c.InvalidateOn })},
		{Key: "ttl", Kind: span, For: []string{string(CacheTTL)}, Must: true, Doc: "How long: `90s`, `10m`, `1d`.", at: of(func(c *Cache) any { return &c.TTL })},
	}},
	{Name: "condition", Is: "a condition", Tag: "when", Doc: "Either `when` and what it needs, or one of `all`, `any` and `not`.", Fields: []field{
		{Key: "when", Kind: text, Enum: []string{string(TaskContains), string(FileExists), string(StateIs), string(TurnAtLeast), string(BudgetAtLeast)}, Doc: "What is checked.", at: of(func(c *Condition) any { return &c.When })},
		{Key: "pattern", Kind: pattern, For: []string{string(TaskContains)}, Must: true, Doc: "A regular expression (RE2) that the task matches, in any case.", at: of(func(c *Condition) any { return &c.Pattern })},
		{Key: "path", Kind: template, For: []string{string(FileExists)}, Must: true, Doc: "A file or directory that exists.", at: of(func(c *Condition) any { return &c.Path })},
		{Key: "state", Kind: oneOrMore, For: []string{string(StateIs)}, Must: true, Min: 1, Enum: ctxabi.States, Doc: "The state of the session, or a list of states. Not for a source before the journal.", at: of(func(c *Condition) any { return &c.States })},
		{Key: "n", Kind: integer, For: []string{string(TurnAtLeast)}, Must: true, Min: 1, Max: maxTokens, Doc: "At least this many answers of the assistant.", at: of(func(c *Condition) any { return &c.N })},
		{Key: "tokens", Kind: integer, For: []string{string(BudgetAtLeast)}, Must: true, Min: 1, Max: maxTokens, Doc: "A budget of at least this many tokens.", at: of(func(c *Condition) any { return &c.N })},
		{Key: "all", Kind: mappings, Of: "condition", For: []string{""}, Min: 1, Doc: "All of these are true.", at: of(func(c *Condition) any { return &c.All })},
		{Key: "any", Kind: mappings, Of: "condition", For: []string{""}, Min: 1, Doc: "One of these is true.", at: of(func(c *Condition) any { return &c.Any })},
		{Key: "not", Kind: mapping, Of: "condition", For: []string{""}, Doc: "This is not true.", at: of(func(c *Condition) any { return &c.Not })},
	}},
	{Name: "message", Is: "a message", Doc: "One message.", Fields: []field{
		{Key: "role", Kind: text, Must: true, Enum: []string{"system", "developer", "user", "assistant"}, Doc: "Who speaks.", at: of(func(m *Message) any { return &m.Role })},
		{Key: "content", Kind: text, Must: true, Doc: "Its text.", at: of(func(m *Message) any { return &m.Content })},
	}},
	{Name: "strategy", Is: "a strategy", Doc: "What an agent of one kind is shown.", Fields: []field{
		{Key: "system_prompt", Kind: text, Doc: "Used where the agent has no `system_prompt.md`.", at: of(func(s *Strategy) any { return &s.SystemPrompt })},
		{Key: "sections", Kind: mappings, Of: "section", Doc: "Blocks at the end of the session phase.", at: of(func(s *Strategy) any { return &s.Sections })},
		{Key: "leaves_out", Kind: texts, Doc: "Types or ids of sources that are not used.", at: of(func(s *Strategy) any { return &s.LeavesOut })},
	}},
	{Name: "section", Is: "a section", Doc: "A named part, from one of `from`, `path` and `text`.", Fields: []field{
		{Key: "name", Kind: text, Title: true, Must: true, Doc: "Its heading, unique in the strategy.", at: of(func(s *Section) any { return &s.Name })},
		{Key: "from", Kind: text, Enum: []string{"plan.issue", "plan.design", "plan.constraints", "plan.task", "plan.files", "plan.steps", "plan.acceptance", "review.diff"}, Doc: "A part of `context/plan.json`, or `context/review.diff`.", at: of(func(s *Section) any { return &s.From })},
		{Key: "path", Kind: template, Doc: "A file.", at: of(func(s *Section) any { return &s.Path })},
		{Key: "text", Kind: text, Doc: "The text itself.", at: of(func(s *Section) any { return &s.Text })},
		{Key: "max_tokens", Kind: integer, Min: 1, Max: maxTokens, Doc: "Most tokens it may take. Without it, it is given whole.", at: of(func(s *Section) any { return &s.MaxTokens })},
		{Key: "required", Kind: boolean, Default: "false", Doc: "Without it the strategy does not apply, and `general` does.", at: of(func(s *Section) any { return &s.Required })},
	}},
}
