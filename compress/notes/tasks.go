package notes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// Some agents keep their list one item at a time, by numbers that the tool gives out: TaskCreate
// makes an item, its result names the number ("Task #1 created successfully"), TaskUpdate changes
// the item of a number, TaskList prints all of them.

// States of findings about numbered items, beside those of an item.
const (
	taskMade  = "m" // Path is the call that makes it
	taskNamed = "n" // Key is the number that the call of Path got
	taskKept  = "k" // its state stays
)

// taskList is the list that numbered items are of.
const taskList = "task"

var (
	taskGotNumber = lazy.Regexp(`^Task #([\w.-]{1,32}) created\b`)
	taskLine      = lazy.Regexp(`^#([\w.-]{1,32}) \[([a-z_ -]{1,20})\] (.+)$`)
	taskBehind    = lazy.Regexp(`(?: \([\w@.-]+\))?(?: \[blocked by [^\]]*\])?$`)
)

// KeepsList reports whether a tool of this name keeps a list of what is to do.
func KeepsList(tool string) bool {
	name := compress.PlainName(tool)
	return strings.Contains(name, "todo") || slices.Contains(planTools, name) || name == "taskcreate" || name == "taskupdate" || name == "tasklist"
}

// planTools are tools that keep one, whose names do not say so.
var planTools = []string{"updateplan", "setplan", "writeplan", "updatetasks", "plan"}

// taskCall returns the item that a call makes or changes by its number; none for other calls.
func taskCall(c Call) []Finding {
	name := compress.PlainName(c.Name)
	if name != "taskcreate" && name != "taskupdate" {
		return nil
	}
	var args struct {
		Subject string `json:"subject"`
		TaskID  any    `json:"taskId"`
		Status  string `json:"status"`
	}
	if json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	text, _ := item(args.Subject, "")
	f := Finding{Kind: FoundTodo, Text: text.Text, State: taskMade, Path: c.ID}
	if name == "taskcreate" {
		if f.Text == "" {
			return nil
		}
		return []Finding{f}
	}
	f.Path, f.State = "", taskKept
	switch id := args.TaskID.(type) {
	case string:
		f.Key = strings.TrimPrefix(strings.TrimSpace(id), "#")
	case float64:
		if number, err := json.Marshal(id); err == nil {
			f.Key = string(number)
		}
	}
	if args.Status != "" {
		f.State = todoState(map[string]any{"status": args.Status})
	}
	if f.Key == "" || len(f.Key) > 32 || f.State == taskKept && f.Text == "" {
		return nil
	}
	return []Finding{f}
}

// taskAnswer returns what the answer to such a call, or a list of all items, says of items.
func taskAnswer(a Answer) (out []Finding) {
	text := strings.TrimSpace(a.Text)
	switch compress.PlainName(a.Tool) {
	case "taskcreate":
		if m := taskGotNumber().FindStringSubmatch(text); m != nil {
			return []Finding{{Kind: FoundTodo, Key: m[1], State: taskNamed, Path: a.Call}}
		}
		if a.Failed {
			return []Finding{{Kind: FoundTodo, State: todoGone, Path: a.Call}}
		}
	case "tasklist":
		if a.Failed {
			return nil
		}
		out = []Finding{{Kind: FoundTodo, State: todoList, Tool: taskList}}
		for line := range strings.Lines(text) {
			m := taskLine().FindStringSubmatch(strings.TrimSpace(line))
			if m == nil || len(out) > maxItems {
				continue
			}
			if f, ok := item(taskBehind().ReplaceAllString(m[3], ""), todoState(map[string]any{"status": m[2]})); ok {
				f.Key = m[1]
				out = append(out, f)
			}
		}
		if len(out) == 1 && !strings.HasPrefix(text, "No tasks") {
			return nil
		}
	}
	return out
}

// addTask notes what is known of a numbered item. listed says that the number stands in a list
// of all.
func (n *State) addTask(f *Finding, listed bool, at Position) {
	of := func(is func(*todoRow) bool) int {
		for i := len(n.items) - 1; i >= 0; i-- {
			if t := &n.items[i]; t.list == taskList && is(t) {
				return i
			}
		}
		return -1
	}
	switch {
	case f.State == taskMade:
		n.items = append(n.items, todoRow{text: f.Text, key: ItemKey(f.Text), list: taskList, call: f.Path, at: at})
		return
	case f.State == taskNamed:
		for i := range n.items {
			if n.items[i].number == f.Key { // of a list before this one
				n.items[i].number = ""
			}
		}
		if i := slices.IndexFunc(n.items, func(t todoRow) bool { return t.list == taskList && t.call == f.Path && !t.named }); i >= 0 {
			n.items[i].number, n.items[i].named = f.Key, true
		}
		return
	}
	i := of(func(t *todoRow) bool { return f.Key != "" && t.number == f.Key || f.Key == "" && t.call == f.Path })
	switch {
	case i < 0 && listed && f.State != todoGone:
		n.items = append(n.items, todoRow{text: f.Text, key: ItemKey(f.Text), state: f.State, list: taskList, number: f.Key, named: true, at: at})
	case i < 0:
	case f.State == todoGone:
		n.items = slices.Delete(n.items, i, i+1)
	default:
		t := &n.items[i]
		t.at = at
		if f.State != taskKept {
			t.state = f.State
		}
		if f.Text != "" {
			t.text, t.key = f.Text, ItemKey(f.Text)
		}
	}
}
