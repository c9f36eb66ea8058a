package transcript

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/claude"
	"github.com/ctxfs/ctxfs/agents/adapter/formats"
	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// What Claude Code keeps beside the transcript <session>.jsonl:
//
//	<session>/subagents/agent-<id>.jsonl                    the conversations of sub-agents, and
//	<session>/subagents/agent-<id>.meta.json                what they were started for
//	<session>/subagents/workflows/<run>/agent-<id>.jsonl    those of the agents of a workflow, and
//	<session>/subagents/workflows/<run>/journal.jsonl       when they began, and their results
//	<session>/tool-results/*                                results that were too large for the model
//	agent-<id>.jsonl                                        once, the conversations of sub-agents of all sessions
const (
	claudeAgents    = "subagents"
	claudeResults   = "tool-results"
	claudeWorkflows = "workflows"
	claudeJournal   = "journal.jsonl"
)

// subagent is what a meta.json says of a sub-agent.
type subagent struct {
	chain       string // "": of none
	Type        string `json:"agentType"`
	Description string `json:"description"`
	Call        string `json:"toolUseId"`
}

// sessionOf returns a transcript and the related files that Claude Code, Codex, or Gemini CLI
// stores next to it.
func sessionOf(file string) []source {
	if head, err := headOf(file); err == nil && isOf("codex", file, head) {
		return codexSession(file, head)
	}
	main := source{name: file, files: []string{file}, agent: subagentOf(file)}
	if dir := agentsSession(file); dir != "" {
		main.beside = toolResults(dir)
		return []source{main}
	}
	dir := strings.TrimSuffix(file, ".jsonl")
	if dir == file {
		return []source{main}
	}
	main.beside = toolResults(dir)
	var parts []source
	var calls map[string]string
	for _, name := range filesBelow(file) {
		head, err := headOf(name)
		if filepath.Ext(name) != ".jsonl" || err == nil && len(head) == 0 {
			continue
		}
		part := source{name: name, files: []string{name}, beside: main.beside, agent: subagentOf(name)}
		f, known := formats.Detect(name, head)
		run := workflowOf(name)
		ofAgent := agentsSession(name) != "" || filepath.Dir(name) == filepath.Dir(file)
		switch {
		case run != "" && filepath.Base(name) == claudeJournal:
			part.format = claude.Format
		case !known || f != claude.Format && f.Name != "gemini" || f == claude.Format && !ofAgent:
			main.unread = append(main.unread, name)
			continue
		case run != "" && part.agent.Call == "":
			if calls == nil {
				calls = workflowCalls(file)
			}
			if id, is := agentID(name); is && calls[run] != "" {
				part.agent.chain, part.agent.Call = claude.SubagentChain(id), calls[run]
			}
		}
		parts = append(parts, part)
	}
	return append([]source{main}, parts...)
}

// filesBelow returns the files of a session except its transcript and its large tool results.
func filesBelow(file string) (files []string) {
	for _, dir := range []string{claudeSession(file), geminiAgents(file)} {
		if dir == "" {
			continue
		}
		filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
			switch {
			case err != nil: // gone, or of somebody else
				return nil
			case e.IsDir() && at == filepath.Join(dir, claudeResults):
				return fs.SkipDir
			case e.Type().IsRegular():
				files = append(files, at)
			}
			return nil
		})
	}
	agents, _ := filepath.Glob(filepath.Join(quoteGlob(filepath.Dir(file)), "agent-*.jsonl"))
	for _, name := range agents {
		if agentOwner(name) == filepath.Clean(file) {
			files = append(files, name)
		}
	}
	return files
}

// agentOwner returns the transcript of the session that started a sub-agent; file is the
// sub-agent's transcript in the same folder. It returns "" for any other file.
func agentOwner(file string) string {
	if _, is := agentID(file); !is || agentsSession(file) != "" {
		return ""
	}
	head, _ := headOf(file)
	session := gjson.GetBytes(head, "sessionId").Str
	owner := filepath.Join(filepath.Dir(file), session+".jsonl")
	if _, err := os.Stat(owner); err != nil || session == "" || session != filepath.Base(session) {
		return ""
	}
	return owner
}

