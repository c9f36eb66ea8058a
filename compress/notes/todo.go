package notes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ctxfs/ctxfs/compress"
	"github.com/ctxfs/ctxfs/internal/lazy"
)

// States of an item: how far it is.
const (
	todoOpen   = ""
	todoActive = "a"
	todoDone   = "d"
	todoTicked = "D" // done, in a text that has no open item: only known items are ticked
	todoGone   = "g" // cancelled
	todoKept   = "k" // as before
	todoList   = "l" // no item, but the head of a whole list: items of the same tool that it does not name are gone
)

// Bounds of items.
const (
	maxItems = 64 // items of one list
	maxItem  = 240
	lasts    = 32 // requests after which an item of the user's own list is over, since nobody ticks it
)

// item returns the finding of one item of a list; ok is false if its text says nothing.
func item(text, state string) (Finding, bool) {
	text = compress.Clip(oneLine(text), maxItem)
	return Finding{Kind: FoundTodo, Text: text, State: state}, len(text) > 1
}

// numberedItem returns the finding of an item of a numbered list of the user.
func numberedItem(text string) Finding {
	f, _ := item(text, todoOpen)
	f.N = lasts
	return f
}

// KeepsList reports whether a tool with this name keeps a to-do list.
func KeepsList(tool string) bool {
	name := compress.PlainName(tool)
	return keepsWholeList(name) || isOneOf(name, "taskcreate", "taskupdate", "tasklist")
}

// keepsWholeList reports whether a tool of a plain name writes all items at once.
func keepsWholeList(name string) bool {
	return strings.Contains(name, "todo") || isOneOf(name, "updateplan", "setplan", "writeplan", "updatetasks", "plan")
}

// statusWords are the states that agents' lists have, beside open ones.
var statusWords = map[string]map[string]bool{
	todoDone:   compress.WordSet("completed complete done finished closed passed"),
	todoActive: compress.WordSet("in_progress active running started doing current"),
	todoGone:   compress.WordSet("cancelled canceled dropped removed deleted skipped abandoned"),
}

// todoState returns how far an item is.
func todoState(item map[string]any) string {
	for _, key := range []string{"status", "state"} {
		if s, ok := item[key].(string); ok {
			return statusOf(s)
		}
	}
	for _, key := range []string{"done", "completed", "checked", "finished"} {
		if item[key] == true {
			return todoDone
		}
	}
	return todoOpen
}

func statusOf(word string) string {
	for state, words := range statusWords {
		if words[strings.ToLower(strings.ReplaceAll(word, "-", "_"))] {
			return state
		}
	}
	return todoOpen
}

// The keys of lists of items, and of the texts of items.
var (
	todoLists = []string{"todos", "plan", "items", "tasks", "steps", "todo", "newTodos"}
	todoTexts = []string{"content", "step", "text", "title", "description", "task", "subject", "name"}
)

// todoItems returns the items of a list in a call's arguments or an event. A list that stands for
// all of what its writer, tool, has to do begins with a head.
func todoItems(args map[string]any, tool string) (out []Finding) {
	add := func(text, state string) {
		if f, ok := item(text, state); ok {
			out = append(out, f)
		}
	}
	for _, key := range todoLists {
		list, ok := args[key].([]any)
		if !ok {
			continue
		}
		if args["merge"] != true {
			out = append(out, Finding{Kind: FoundTodo, State: todoList, Tool: tool})
		}
		for _, e := range list[:min(len(list), maxItems)] {
			switch e := e.(type) {
			case string:
				add(e, todoOpen)
			case map[string]any:
				text := ""
				for _, name := range todoTexts {
					if s, ok := e[name].(string); ok && text == "" {
						text = s
					}
				}
				add(text, todoState(e))
			}
		}
		return out
	}
	return nil
}

// todoCall returns the items of a call of a tool that keeps a list: TodoWrite, todo_write,
// update_plan and what is named like them.
func todoCall(c Call) []Finding {
	var args map[string]any
	if !keepsWholeList(compress.PlainName(c.Name)) || json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	return todoItems(args, c.Name)
}

// Some agents keep their list one item at a time, by numbers that the tool gives out: TaskCreate
// makes an item, its result names the number ("Task #1 created successfully"), TaskUpdate changes
// the item of a number. In findings about them Path is the call that makes an item, and Key its
// number.

// taskList is the list of numbered items.
const taskList = "task"

var taskNumber = lazy.Regexp(`^Task #([\w.-]{1,32}) created\b`)

