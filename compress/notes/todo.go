package notes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
)

// States of an item: how far it is.
const (
	todoOpen   = ""
	todoActive = "a"
	todoDone   = "d"
	todoTicked = "D" // done, in a list that has nothing else: of an item that is known
	todoGone   = "g" // cancelled
)

var (
	todoStarts = phraseSet("todoStarts")
	todoSays   = phraseSet("todoSays")
	todoKept   = phraseSet("todoKept")
)

// todo returns the item that a sentence states, behind "TODO:", "don't forget to", "we still
// need to"; ok is false if it states none.
func (f *finder) todo(s *sentence) (Finding, bool) {
	w := s.words
	if s.question || len(w) < 3 || unsaid.has(w) || asksBack(w) {
		return Finding{}, false
	}
	for i := range w {
		if !clauseStart(w, i) && !(i > 0 && (w[i-1].text == "also" || w[i-1].text == "is" || w[i-1].text == "to")) {
			continue
		}
		if n := todoStarts.at(w, i); n > 0 && i+n < len(w)-1 && w[i+n].text == ":" && i < 3 {
			return spokenItem(strings.TrimSpace(s.text[w[i+n].to:]))
		}
		if n := todoSays.at(w, i); n > 0 && i+n < len(w) && (f.role == "user" || strings.Contains(s.text, "still")) {
			if weakItem(w[i+n:]) {
				return Finding{}, false
			}
			return spokenItem(s.text)
		}
	}
	return Finding{}, false
}

// keptItems returns the items that a sentence of the user puts on a list: "please keep them in the
// todo list: watching files, removing entries".
func (f *finder) keptItems(s *sentence) (out []Finding) {
	i, n := todoKept.in(s.words)
	if f.role != people || s.question || i < 0 || i+n >= len(s.words)-1 || s.words[i+n].text != ":" {
		return nil
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(s.text[s.words[i+n].to:], ";", ","), ",") {
		part = strings.TrimPrefix(strings.TrimRight(strings.TrimSpace(part), "."), "and ")
		if it, ok := spokenItem(part); ok && !weakItem(splitWords(part, nil)) {
			out = append(out, it)
		}
	}
	return out
}

// weakItem reports whether words name nothing that could be done: "don't forget to do that".
func weakItem(words []noteWord) bool {
	key := content(words, true)
	return key == "" || !strings.Contains(key, " ") && things.has(words)
}

// item returns the finding of one item of a list; ok is false if its text says nothing.
func item(text, state string) (Finding, bool) {
	text = compress.Clip(strings.Join(strings.Fields(text), " "), 240)
	if len(text) < 2 {
		return Finding{}, false
	}
	return Finding{Kind: FoundTodo, Text: text, State: state}, true
}

// spokenItem returns the finding of an item that somebody said in words. Nobody ticks such a
// one, so that it counts for some requests only.
func spokenItem(text string) (Finding, bool) {
	f, ok := item(text, todoOpen)
	f.N = spokenLasts
	return f, ok
}

// spokenLasts is for how many requests of the user after it an item counts that was said in words.
const spokenLasts = 32

// todoState returns how far an item is, by the words that agents' lists have for it.
func todoState(item map[string]any) string {
	for _, key := range []string{"status", "state"} {
		if s, ok := item[key].(string); ok {
			switch strings.ToLower(strings.ReplaceAll(s, "-", "_")) {
			case "completed", "complete", "done", "finished", "closed", "passed":
				return todoDone
			case "in_progress", "active", "running", "started", "doing", "current":
				return todoActive
			case "cancelled", "canceled", "dropped", "removed", "deleted", "skipped", "abandoned":
				return todoGone
			}
			return todoOpen
		}
	}
	for _, key := range []string{"done", "completed", "checked", "finished"} {
		if item[key] == true {
			return todoDone
		}
	}
	return todoOpen
}

// todoNames are the keys under which lists of items and their texts stand.
var (
	todoLists = []string{"todos", "plan", "items", "tasks", "steps", "todo", "newTodos"}
	todoTexts = []string{"content", "step", "text", "title", "description", "task", "subject", "name"}
)

// todoItems returns the items of a list in a call's arguments or an event. whole reports that
// there is a list, which then stands for all of what its writer has to do.
func todoItems(args map[string]any) (out []Finding, whole bool) {
	for _, key := range todoLists {
		list, ok := args[key].([]any)
		if !ok {
			continue
		}
		for _, e := range list[:min(len(list), maxItems)] {
			switch e := e.(type) {
			case string:
				if f, ok := item(e, todoOpen); ok {
					out = append(out, f)
				}
			case map[string]any:
				for _, name := range todoTexts {
					if text, ok := e[name].(string); ok && text != "" {
						if f, ok := item(text, todoState(e)); ok {
							out = append(out, f)
						}
						break
					}
				}
			}
		}
		return out, args["merge"] != true
	}
	return nil, false
}

// todoCall returns the items of a call of a tool that keeps a list: TodoWrite, todo_write,
// update_plan and what is named like them.
func todoCall(c Call) []Finding {
	name := compress.PlainName(c.Name)
	if !strings.Contains(name, "todo") && !slices.Contains(planTools, name) {
		return nil
	}
	var args map[string]any
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	out, whole := todoItems(args)
	if whole {
		out = append([]Finding{{Kind: FoundTodo, State: todoList, Tool: c.Name}}, out...)
	}
	return out
}

// todoList is the state of a finding without text that comes before the items of a whole list:
// those of the same tool that it does not name are gone.
const todoList = "l"

// maxItems is how many items of one list are read.
const maxItems = 64

// todoEvent returns the items of an event of type plan or todo.
func todoEvent(record string) []Finding {
	var args map[string]any
	if json.Unmarshal([]byte(record), &args) != nil {
		return nil
	}
	out, whole := todoItems(args)
	for _, key := range []string{"data", "payload", "plan"} {
		if inner, ok := args[key].(map[string]any); ok && !whole {
			out, whole = todoItems(inner)
		}
	}
	if whole {
		out = append([]Finding{{Kind: FoundTodo, State: todoList, Tool: "event"}}, out...)
	}
	return out
}