// claudeSession returns the directory next to a transcript of Claude Code; "" if there is none or
// another program wrote the transcript.
func claudeSession(file string) string {
	dir := strings.TrimSuffix(file, ".jsonl")
	if fi, err := os.Stat(dir); dir == file || err != nil || !fi.IsDir() {
		return ""
	}
	if head, err := headOf(file); err != nil || claude.Format.Sniff(file, head) == 0 {
		return ""
	}
	return dir
}

// ownerOf returns the transcript of the session that a path belongs to; "" if it belongs to none.
func ownerOf(name string) string {
	for dir := name; ; dir = filepath.Dir(dir) {
		if owner := agentOwner(dir); owner != "" {
			return owner
		}
		if claudeSession(dir+".jsonl") != "" {
			return dir + ".jsonl"
		}
		if chat := geminiChat(dir); chat != "" {
			return chat
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// agentsSession returns the session directory that contains the sub-agent file; "" if the file is
// in no such directory.
func agentsSession(file string) string {
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == claudeAgents {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// workflowOf returns the workflow run that a file belongs to; "" if it belongs to none.
func workflowOf(file string) string {
	dir := filepath.Dir(file)
	if filepath.Base(filepath.Dir(dir)) != claudeWorkflows || agentsSession(file) == "" {
		return ""
	}
	return filepath.Base(dir)
}

var workflowRun = lazy.Regexp(claudeAgents + "/" + claudeWorkflows + `/([A-Za-z0-9._-]+)`)

// workflowCalls returns the IDs of the calls in a transcript that started workflows, keyed by run
// name.
func workflowCalls(file string) map[string]string {
	calls := map[string]string{}
	f, err := inputs.OpenRegular(file)
	if err != nil {
		return calls
	}
	defer f.Close()
	adapter.EachObjectBack(f, func(o gjson.Result) bool {
		for _, part := range o.Get("message.content").Array() {
			run := o.Get("toolUseResult.runId").Str
			if found := workflowRun().FindStringSubmatch(part.Get("content").Raw); run == "" && found != nil {
				run = found[1]
			}
			if id := part.Get("tool_use_id").Str; id != "" && run != "" {
				calls[run] = id // the first call of a run comes last
			}
		}
		return true
	})
	return calls
}

// agentID extracts the sub-agent ID from a file name. is reports whether the name has one.
func agentID(file string) (id string, is bool) {
	base, jsonl := strings.CutSuffix(filepath.Base(file), ".jsonl")
	id, is = strings.CutPrefix(base, "agent-")
	return id, is && jsonl
}

// subagentOf reads the meta.json beside the transcript of a sub-agent.
func subagentOf(file string) (a subagent) {
	id, is := agentID(file)
	if !is {
		return a
	}
	data, err := inputs.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".meta.json")
	if err != nil || json.Unmarshal(data, &a) != nil {
		return subagent{}
	}
	a.chain = claude.SubagentChain(id)
	return a
}

// toolResults returns the files in a session's tool-results directory, keyed by relative path.
func toolResults(session string) map[string]*adapter.Beside {
	dir := filepath.Join(session, claudeResults)
	files := map[string]*adapter.Beside{}
	filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		files[strings.TrimPrefix(file, dir+string(filepath.Separator))] = &adapter.Beside{Read: func() ([]byte, error) {
			fi, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			if fi.Size() > ctxabi.MaxRecord/2 { // what is not plain takes more as JSON
				return nil, fmt.Errorf("has %d bytes, too many for a record; it is not imported", fi.Size())
			}
			return inputs.ReadFile(file)
		}}
		return nil
	})
	return files
}

// Unnamed adds to lost the files beside transcripts that no record names, and those that are of no known format.
func (ts Transcripts) Unnamed(lost *Losses) {
	seen := map[*adapter.Beside]bool{}
	for _, t := range ts {
		for _, name := range t.unread {
			lost.Add(t.Name, adapter.Loss{Where: name, What: "is no transcript that is known; it is not imported"})
		}
		for _, name := range slices.Sorted(maps.Keys(t.beside)) {
			if b := t.beside[name]; !b.Named && !seen[b] && t.agent.chain == "" {
				lost.Add(t.Name, adapter.Loss{Where: claudeResults + "/" + name, What: "no record names it; it is not imported"})
			}
			seen[t.beside[name]] = true
		}
	}
}