// taskCall returns the item that a call makes or changes by its number; none for other calls.
func taskCall(c Call) []Finding {
	name := compress.PlainName(c.Name)
	var args struct {
		Subject string `json:"subject"`
		TaskID  any    `json:"taskId"`
		Status  string `json:"status"`
	}
	if name != "taskcreate" && name != "taskupdate" || json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	f, named := item(args.Subject, todoOpen)
	if f.Tool = taskList; name == "taskcreate" {
		f.Path = c.ID
		return []Finding{f}[:min(1, len(f.Text))]
	}
	if args.Status != "" {
		f.State = statusOf(args.Status)
	} else {
		f.State = todoKept
	}
	number, _ := json.Marshal(args.TaskID) // a text or a number
	f.Key = strings.TrimPrefix(strings.Trim(string(number), `" `), "#")
	if f.Key == "" || len(f.Key) > 32 || f.State == todoKept && !named {
		return nil
	}
	return []Finding{f}
}

// taskAnswer returns the number of an item that the answer to its call names. A failed call made
// no item.
func taskAnswer(a Answer) []Finding {
	if compress.PlainName(a.Tool) != "taskcreate" {
		return nil
	}
	f := Finding{Kind: FoundTodo, Tool: taskList, Path: a.Call}
	if m := taskNumber().FindStringSubmatch(strings.TrimSpace(a.Text)); m != nil {
		f.Key, f.State = m[1], todoKept
	} else if f.State = todoGone; !a.Failed {
		return nil
	}
	return []Finding{f}
}

type todoRow struct {
	text, key, state string
	list             string // the tool whose list it belongs to; "" of text
	call, number     string // of a numbered item: the call that made it, and its number
	until            int    // the request with which it is over; 0: none
	at               Position
}

// addTodo adds an item, or the head of a list, to the items.
func (n *State) addTodo(f *Finding, r *adding) {
	switch {
	case f.State == todoList:
		r.list = f.Tool
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.list == r.list })
	case f.Tool == taskList:
		n.addTask(f, r.at)
	default:
		n.addItem(f, r)
	}
}

// addTask notes what is known of a numbered item.
func (n *State) addTask(f *Finding, at Position) {
	if f.Key == "" && f.State == todoOpen {
		n.items = append(n.items, todoRow{text: f.Text, key: ItemKey(f.Text), list: taskList, call: f.Path, at: at})
		return
	}
	i := -1
	for k := range n.items {
		t := &n.items[k]
		switch {
		case t.list != taskList:
		case f.Path != "" && t.call == f.Path && t.number == "", f.Path == "" && t.number == f.Key:
			i = k
		case t.number == f.Key:
			t.number = "-" // of an earlier list
		}
	}
	switch {
	case i < 0:
	case f.State == todoGone:
		n.items = slices.Delete(n.items, i, i+1)
	case f.Path != "":
		n.items[i].number = f.Key
	default:
		t := &n.items[i]
		if t.at = at; f.State != todoKept {
			t.state = f.State
		}
		if f.Text != "" {
			t.text, t.key = f.Text, ItemKey(f.Text)
		}
	}
}

// addItem notes the newest state of an item.
func (n *State) addItem(f *Finding, r *adding) {
	row := todoRow{text: f.Text, key: ItemKey(f.Text), state: f.State, list: r.list, at: r.at}
	if f.N > 0 {
		row.until = n.asked + f.N
	}
	i := slices.IndexFunc(n.items, func(t todoRow) bool { return t.key == row.key })
	if row.state == todoTicked {
		if row.state = todoDone; i < 0 {
			return
		}
	}
	if i < 0 {
		n.items = append(n.items, row)
	} else {
		if old := &n.items[i]; row.list == "" || old.list == taskList {
			row.list, row.call, row.number = old.list, old.call, old.number
		}
		n.items[i] = row
	}
	if row.state == todoGone {
		n.items = slices.DeleteFunc(n.items, func(t todoRow) bool { return t.key == row.key })
	}
}

// Item is something that is to do, or was.
type Item struct {
	Text         string
	Done, Active bool
	Spoken       bool // the user numbered it, and no tool keeps it
	Source       string
}

// Items returns the items of todo.md, open ones first.
func (n *State) Items() (out []Item) {
	for _, done := range []bool{false, true} {
		for i := range n.items {
			if t := &n.items[i]; (t.state == todoDone) == done {
				out = append(out, Item{t.text, done, t.state == todoActive, t.until > 0 && t.list == "", t.at.Source()})
			}
		}
	}
	return out
}

// Todo returns a checklist in Markdown, open items first, each with its source; "" without any.
func (n *State) Todo() string {
	var b strings.Builder
	for _, t := range n.Items() {
		mark, active := " ", ""
		if t.Done {
			mark = "x"
		}
		if t.Active {
			active = "in progress, "
		}
		b.WriteString("- [" + mark + "] " + t.Text + " (" + active + t.Source + ")\n")
	}
	return b.String()
}
