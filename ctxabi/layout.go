package ctxabi

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Limits of the contract, in bytes unless said otherwise.
const (
	MaxRecord      = 16 << 20  // one record, without its newline
	MaxDepth       = 1000      // nesting of JSON values in a record
	MaxName        = 128       // a name of an agent, session or child
	MaxStaged      = 256 << 20 // staged by one uid
	MaxStages      = 1024      // handles with a stage, of one uid
	MaxControl     = 1 << 20   // a control file
	MaxBlob        = 256 << 20 // a blob that a user stores
	DefaultBudget  = 32000     // tokens
	MaxErrorRows   = 100       // rows kept in errors.jsonl
	ContentIDBytes = 64        // hex digits of a content id
)

// Names of the files of a session, relative to it.
const (
	MessagesFile  = "messages.jsonl"
	EventsFile    = "events.jsonl"
	LatestFile    = "latest.md"
	StateFile     = "state"
	CwdFile       = "cwd"
	MetaFile      = "meta.json"
	CreatedFile   = "created_at"
	UpdatedFile   = "updated_at"
	ContextDir    = "context"
	BudgetFile    = "context/budget"
	PolicyFile    = "context/gc.policy"
	RecipeFile    = "context/context.yaml"
	EnvFile       = "context/env"
	ProjectFile   = "context/project" // the workspace of the session, where that is not its cwd
	PlanFile      = "context/plan.json"
	DiffFile      = "context/review.diff"
	HandoffFile   = "context/handoff.md"
	PackFile      = "context/pack.md"
	PackJSONFile  = "context/pack.json"
	ReportFile    = "context/pack.report.md"
	OpenAIFile    = "context/pack.openai.json"
	AnthropicFile = "context/pack.anthropic.json"
	ResponsesFile = "context/pack.responses.json"
	GeminiFile    = "context/pack.gemini.json"
	GenAIFile     = "context/pack.genai.json"
	SummaryFile   = "context/summary.md"
	SummariesDir  = "context/summaries"
	AskDir        = "context/summary.request" // files of the summary request
	AskFile       = "context/summary.request/request.json"
	AskPromptFile = "context/summary.request/prompt.md"
	FactsFile     = "context/facts.jsonl"
	DecisionsFile = "context/decisions.jsonl"
	TodoFile      = "context/todo.md"
	RefsFile      = "context/refs.jsonl"
	ErrorsFile    = "context/errors.jsonl"
	PinnedDir     = "context/pinned"
	LineDir       = "context/line"
	AtDir         = "context/at"
	ServedDir     = "context/served"
	PacksFile     = "context/packs.jsonl"
	JournalFile   = "context/journal.jsonl"
	RequestsFile  = "context/requests.md"
	SwapDir       = "context/swap"
	SwapIndexFile = "context/swap/index.jsonl"
	SwapChunkDir  = "context/swap/chunk"
	DedupDir      = "context/dedup"
	DedupIndex    = "context/dedup/index.jsonl"
	DedupBlobDir  = "context/dedup/blob"
	ChildDir      = "context/child"
	SearchDir     = "context/search"
	RecentFile    = "context/search.recent"
	GCReportFile  = "context/gc.report"
	InternalDir   = ".ctxfs" // in the store only, never in the mount
)

// RequestFiles are the packs that are bodies of requests.
var RequestFiles = []string{OpenAIFile, AnthropicFile, ResponsesFile, GeminiFile, GenAIFile}

// AskBody returns the path of the request body in AskDir that has the same format as a native
// rendering, such as OpenAIFile.
func AskBody(pack string) string {
	return AskDir + "/" + strings.TrimPrefix(pack, ContextDir+"/pack.")
}

// IsView reports whether a file of a session, by its path relative to it, is made when somebody looks at it: the store has no such file.
func IsView(rel string) bool {
	switch rel {
	case LatestFile, CreatedFile, UpdatedFile, PackFile, PackJSONFile, ReportFile, ErrorsFile, PacksFile,
		JournalFile, RequestsFile, RecentFile, GCReportFile:
		return true
	}
	if slices.Contains(RequestFiles, rel) {
		return true
	}
	for _, dir := range []string{LineDir, AtDir, ServedDir, SummariesDir, AskDir, SwapDir, DedupDir, SearchDir} {
		if strings.HasPrefix(rel, dir+"/") {
			return true
		}
	}
	return false
}

// OfHistory reports whether the file at rel, a path relative to a session, contains records of the
// session, its notes, or results of its children.
func OfHistory(rel string) bool {
	rel = "/" + rel
	for _, name := range []string{MessagesFile, EventsFile, PlanFile, DiffFile, SummaryFile, FactsFile, DecisionsFile, TodoFile, RefsFile} {
		if strings.HasSuffix(rel, "/"+name) {
			return true
		}
	}
	return strings.Contains(rel, "/"+ChildDir+"/") || strings.Contains(rel, "/"+SummariesDir+"/") ||
		strings.Contains(rel, "/"+AskDir+"/")
}

// Attributes of a session's directory. All but ProjectAttr are set, to do what no call of a file system says.
const (
	ForkAttr    = "user.ctx.fork"    // NAME, NAME@LINE or AGENT/NAME@LINE: makes a session with this one's history, up to that message
	ArchiveAttr = "user.ctx.archive" // "1": seals what its logs have (see session/log.Log.Seal)
	RemoveAttr  = "user.ctx.remove"  // the session's name, to be sure: removes it with its history, for good
	ProjectAttr = "user.ctx.project" // read: the slug of the workspace whose memory the session shares; none if it shares none
	CollectAttr = "user.ctx.gc"      // "plan" or "sweep": says in context/gc.report what may go of the session, and lets it go
)

