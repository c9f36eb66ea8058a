package agents

import (
	"fmt"
	"path/filepath"

	"github.com/ctxfs/ctxfs/tests/agents/mock"
)

// program is an agent program as its user has it.
type program struct {
	name     string                      // of ctxfs install, and of its sessions' agent
	settings func(w *world)              // what the user has set before ctxfs came: where the provider is
	first    func(words string) []string // begins a conversation
	again    func(words string) []string // goes on with the last one of the project
	places   []string                    // directories of its settings, below the home
	kept     string                      // the pattern of its transcripts, below the home
}

var (
	claude = program{
		name:  "claude-code",
		first: func(words string) []string { return []string{"claude", "--dangerously-skip-permissions", "-p", words} },
		again: func(words string) []string {
			return []string{"claude", "--dangerously-skip-permissions", "--continue", "-p", words}
		},
		places: []string{".claude.json", ".claude/settings.json"},
		kept:   ".claude/projects/*/*.jsonl",
	}
	codex = program{
		name: "codex",
		settings: func(w *world) {
			w.write(filepath.Join(w.home, ".codex/config.toml"), fmt.Sprintf(codexSettings, w.api.URL))
		},
		first: func(words string) []string {
			return []string{"codex", "exec", codexAlone, codexFree, "--dangerously-bypass-hook-trust", words}
		},
		again: func(words string) []string {
			return []string{"codex", "exec", "resume", "--last", codexAlone, codexFree, "--dangerously-bypass-hook-trust", words}
		},
		places: []string{".codex/config.toml", ".codex/hooks.json"},
		kept:   ".codex/sessions/*/*/*/rollout-*.jsonl",
	}
	gemini = program{
		name:     "gemini",
		settings: func(w *world) { w.write(filepath.Join(w.home, ".gemini/settings.json"), geminiSettings) },
		first:    func(words string) []string { return []string{"gemini", "--yolo", "-p", words} },
		again:    func(words string) []string { return []string{"gemini", "--yolo", "--resume", "latest", "-p", words} },
		places:   []string{".gemini/settings.json"},
		kept:     ".gemini/tmp/*/chats/session-*.jsonl",
	}
	opencode = program{
		name: "opencode",
		settings: func(w *world) {
			w.write(filepath.Join(w.home, ".config/opencode/opencode.json"), fmt.Sprintf(opencodeSettings, w.api.URL))
		},
		first:  func(words string) []string { return []string{"opencode", "run", words} },
		again:  func(words string) []string { return []string{"opencode", "run", "--continue", words} },
		places: []string{".config/opencode/opencode.json", ".config/opencode/plugin/ctxfs.js"},
	}
	pi = program{
		name: "pi",
		settings: func(w *world) {
			w.write(filepath.Join(w.home, ".pi/agent/models.json"), fmt.Sprintf(piSettings, w.api.URL))
		},
		first: func(words string) []string {
			return []string{"pi", "--model", "mock/m1", "--thinking", "high", "-p", words}
		},
		again: func(words string) []string {
			return []string{"pi", "--model", "mock/m1", "--thinking", "high", "--continue", "-p", words}
		},
		kept: ".pi/agent/sessions/*/*.jsonl",
	}
)

// How codex exec runs outside of a repository and without asking.
const (
	codexAlone = "--skip-git-repo-check"
	codexFree  = "--dangerously-bypass-approvals-and-sandbox"
)

const codexSettings = `# mine
model = "gpt-5-codex"
model_provider = "mock"

[model_providers.mock]
name = "mock" # on loopback
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`

const geminiSettings = `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "general": { "enableAutoUpdate": false },
  "privacy": { "usageStatisticsEnabled": false }
}
`

const opencodeSettings = `{
  "$schema": "https://opencode.ai/config.json",
  "model": "mock/m1", "autoupdate": false, "share": "disabled",
  "provider": {"mock": {
    "npm": "@ai-sdk/anthropic", "name": "mock", "options": {"baseURL": "%s/v1", "apiKey": "x"},
    "models": {"m1": {"name": "m1", "reasoning": true, "limit": {"context": 200000, "output": 8000}}}
  }}
}
`

const piSettings = `{"providers": {"mock": {"baseUrl": "%s", "api": "anthropic-messages", "apiKey": "x", "models": [{"id": "m1", "name": "m1", "reasoning": true,
"input": ["text"], "contextWindow": 200000, "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
`

// set writes what the user of a program has set.
func (p program) set(w *world) {
	if p.settings != nil {
		p.settings(w)
	}
}

// scripts are what the model says where the user's words call for it.
var scripts = map[string]mock.Script{
	"work": {
		{Think: "I look at the folder first.", Text: "I look.", Calls: []mock.Call{{Tool: "shell", Args: object{"command": "echo hello; ls"}}}},
		{Think: "Now one that fails.", Calls: []mock.Call{{Tool: "shell", Args: object{"command": "echo no >&2; exit 3"}}, {Tool: "read", Args: object{"path": "README.md"}}}},
		{Text: "The command failed with 3."},
	},
	"readme": {
		{Calls: []mock.Call{{Tool: "read", Args: object{"path": "README.md"}}}},
		{Text: "I have read it."},
	},
	"retry": {{Fail: []int{529, 503}, Text: "It worked at last."}},
	"agent": {
		{Text: "I ask another.", Calls: []mock.Call{{Tool: "agent", Args: object{"description": "review the retry", "prompt": "Review the retry. [[play review]]"}}}},
		{Text: "The reviewer says that it is well."},
	},
	"review": {{Calls: []mock.Call{{Tool: "shell", Args: object{"command": "echo reviewed"}}}}, {Text: "It is well."}},
	"record": {
		{Calls: []mock.Call{{Tool: "append", Args: object{"messages": []object{{"role": "user", "content": told}}}}}},
		{Text: "I have recorded it."},
	},
	"remember": {
		{Calls: []mock.Call{{Tool: "search", Args: object{"query": "staging port never push", "scope": "agent"}}}},
		{Text: "It is 8443."},
	},
	"memory": {
		{Calls: []mock.Call{{Tool: "append", Args: object{"events": []object{{"type": "note", "text": "Noted by the tool."}}}}}},
		{Calls: []mock.Call{{Tool: "pack", Args: object{}}}},
		{Text: "That is my prompt."},
	},
}

type object = map[string]any
