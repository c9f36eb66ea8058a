package recipe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/ctxabi"
)

// Warnings returns what is allowed but unwise, in the order of the recipe's lines.
func (r *Recipe) Warnings() (w []Problem) {
	journal := slices.IndexFunc(r.Sources, func(s Source) bool { return s.Type == TypeJournal })
	for i := range r.Sources {
		s := &r.Sources[i]
		warn := func(key, format string, args ...any) {
			at, ok := s.Origins[key]
			if !ok {
				at = s.Origin
			}
			w = append(w, Problem{Origin: at, Text: s.Block + ": " + fmt.Sprintf(format, args...)})
		}
		if journal >= 0 && s.Phase != Dynamic {
			s.warnPrefix(warn)
			s.warnTask(warn)
		}
		if s.Type.Required() && s.MaxTokens > 0 {
			warn("max_tokens", "max_tokens has no effect: it is given whole or not at all")
		}
		if name := sessionFile(s.Path); s.Type == TypeFile && ctxabi.IsView(name) {
			warn("path", "it yields nothing: ctxfs makes %s from the history, and a source reads what was written", name)
		}
		if s.Percent && r.TotalMaxTokens == 0 {
			warn("max_tokens", "a share of a budget without a limit is no limit")
		}
	}
	at := func(key string) Origin {
		if at, ok := r.Origins[key]; ok {
			return at
		}
		return r.start()
	}
	if journal < 0 {
		w = append(w, Problem{Origin: r.start(), Text: "no source has the type journal: the pack has no record of the conversation"})
	}
	if r.Summarizer != nil && (journal < 0 || r.Sources[journal].MaxIterations > 0 || r.Sources[journal].TruncateHead) {
		w = append(w, Problem{Origin: at("summarizer"), Text: "summarizer is never run: only a journal that is compacted has a summary, none with max_iterations or truncate_head"})
	}
	if r.TotalMaxTokens > 0 && r.ReserveTokens >= r.TotalMaxTokens {
		w = append(w, Problem{Origin: at("reserve_tokens"), Text: fmt.Sprintf("reserve_tokens is %d and leaves nothing of total_max_tokens, which is %d", r.ReserveTokens, r.TotalMaxTokens)})
	}
	for _, t := range r.Strategies {
		if t.Origin == (Origin{}) {
			continue
		}
		for i, name := range t.LeavesOut {
			if !slices.Contains(anyType, name) && !slices.ContainsFunc(r.Sources, func(s Source) bool { return s.ID == name }) {
				w = append(w, Problem{Origin: t.Origins[fmt.Sprintf("leaves_out[%d]", i)], Text: fmt.Sprintf("leaves_out of %s names %.60q, which is neither a type nor the id of a source", t.Name, name)})
			}
		}
	}
	return w
}

// restless are the files of a session that change with its records.
var restless = []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.StateFile, ctxabi.TodoFile, ctxabi.PlanFile}

// sessionFile is the path of a file of the session, relative to it, as far as the recipe alone tells; else "".
func sessionFile(p string) string {
	rest, ok := strings.CutPrefix(p, "${"+VarSession+"}/")
	if !ok {
		return ""
	}
	return path.Clean(rest)
}

// start is the place for what concerns all of the recipe.
func (r *Recipe) start() Origin {
	if len(r.Files) == 0 {
		return Origin{}
	}
	return Origin{r.Files[0].Path, 1, 1}
}

// warnTask warns of a source before the journal that is to follow the task: what stands there changes at a compaction only.
func (s *Source) warnTask(warn func(key, format string, args ...any)) {
	const late = "before the journal it looks at the first request, and from a compaction on at the last request before that; put it after the journal, so that it follows the task"
	if s.Type.Selected() {
		warn("type", "%s", late)
	}
	if s.Condition != nil {
		s.Condition.each("condition", func(key string, c *Condition) {
			if c.When == TaskContains {
				warn(key+".when", "task_contains: %s", late)
			}
		})
	}
}

// warnPrefix returns why a source of the head, or the journal, makes the prefix of a pack change often.
func (s *Source) warnPrefix(warn func(key, format string, args ...any)) {
	const breaks = "so the prefix of the pack changes each time"
	switch {
	case s.Type == TypeJournal && s.TruncateHead:
		warn("strategy", "truncate_head drops records as new ones come, %s", breaks)
	case s.Type == TypeJournal && s.MaxIterations > 0 && s.Step == 1:
		warn("max_iterations", "it drops an iteration with each new one, %s; give it a step, for example %d", breaks, max(2, s.MaxIterations/4))
	case slices.Contains([]Type{TypeTodo, TypePlan, TypeErrors, TypeRecall, TypeChildren}, s.Type):
		warn("phase", "it changes as the session goes on, %s; put it after the journal", breaks)
	case s.Type.Computed() && s.Cache.Strategy == CacheNever:
		warn("cache.strategy", "it runs at each read of the pack and is before the journal, %s its output does", breaks)
	case s.Type.Computed() && s.Cache.Strategy == CacheTTL:
		warn("cache.strategy", "it runs again when its ttl has passed and is before the journal, %s its output does", breaks)
	case s.Type.Computed() && s.Cache.Strategy == "" && s.Refresh == EachTurn:
		warn("refresh", "it runs each turn and is before the journal, %s its output does; use refresh: compaction, or put it after the journal", breaks)
	case s.Type == TypeFile && slices.Contains(restless, sessionFile(s.Path)):
		warn("path", "it changes as the session goes on, %s; put it after the journal", breaks)
	}
}