// Names in the directory of a child, context/child/<name>.
const (
	ChildAgent    = "agent"
	ChildSession  = "session"
	ChildStatus   = "status"
	ChildHandoff  = "handoff.md"
	ChildResult   = "result.md"
	ChildRefs     = "refs.jsonl"
	ChildArtifact = "artifact" // a directory of ordinary files
)

// ChildFiles are the files of a child's directory that ctxfs knows, in the order in which they are listed.
var ChildFiles = []string{ChildAgent, ChildSession, ChildStatus, ChildHandoff, ChildResult, ChildRefs}

// ChildPath is the directory of the child called name, relative to its parent, or a file in there: "context/child/rev-1/result.md".
func ChildPath(name string, file ...string) string {
	return path.Join(ChildDir, name, path.Join(file...))
}

// SplitChild takes apart what [ChildPath] joined: "context/child/rev-1/result.md" gives "rev-1" and "result.md", the directory of the
// child itself "rev-1" and "". ok is false for what does not lie in the directory of a child with a valid name.
func SplitChild(rel string) (name, file string, ok bool) {
	rest, ok := strings.CutPrefix(rel, ChildDir+"/")
	if !ok {
		return "", "", false
	}
	name, file, _ = strings.Cut(rest, "/")
	return name, file, ValidName(name) == nil
}

// IsChildFile reports whether rel is one of [ChildFiles] of some child.
func IsChildFile(rel string) bool {
	_, file, ok := SplitChild(rel)
	return ok && slices.Contains(ChildFiles, file)
}

// Names at the root of the mount and in an agent's home.
const (
	HomeDir          = "home"
	SharedDir        = "shared"
	AgentDir         = "agent"
	SessionDir       = "session"
	ReadmeFile       = "README.md"
	StatusFile       = "status"
	SystemPromptFile = "system_prompt.md"
	ToolsFile        = "tools.json"
	AgentRecipeFile  = "context.yaml"
	SkillsDir        = "skills"
	MemoryDir        = "memory"
	KnowledgeDir     = "knowledge"
	PlaybooksDir     = "playbooks"
	HomeSearchDir    = "search"      // of an agent, of a user
	TrustFile        = "trust.jsonl" // in home/<uid>
)

// IsPin reports whether a file called name in context/pinned is a pin. Dot-names,
// backups and the temporary files of editors and of sed -i are not.
func IsPin(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") && name != "4913" &&
		!(len(name) == len("sed??????") && strings.HasPrefix(name, "sed"))
}

// Ref is the place of a session: in a user's home, or in a shared space when
// Space is not empty.
type Ref struct {
	UID     uint32
	Space   string
	Agent   string
	Session string
}

// Owner returns "home/1000" or "shared/team".
func (r Ref) Owner() string {
	if r.Space != "" {
		return path.Clean(SharedDir + "/" + r.Space)
	}
	return HomeDir + "/" + strconv.FormatUint(uint64(r.UID), 10)
}

// AgentHome returns the agent's home: "home/1000/agent/coder".
func (r Ref) AgentHome() string { return path.Clean(r.Owner() + "/" + AgentDir + "/" + r.Agent) }

// Path returns "home/1000/agent/coder/session/s1", the same in the store and in the mount.
func (r Ref) Path() string {
	return path.Clean(r.Owner() + "/" + AgentDir + "/" + r.Agent + "/" + SessionDir + "/" + r.Session)
}

func (r Ref) String() string { return r.Path() }

// ParseRef reads what [Ref.Path] wrote; a leading slash and a trailing one are allowed.
// It returns ErrMalformed for anything else.
func ParseRef(p string) (Ref, error) {
	bad := func(why string) (Ref, error) {
		return Ref{}, E("parse", "", ErrMalformed,
			"%q is not a session path (%s); expected home/<uid>/agent/<agent>/session/<session>", p, why)
	}
	parts := strings.Split(strings.Trim(p, "/"), "/")
	if len(parts) != 6 || parts[2] != AgentDir || parts[4] != SessionDir {
		return bad("its parts do not match")
	}
	r := Ref{Agent: parts[3], Session: parts[5]}
	switch parts[0] {
	case HomeDir:
		uid, ok := ParseUID(parts[1])
		if !ok {
			return bad("bad uid")
		}
		r.UID = uid
	case SharedDir:
		if ValidName(parts[1]) != nil {
			return bad("bad space name")
		}
		r.Space = parts[1]
	default:
		return bad("begins with neither home nor shared")
	}
	if ValidName(r.Agent) != nil || ValidName(r.Session) != nil {
		return bad("bad name")
	}
	return r, nil
}

// ParseUID reads a canonical decimal uid: no sign, no leading zero, below 2^32-1.
func ParseUID(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 1<<32-1 || strconv.FormatUint(n, 10) != s {
		return 0, false
	}
	return uint32(n), true
}

// ValidName checks the name of an agent, session, child or space:
// [A-Za-z0-9][A-Za-z0-9._+-]{0,127}. It returns ErrMalformed for anything else.
func ValidName(s string) error {
	if s == "" || len(s) > MaxName {
		return E("name", "", ErrMalformed, "a name has 1 to %d characters, this one has %d", MaxName, len(s))
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._+-", rune(c))) {
			return E("name", "", ErrMalformed,
				"%q: a name begins with a letter or digit and contains only letters, digits and . _ + -", s)
		}
	}
	return nil
}
