package ctxabi

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const wholePlan = `{
  "goal": "make the token refresh retry",
  "issue": {"title": "Refresh fails once a day", "description": "The gateway closes idle connections.", "url": "https://example.org/7"},
  "design": "Retry in the client.",
  "constraints": ["no new dependency", "Go 1.26"],
  "tasks": [
    {"id": "t1", "title": "Add RetryMax", "description": "To config.go.", "status": "done", "acceptance": "it parses"},
    {"id": "t2", "title": "Retry", "status": "in_progress", "acceptance": ["three attempts", "backs off"], "priority": 3,
     "files": [{"operation": "modify", "path": "auth/refresh.go", "lines": [80, 90]}],
     "steps": [{"description": "Write the test", "code": "func TestRetry(t *testing.T) {}", "command": "go test ./auth", "done": true},
               {"description": "Make it pass", "code": null}]}
  ],
  "current_task_id": "t2",
  "made_by": {"tool": "planner", "version": 1e999}
}`

func TestParsePlan(t *testing.T) {
	want := &Plan{
		Goal: "make the token refresh retry", Issue: PlanIssue{"Refresh fails once a day", "The gateway closes idle connections."},
		Design: "Retry in the client.", Constraints: []string{"no new dependency", "Go 1.26"}, CurrentTask: "t2",
		Tasks: []PlanTask{
			{ID: "t1", Title: "Add RetryMax", Description: "To config.go.", Status: "done", Acceptance: []string{"it parses"}},
			{ID: "t2", Title: "Retry", Status: "in_progress", Acceptance: []string{"three attempts", "backs off"},
				Files: []PlanFileChange{{"modify", "auth/refresh.go"}},
				Steps: []PlanStep{{"Write the test", "func TestRetry(t *testing.T) {}", "go test ./auth", true}, {Description: "Make it pass"}}},
		},
	}
	p, err := ParsePlan([]byte(wholePlan))
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Fatalf("%v\n got %+v\nwant %+v", err, p, want)
	}
	if p.Current() != &p.Tasks[1] || !p.Tasks[0].Finished() || p.Tasks[1].Finished() {
		t.Errorf("the current task is %+v", p.Current())
	}
	for _, in := range []string{"", " \n", "{}", `{"tasks":null,"issue":null,"current_task_id":null,"goal":null,"constraints":null}`, `{"current_task_id":"","tasks":[]}`} {
		if p, err := ParsePlan([]byte(in)); err != nil || !reflect.DeepEqual(p, &Plan{}) || p.Current() != nil {
			t.Errorf("%q: %+v, %v", in, p, err)
		}
	}
	if (*Plan)(nil).Current() != nil {
		t.Error("no plan has a current task")
	}
}

func TestAWrongPlanSaysWhere(t *testing.T) {
	for in, why := range map[string]string{
		`"x"`:                               "one JSON object: it is a string",
		`null`:                              "one JSON object: it is null",
		`[]`:                                "one JSON object: it is a list",
		`{} {}`:                             "there is text after it",
		`{}]`:                               "there is text after it",
		"{\n \"goal\": x}":                  "line 2, column 10",
		`{"goal":"x"`:                       "it ends too early",
		`{"goal":1}`:                        "goal: it must be a string, it is a number",
		`{"goal":"a\u0000"}`:                "goal: it is shown in prompts and must not contain NUL",
		`{"issue":"x"}`:                     "issue: it must be an object, it is a string",
		`{"issue":{"title":[]}}`:            "issue.title: it must be a string, it is a list",
		`{"design":{}}`:                     "design: it must be a string, it is an object",
		`{"constraints":true}`:              "constraints: it must be a string or a list of strings, it is true or false",
		`{"constraints":["a",1]}`:           "constraints[1]: it must be a string, it is a number",
		`{"tasks":{}}`:                      "tasks: it must be a list of objects, it is an object",
		`{"tasks":[{"id":"a"},"b"]}`:        "tasks[1]: it must be an object, it is a string",
		`{"tasks":[null]}`:                  "tasks[0]: it must be an object, it is null",
		`{"tasks":[{}]}`:                    "tasks[0].id: it is missing; it must be a string",
		`{"tasks":[{"id":7}]}`:              "tasks[0].id: it must be a string, it is a number",
		`{"tasks":[{"id":" "}]}`:            "tasks[0].id: it must not be empty",
		`{"current_task_id":"t9"}`:          `current_task_id: no task has the id "t9"`,
		`{"current_task_id":{"a":1}}`:       "current_task_id: it must be a string, it is an object",
		`{"tasks":[{"id":"a"},{"id":"a"}]}`: `tasks[1].id: tasks[0] has the id "a" already`,
		`{"tasks":[{"id":"a","status":1}]}`: "tasks[0].status: it must be a string, it is a number",
		`{"tasks":[{"id":"a","acceptance":[{}]}]}`:                                                         "tasks[0].acceptance[0]: it must be a string, it is an object",
		`{"tasks":[{"id":"a"},{"id":"b"},{"id":"c","files":[{"path":"x"}]}]}`:                              "tasks[2].files[0].operation: it is missing; it must be a string",
		`{"tasks":[{"id":"a","files":[{"operation":"create","path":""}]}]}`:                                "tasks[0].files[0].path: it must not be empty",
		`{"tasks":[{"id":"a","files":[{"operation":"create","path":null}]}]}`:                              "tasks[0].files[0].path: it must be a string, it is null",
		`{"tasks":[{"id":"a","files":"x"}]}`:                                                               "tasks[0].files: it must be a list of objects, it is a string",
		`{"tasks":[{"id":"a","steps":["x"]}]}`:                                                             "tasks[0].steps[0]: it must be an object, it is a string",
		`{"tasks":[{"id":"a","steps":[{"done":"yes"}]}]}`:                                                  "tasks[0].steps[0].done: it must be true or false, it is a string",
		`{"tasks":[{"id":"a","steps":[{"command":["go","test"]}]}]}`:                                       "tasks[0].steps[0].command: it must be a string, it is a list",
		strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000):                                  "one JSON object",
		`{"goal":2,"tasks":[{"id":"a","status":1}],"design":3,"current_task_id":"z","issue":{"title":[]}}`: "goal: it must be",
	} {
		_, err := ParsePlan([]byte(in))
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.80s\n got %v\nwant %s", in, err, why)
		}
	}
}

