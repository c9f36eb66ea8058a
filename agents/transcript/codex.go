package transcript

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/agents/adapter"
	"github.com/ctxfs/ctxfs/agents/adapter/claude"
	"github.com/ctxfs/ctxfs/internal/inputs"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Codex writes each thread, including sub-agents and forks, to its own rollout,
// sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl. The first line describes the thread. The rollout
// of a sub-agent or a fork may begin with a copy of another thread's history.

// codexDirs are the sibling directories that contain rollouts.
var codexDirs = []string{"sessions", "archived_sessions"}

// thread is the metadata of a rollout. The zero value means that a file is not a rollout.
type thread struct {
	id     string
	parent string // the thread that started it as a sub-agent
	forked string // the thread that the user forked

	root string // the session to which a sub-agent belongs: the first of its parents
	from string // the rollout of the parent or the forked thread, "" if that is not there

	copied int // how many lines come before the first own one, once it is read
}

// threadOf parses the first line of a rollout. agent has its sub-agent metadata.
func threadOf(head []byte) (t thread, agent subagent) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	o := gjson.ParseBytes(line)
	if o.Get("type").Str != "session_meta" {
		return t, agent
	}
	meta := o.Get("payload")
	t.id = meta.Get("id").Str
	spawn := meta.Get("source.subagent.thread_spawn")
	t.parent = cmp.Or(spawn.Get("parent_thread_id").Str, meta.Get("parent_thread_id").Str)
	t.forked = meta.Get("forked_from_id").Str
	if meta.Get("source.subagent").Exists() || meta.Get("thread_source").Str == "subagent" {
		t.parent = cmp.Or(t.parent, t.forked, meta.Get("session_id").Str)
	}
	if t.parent == t.id {
		t.parent = ""
	}
	if t.parent != "" {
		t.forked = ""
		agent.chain = claude.SubagentChain(t.id)
		agent.Description = cmp.Or(spawn.Get("agent_nickname").Str, meta.Get("agent_nickname").Str)
		agent.Type = cmp.Or(spawn.Get("agent_role").Str, meta.Get("agent_role").Str, meta.Get("source.subagent").Str)
	}
	return t, agent
}

// among sets the fields of t that depend on the rollouts of other threads.
func (t *thread) among(rollouts map[string]string) {
	t.from = rollouts[cmp.Or(t.parent, t.forked)]
	t.root = t.parent
	for seen := map[string]bool{"": true, t.id: true}; !seen[t.root]; {
		seen[t.root] = true
		head, _ := headOf(rollouts[t.root])
		if above, _ := threadOf(head); !seen[above.parent] {
			t.root = above.parent
		}
	}
}

// codexSession returns a rollout and, recursively, the rollouts of the sub-agents that it started.
func codexSession(file string, head []byte) (all []source) {
	var rollouts map[string]string
	seen := map[string]bool{}
	var add func(file string, head []byte, call string)
	add = func(file string, head []byte, call string) {
		s := source{name: file, files: []string{file}}
		s.thread, s.agent = threadOf(head)
		s.agent.Call = call
		seen[s.thread.id] = true
		calls := spawned(file)
		if rollouts == nil && (s.thread.parent != "" || s.thread.forked != "" || len(calls) > 0) {
			rollouts = rolloutsWith(file)
		}
		s.thread.among(rollouts)
		all = append(all, s)
		for _, id := range slices.Sorted(maps.Keys(calls)) {
			head, err := headOf(rollouts[id])
			if t, _ := threadOf(head); err == nil && t.id == id && t.parent == s.thread.id && !seen[id] {
				add(rollouts[id], head, calls[id])
			}
		}
	}
	add(file, head, "")
	if main := &all[0]; main.thread.parent != "" {
		main.agent.Call = spawned(main.thread.from)[main.thread.id]
	}
	return all
}

var codexID = lazy.Regexp(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// rolloutsWith returns all rollouts of the Codex installation that wrote file, keyed by thread ID.
func rolloutsWith(file string) map[string]string {
	dirs := []string{filepath.Dir(file)}
	for dir := dirs[0]; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); base == codexDirs[0] || base == codexDirs[1] {
			dirs = []string{filepath.Join(filepath.Dir(dir), codexDirs[0]), filepath.Join(filepath.Dir(dir), codexDirs[1])}
			break
		}
	}
	rollouts := map[string]string{}
	for _, dir := range dirs {
		filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
			switch base := filepath.Base(at); {
			case err != nil:
				return nil
			case e.IsDir() && at != dir && len(dirs) == 1:
				return fs.SkipDir
			case strings.HasPrefix(base, "rollout-") && filepath.Ext(base) == ".jsonl":
				if ids := codexID().FindAllString(base, -1); ids != nil {
					rollouts[ids[len(ids)-1]] = at
				}
			}
			return nil
		})
	}
	return rollouts
}

// spawned maps the ID of each thread that a rollout mentions in an agent or thread ID to the ID of
// the call; "" if the line has no call.
func spawned(file string) map[string]string {
	calls := map[string]string{}
	f, err := inputs.OpenRegular(file)
	if err != nil {
		return calls
	}
	defer f.Close()
	lines := adapter.NewLines(f)
	for {
		l, err := lines.Next()
		if err != nil {
			return calls
		}
		if !bytes.Contains(l.Bytes, []byte("agent_id")) && !bytes.Contains(l.Bytes, []byte("thread_id")) {
			continue
		}
		call := gjson.GetBytes(l.Bytes, "payload.call_id").Str
		for _, id := range codexID().FindAllString(string(l.Bytes), -1) {
			calls[id] = cmp.Or(calls[id], call)
		}
	}
}

// firstID returns the source ID of the first record of a rollout; "" if there is none.
func firstID(file string) string {
	f, err := inputs.OpenRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	l, err := adapter.NewLines(f).Next()
	if err != nil {
		return ""
	}
	return adapter.Counter{}.ID(adapter.CompactJSON(l.Bytes))
}

// OfSubagent reports whether a file is the rollout of a sub-agent. An import of the parent includes
// it.
func OfSubagent(file string) bool {
	head, err := headOf(file)
	t, _ := threadOf(head)
	return err == nil && t.parent != "" && isOf("codex", file, head)
}
