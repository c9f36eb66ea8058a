package notes

import "testing"

// A list that an agent keeps item by item, by the numbers that its tool gives out.
func TestTasksThatAreDoneAreNotOpen(t *testing.T) {
	made := func(n, subject string) []Record {
		return []Record{
			{Role: "assistant", Calls: []Call{{"TaskCreate", `{"subject":"` + subject + `","description":"-","activeForm":"Doing"}`, "c" + n + subject}}},
			{Role: "tool", Result: true, Answers: []Answer{{Call: "c" + n + subject, Tool: "TaskCreate", Text: "Task #" + n + " created successfully: " + subject}}},
		}
	}
	set := func(args string) []Record {
		return []Record{
			{Role: "assistant", Calls: []Call{{"TaskUpdate", args, "u"}}},
			{Role: "tool", Result: true, Answers: []Answer{{Call: "u", Tool: "TaskUpdate", Text: "Updated task #1 status"}}},
		}
	}
	listed := func(text string) []Record {
		return []Record{{Role: "tool", Result: true, Answers: []Answer{{Call: "l", Tool: "TaskList", Text: text}}}}
	}
	for _, c := range []struct {
		name string
		said [][]Record
		want string
	}{
		{"made", [][]Record{made("1", "Add jitter")}, "- [ ] Add jitter (messages:1)\n"},
		{"completed", [][]Record{made("1", "Add jitter"), set(`{"taskId":"1","status":"completed"}`)}, "- [x] Add jitter (messages:3)\n"},
		{"in progress", [][]Record{made("1", "Add jitter"), set(`{"taskId":"1","status":"in_progress"}`)}, "- [ ] Add jitter (in progress, messages:3)\n"},
		{"deleted", [][]Record{made("1", "Add jitter"), made("2", "Test it"), set(`{"taskId":"1","status":"deleted"}`)}, "- [ ] Test it (messages:3)\n"},
		{"renamed", [][]Record{made("1", "Add jitter"), set(`{"taskId":"1","subject":"Add more jitter"}`)}, "- [ ] Add more jitter (messages:3)\n"},
		{"reopened", [][]Record{made("1", "Add jitter"), set(`{"taskId":1,"status":"completed"}`), set(`{"taskId":"#1","status":"pending"}`)}, "- [ ] Add jitter (messages:5)\n"},
		{"a number that nobody gave", [][]Record{made("1", "Add jitter"), set(`{"taskId":"7","status":"completed"}`)}, "- [ ] Add jitter (messages:1)\n"},
		{"an owner alone", [][]Record{made("1", "Add jitter"), set(`{"taskId":"1","owner":"ada"}`)}, "- [ ] Add jitter (messages:1)\n"},
		{"two of the same words", [][]Record{made("1", "Fix it"), made("2", "Fix it"), set(`{"taskId":"1","status":"completed"}`)}, "- [ ] Fix it (messages:3)\n- [x] Fix it (messages:5)\n"},
		{"another list with the same numbers", [][]Record{made("1", "Add jitter"), made("1", "Write docs"), set(`{"taskId":"1","status":"completed"}`)}, "- [ ] Add jitter (messages:1)\n- [x] Write docs (messages:5)\n"},
		{"a printed list", [][]Record{made("1", "Add jitter"), listed("#1 [completed] Add jitter")}, "- [ ] Add jitter (messages:1)\n"},
		{"ticked in words", [][]Record{made("1", "Add jitter"), {{Role: "assistant", Text: "- [x] Add jitter\n- [ ] Rest"}}, set(`{"taskId":"1","status":"deleted"}`)}, "- [ ] Rest (messages:3)\n"},
		{"not made", [][]Record{made("1", "Add jitter")[:1], {{Role: "tool", Result: true, Answers: []Answer{{Call: "c1Add jitter", Tool: "TaskCreate", Text: "no", Failed: true}}}}}, ""},
		{"beside another tool's list", [][]Record{made("1", "Add jitter"), {{Role: "assistant", Calls: []Call{{Name: "TodoWrite", Arguments: `{"todos":[{"content":"Other","status":"completed"}]}`}}}}, {{Role: "assistant", Calls: []Call{{Name: "TodoWrite", Arguments: `{"todos":[]}`}}}}}, "- [ ] Add jitter (messages:1)\n"},
	} {
		n, line := &State{}, 0
		for _, group := range c.said {
			for _, s := range group {
				line++
				n.Add(Position{Line: line}, s.Role, Find(s))
			}
		}
		if got := n.Todo(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