func TestTaskStatus(t *testing.T) {
	for status, want := range map[string][2]bool{
		"done": {true, false}, " Completed ": {true, false}, "closed": {true, false}, "finished": {true, false}, "complete": {true, false},
		"cancelled": {false, true}, "Canceled": {false, true}, "skipped": {false, true}, "dropped": {false, true},
		"": {}, "in_progress": {}, "pending": {}, "undone": {}, "failed": {},
	} {
		task := PlanTask{Status: status}
		if got := [2]bool{task.Finished(), task.Dropped()}; got != want {
			t.Errorf("%q: %v, want %v", status, got, want)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(wholePlan))
	for _, s := range []string{"", "{", "null", `{"tasks":[{"id":"a","files":[{"operation":"x","path":"y"}]}],"current_task_id":"a"}`, `{"goal":"\ud800"}`, "{\"goal\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePlan(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || p != nil {
				t.Fatalf("%v, %+v", err, p)
			}
			return
		}
		if p.CurrentTask != "" && p.Current() == nil {
			t.Fatalf("the current task %q is not there", p.CurrentTask)
		}
		ids := map[string]bool{}
		for _, task := range p.Tasks {
			if task.ID == "" || ids[task.ID] {
				t.Fatalf("task id %q", task.ID)
			}
			ids[task.ID] = true
		}
		// What was read can be written in the documented form and read again.
		again, err := ParsePlan(planJSON(t, p))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, again, p)
		}
	})
}

// planJSON writes a plan as its documentation shows it.
func planJSON(t *testing.T, p *Plan) []byte {
	var tasks []map[string]any
	for _, task := range p.Tasks {
		var files, steps []map[string]any
		for _, f := range task.Files {
			files = append(files, map[string]any{"operation": f.Operation, "path": f.Path})
		}
		for _, s := range task.Steps {
			steps = append(steps, map[string]any{"description": s.Description, "code": s.Code, "command": s.Command, "done": s.Done})
		}
		tasks = append(tasks, map[string]any{"id": task.ID, "title": task.Title, "description": task.Description,
			"status": task.Status, "acceptance": task.Acceptance, "files": files, "steps": steps})
	}
	data, err := json.Marshal(map[string]any{"goal": p.Goal, "issue": map[string]any{"title": p.Issue.Title, "description": p.Issue.Description},
		"design": p.Design, "constraints": p.Constraints, "tasks": tasks, "current_task_id": p.CurrentTask})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCheckDiff(t *testing.T) {
	for _, ok := range []string{
		"", "\n \n",
		"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
		"--- old/x\t2026-01-01\n+++ new/x\t2026-01-02\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
		"--- a\r\n+++ b\r\n",
		"commit 1234\nAuthor: A\n\n    Say why\n\ndiff --git a/x b/x\nnew file mode 100644\n",
		"diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n",
		"diff --cc x\n", "@@ -1 +1 @@\n-a\n+b",
	} {
		if err := CheckDiff([]byte(ok)); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"please look at this", "--- a title\n\ntext\n+++ more\n", "+added\n-removed\n", "{}", "@@\n", "different\n", " diff --git a b\n"} {
		if err := CheckDiff([]byte(bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
