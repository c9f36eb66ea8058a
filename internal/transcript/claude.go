package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/internal/adapter/claude"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/adapter"
)

// What Claude Code keeps beside the transcript <session>.jsonl:
//
//	<session>/subagents/agent-<id>.jsonl        the conversations of sub-agents, and
//	<session>/subagents/agent-<id>.meta.json    what they were started for
//	<session>/tool-results/*                    results that were too large for the model

// subagent is what a meta.json says of a sub-agent.
type subagent struct {
	chain       string // "": of none
	Type        string `json:"agentType"`
	Description string `json:"description"`
	Call        string `json:"toolUseId"`
}

// sessionOf returns a transcript and what belongs to it, where Claude Code or Gemini CLI keeps that beside it.
func sessionOf(file string) []source {
	dir := strings.TrimSuffix(file, ".jsonl")
	main := source{name: file, files: []string{file}, agent: subagentOf(file)}
	if filepath.Base(filepath.Dir(file)) == "subagents" {
		main.beside = toolResults(filepath.Dir(filepath.Dir(file)))
		return []source{main}
	}
	if dir == file {
		return []source{main}
	}
	main.beside = toolResults(dir)
	all := []source{main}
	names, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "subagents", "*.jsonl"))
	for _, n := range append(names, geminiSubagents(file)...) {
		all = append(all, source{name: n, files: []string{n}, beside: main.beside, agent: subagentOf(n)})
	}
	return all
}

// subagentOf reads the meta.json beside the transcript of a sub-agent.
func subagentOf(file string) (a subagent) {
	base := strings.TrimSuffix(file, ".jsonl")
	id, is := strings.CutPrefix(filepath.Base(base), "agent-")
	if !is || base == file {
		return a
	}
	data, err := ReadFile(base + ".meta.json")
	if err != nil || json.Unmarshal(data, &a) != nil {
		return subagent{}
	}
	a.chain = claude.SubagentChain(id)
	return a
}

// toolResults are the files of a session's tool-results.
func toolResults(dir string) map[string]*adapter.Beside {
	entries, _ := os.ReadDir(filepath.Join(dir, "tool-results"))
	files := map[string]*adapter.Beside{}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		file := filepath.Join(dir, "tool-results", e.Name())
		files[e.Name()] = &adapter.Beside{Read: func() ([]byte, error) {
			fi, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			if fi.Size() > ctxabi.MaxRecord/2 { // what is not plain takes more as JSON
				return nil, fmt.Errorf("has %d bytes, too many for a record; it is not imported", fi.Size())
			}
			return ReadFile(file)
		}}
	}
	return files
}

// Unnamed adds to lost the files beside transcripts that no record names.
func (ts Transcripts) Unnamed(lost *Losses) {
	seen := map[*adapter.Beside]bool{}
	for _, t := range ts {
		for _, name := range slices.Sorted(maps.Keys(t.beside)) {
			if b := t.beside[name]; !b.Named && !seen[b] && t.agent.chain == "" {
				lost.Add(t.Name, adapter.Loss{Where: "tool-results/" + name, What: "no record names it; it is not imported"})
			}
			seen[t.beside[name]] = true
		}
	}
}
