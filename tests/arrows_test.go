package tests

// arrows is which rooms a room may import. A new room gets its line here.
var arrows = map[string][]string{
	// The store that several hosts share.
	"cluster/shared":            {},
	"cluster/shared/sharedtest": {"cluster/shared"},
	"cluster/postgres":          {"cluster/shared"},
	"cluster/follower":          {"cluster/shared", "internal/vfs", "session/arrival"},

	"ctxabi":          {},
	"internal":        {},
	"internal/tokens": {"ctxabi"},
	"session": {
		"ctxabi", "internal/handles", "internal/memory", "internal/vfs", "session/archive",
		"session/arrival", "session/blob", "session/disk", "session/log",
	},
	"session/sessiontest": {"ctxabi", "internal/memory", "internal/vfs", "session", "session/arrival", "session/disk", "session/log"},
	"compress":            {"internal/tokens", "ctxabi", "internal/lazy"},
	"pack/recipe":         {"ctxabi", "internal/lazy"},
	"pack/nativetest":     {},
	"pack":                {"internal/redact", "pack/recipe", "compress", "internal/tokens", "ctxabi", "compress/result", "compress/notes", "session/check", "pack/recall", "pack/blocks", "pack/native", "pack/journal", "pack/record", "pack/section"},
	"eval/exam":           {"eval", "internal/tokens", "internal/lazy"},
	"eval": {
		"compress", "compress/notes", "ctxabi", "internal/lazy", "internal/tokens", "pack",
		"pack/recipe", "pack/record", "pack/section", "session", "session/archive", "session/log",
	},
	"search": {
		"compress", "ctxabi", "internal/lru", "internal/memory", "internal/redact", "search/document",
		"search/excerpt", "search/segment", "session", "session/archive", "session/check",
		"session/disk", "session/log",
	},
	"search/excerpt":   {"compress", "ctxabi"},
	"search/segment":   {"ctxabi", "compress"}, // compress in its tests
	"search/document":  {"compress", "ctxabi", "search/excerpt", "session", "session/log"},
	"internal/lru":     {},
	"internal/figures": {},
	"internal/inputs":  {},
	"internal/lazy":    {},
	"internal/coder":   {},
	"views":            {},
	"views/inspect": {
		"ctxabi", "internal/tokens", "pack", "pack/builder", "pack/native", "pack/record", "session",
		"session/blob", "session/log",
	},
	"gc":            {"ctxabi"}, // session and pack through interfaces of its own
	"fs/mountpoint": {"internal/mounts", "internal/vfs", "session", "ctxabi"},
	"fs": {
		"ctxabi", "fs/mountpoint", "gc", "gc/world", "internal/beneath", "internal/handles",
		"internal/lazy", "internal/lru", "internal/memory", "internal/mounts", "pack", "pack/builder",
		"pack/native", "pack/project", "pack/swap", "search", "session", "session/archive",
		"session/arrival", "session/blob", "session/check", "session/disk", "session/log",
	},
	"agents":                    {},
	"agents/adapter":            {"internal/calls", "internal/picture", "ctxabi", "internal/lazy"},
	"agents/adapter/bodies":     {"agents/adapter", "ctxabi"}, // what OpenAI's and Anthropic's messages have in common
	"agents/adapter/openai":     {"internal/picture", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/anthropic":  {"internal/picture", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/uimessages": {"internal/picture", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/converse":   {"internal/picture", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/codex":      {"internal/picture", "agents/adapter", "ctxabi"},
	"agents/adapter/responses":  {"internal/picture", "agents/adapter/codex", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/claude":     {"internal/calls", "internal/picture", "agents/adapter", "ctxabi", "internal/lazy"},
	"agents/adapter/openhands":  {"internal/picture", "agents/adapter", "ctxabi", "internal/lazy"},
	"agents/adapter/sweagent":   {"internal/picture", "agents/adapter", "ctxabi"},
	"agents/adapter/atif":       {"internal/picture", "agents/adapter", "ctxabi"},
	"agents/adapter/native":     {"agents/adapter", "ctxabi"},
	"agents/adapter/pi":         {"internal/picture", "agents/adapter", "ctxabi"},
	"agents/adapter/aider":      {"agents/adapter"},
	"agents/adapter/langchain":  {"internal/picture", "agents/adapter/bodies", "agents/adapter", "ctxabi"},
	"agents/adapter/opencode":   {"internal/picture", "agents/adapter", "ctxabi"},
	"agents/adapter/gemini":     {"internal/picture", "agents/adapter", "agents/adapter/bodies", "ctxabi", "internal/lazy"},
	"agents/adapter/formats": {
		"agents/adapter", "agents/adapter/aider", "agents/adapter/anthropic", "agents/adapter/atif",
		"agents/adapter/claude", "agents/adapter/codex", "agents/adapter/gemini", "agents/adapter/langchain",
		"agents/adapter/native", "agents/adapter/opencode", "agents/adapter/openai", "agents/adapter/openhands",
		"agents/adapter/pi", "agents/adapter/responses", "agents/adapter/sweagent", "ctxabi",
		"agents/adapter/converse", "agents/adapter/uimessages",
	},
	"agents/adapter/adaptertest": {"agents/adapter/formats", "agents/adapter", "ctxabi"},
	"agents/transcript": {
		"agents/adapter", "agents/adapter/claude", "agents/adapter/formats", "ctxabi",
		"internal/inputs", "internal/lazy", "internal/mounts", "internal/redact", "internal/usage",
		"session", "session/disk", "session/log",
	}, // import and export
	"internal/redact":            {"internal/lazy"}, // texts alone, as compress: what packs and searches show is redacted where they read it, as a whole
	"internal/redact/redacttest": {},
	"agents/mcp":                 {"agents/mcp/memory", "agents/brief", "ctxabi", "internal/lazy"}, // a client of the mount, like any other
	"agents/mcp/memory":          {},
	"internal/volume":            {"ctxabi"},
	"internal/usage":             {},
	"run":                        {},
	"run/trust":                  {"pack/source", "internal/locate", "ctxabi"},
	"agents/hook": {"internal/inputs", "agents/adapter", "agents/adapter/formats", "agents/transcript",
		"internal/locate", "agents/mcp", "internal/mounts", "ctxabi", "internal/daemon", "agents/brief",
		"internal/jobs", "internal/process", "compress/notes"},
	"agents/install": {},
	"agents/brief":   {"internal/mounts", "ctxabi"},
	"internal/jobs":  {},
	"views/doctor": {"session", "internal/daemon", "internal/locate", "internal/mounts", "internal/handles",
		"internal/volume", "internal/lazy", "fs/mountpoint", "ctxabi"},
	"internal/daemon":  {"session", "internal/mounts"},
	"internal/locate":  {"session", "internal/daemon", "internal/mounts", "internal/usage", "ctxabi"},
	"internal/handles": {},
	"internal/process": {"ctxabi", "internal/jobs", "internal/mounts"},
	"internal/beneath": {"internal/handles"},
	"internal/memory":  {"ctxabi"},
	"internal/mounts":  {"ctxabi"},
	"run/runner":       {"ctxabi", "internal/beneath", "pack/source"},
	"views/overview": {
		"ctxabi", "internal/figures", "internal/lazy", "internal/mounts", "internal/process",
		"session/blob", "views/inspect",
	},
	"views/top":           {"internal/figures", "views/overview", "views/inspect", "internal/mounts", "ctxabi"},
	"views/web":           {"internal/figures", "views/overview", "internal/process", "views/inspect", "pack/native", "gc", "ctxabi"}, // a client of the mount; views/cli passes compiled packs to it
	"examples/clients/go": {},
	"examples/gen":        {},
	"compress/result": {
		"compress", "compress/toolcall", "internal/picture", "internal/tokens", "ctxabi", "internal/lazy",
	},
	"compress/toolcall": {"internal/coder", "compress", "ctxabi", "internal/lazy"},
	"compress/notes":    {"internal/coder", "compress/toolcall", "compress", "internal/tokens", "ctxabi", "internal/lazy"},
	"internal/suite":    {},
	"internal/picture":  {}, // what providers accept as an image
	"internal/calls":    {}, // what providers accept as a call, and its result
	"gc/world": {
		"ctxabi", "gc", "internal/beneath", "internal/handles", "pack", "pack/builder", "search",
		"session", "session/archive", "session/blob", "session/check", "session/log",
	},
	"session/arrival": {"internal/vfs"},
	"session/archive": {"ctxabi", "session/disk", "internal/vfs", "internal/lru"},
	"session/blob":    {"ctxabi", "session/disk", "internal/vfs", "internal/handles"},
	"session/check":   {"ctxabi", "session", "session/archive", "session/arrival", "session/blob", "session/disk", "session/log", "internal/vfs", "internal/lazy"},
	"session/log":     {"ctxabi", "session/archive", "session/arrival", "session/disk", "internal/vfs", "internal/handles", "internal/memory"},
	"session/disk":    {"ctxabi", "internal/vfs"},
	"internal/vfs":    {"ctxabi", "internal/handles"},
	"pack/project":    {"compress", "compress/notes"},
	"pack/packtest":   {"ctxabi", "internal/suite", "session", "session/log"},
	"pack/prefix":     {"compress/toolcall", "ctxabi", "internal/coder", "pack/packtest", "pack/record"}, // packtest in its tests
	"pack/section": {
		"compress/notes", "compress/toolcall", "ctxabi", "internal/coder", "pack/packtest", "pack/prefix", "pack/record",
		"pack/section/files",
		"pack/section/runs",
	}, // packtest in its tests
	"pack/section/files": {"compress", "compress/toolcall", "internal/coder", "internal/lazy", "pack/prefix"},
	"pack/section/runs": {
		"compress", "compress/notes", "compress/result", "compress/toolcall", "internal/coder", "internal/lazy", "pack/prefix",
	},
	"pack/journal": {"internal/coder", "compress/toolcall", "pack/prefix", "pack/section", "pack/section/runs", "pack/record", "pack/recipe", "compress", "internal/tokens", "ctxabi", "compress/notes", "compress/result"},
	"pack/native":  {"internal/calls", "internal/picture", "pack/record", "internal/tokens", "ctxabi"},
	"pack/blocks":  {"pack/native", "pack/record", "pack/recipe", "compress", "ctxabi", "compress/notes", "internal/lru", "internal/lazy"},
	"pack/recall": {"pack/blocks", "pack/journal", "pack/prefix", "pack/record", "search/segment", "compress",
		"internal/tokens", "ctxabi", "compress/notes"},
	"pack/record": {
		"internal/calls", "internal/picture", "compress", "ctxabi", "compress/notes", "compress/result",
		"compress/toolcall",
	},
	"pack/source": {
		"compress", "compress/notes", "ctxabi", "internal/beneath", "internal/handles",
		"internal/memory", "internal/redact", "internal/tokens", "pack", "pack/blocks",
		"pack/journal", "pack/prefix", "pack/recipe", "pack/record", "session", "session/archive", "session/disk",
		"session/log",
	},
	"pack/swap": {
		"compress", "compress/notes", "ctxabi", "pack", "pack/journal", "pack/prefix", "pack/record",
		"pack/source",
		"session", "session/archive", "session/blob",
	},
	"pack/builder": {
		"compress", "compress/notes", "ctxabi", "internal/lazy", "internal/lru", "internal/memory",
		"internal/redact", "internal/tokens", "pack", "pack/blocks", "pack/journal",
		"pack/native", "pack/prefix", "pack/project", "pack/recall", "pack/recipe", "pack/record",
		"pack/section", "pack/source", "pack/swap", "session", "session/archive", "session/blob", "session/check",
		"session/disk", "session/log",
	},

	// The command, and the verbs of each folder.
	"internal/cli": {
		"ctxabi", "internal/daemon", "internal/figures", "internal/inputs", "internal/locate",
		"internal/mounts", "internal/redact", "internal/usage", "pack/builder", "session",
		"session/disk",
	},
	"session/cli": {
		"ctxabi", "internal/cli", "internal/inputs", "internal/locate", "internal/mounts",
		"internal/process", "internal/usage", "search", "session", "session/archive", "session/arrival",
		"session/log",
	},
	"pack/cli": {
		"ctxabi", "internal/cli", "internal/daemon", "internal/inputs", "internal/locate", "internal/memory",
		"internal/redact", "pack/blocks", "pack/builder", "pack/native", "pack/recipe", "pack/source",
		"run/runner",
	},
	"search/cli": {
		"ctxabi", "internal/cli", "internal/daemon", "internal/locate", "internal/mounts", "internal/tokens",
		"internal/usage", "search", "session",
	},
	"gc/cli": {
		"ctxabi", "gc", "gc/world", "internal/cli", "internal/daemon", "internal/inputs", "internal/locate",
		"internal/mounts", "internal/volume", "pack/builder", "search", "session", "session/check",
	},
	"internal/chat": {"internal/lazy"},
	"run/cli": {
		"ctxabi", "internal/chat", "internal/cli", "internal/daemon", "internal/locate", "internal/mounts", "pack/cli",
		"pack/recipe", "pack/source", "run/runner", "run/trust",
	},
	"eval/cli": {"eval", "eval/exam", "internal/cli", "pack/cli", "pack/recipe", "pack/section"},
	"views/cli": {
		"ctxabi", "gc", "gc/cli", "internal/cli", "internal/daemon", "internal/locate", "internal/memory",
		"internal/mounts", "internal/usage", "pack/blocks", "pack/builder", "pack/cli", "pack/native",
		"pack/recipe", "pack/source", "run/runner", "views/inspect", "views/overview", "views/top",
		"views/web",
	},
	"agents/cli": {
		"agents/adapter", "agents/adapter/formats", "agents/hook", "agents/install", "agents/mcp",
		"agents/mcp/memory", "agents/transcript", "ctxabi", "internal/cli", "internal/daemon",
		"internal/locate", "internal/mounts", "internal/process", "internal/usage", "session",
		"session/disk", "views/doctor",
	},
	"fs/cli": {
		"ctxabi", "fs", "fs/mountpoint", "gc", "gc/world", "internal/cli", "internal/daemon",
		"internal/locate", "internal/memory", "internal/mounts", "internal/volume", "pack/builder",
		"run/runner", "search", "search/cli", "session",
	},
	"cmd/ctxfs": {
		"agents/cli", "ctxabi", "eval/cli", "fs/cli", "gc/cli", "internal/cli",
		"internal/inputs", "internal/lazy", "internal/locate", "internal/mounts", "internal/usage",
		"pack/cli", "run/cli", "search/cli", "session/cli", "views/cli", "views/doctor",
	},
}

// testArrows are what a room's test files may import beside that.
var testArrows = map[string][]string{
	"cluster/postgres": {"cluster/follower", "session/arrival"}, // two hosts and a real server
	"ctxabi":           {"internal/tokens"},                     // weights are measured against exact counts
	"cmd/ctxfs":        {"internal/daemon", "internal/locate", "internal/mounts", "internal/suite", "session"},
	"examples/gen":     {"ctxabi"},                           // the example's records pass the check
	"session/blob":     {"session"},                          // a session is what keeps them
	"session":          {"session/check", "session/arrival"}, // each test ends with a check of its store
	"session/log":      {"session", "session/check"},         // a store is what its logs are tested in
	"fs":               {"pack/source"},
	"pack":             {"session", "session/log"}, // the example of a history in memory
	"gc/world":         {"session/disk"},
	"internal/locate":  {"session/disk"},
	"pack/builder":     {"session/arrival"},
	"search":           {"internal/vfs"},
	"views/inspect":    {"session/arrival", "session/disk"},
}

// Test files may also use these, which exist for them.
var testHelpers = []string{"session/sessiontest", "pack/nativetest", "pack/packtest", "internal/redact/redacttest", "tests/harness", "agents/adapter/adaptertest", "internal/suite", "cluster/shared/sharedtest"}
