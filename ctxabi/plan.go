package ctxabi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Plan is what context/plan.json says. What it does not say is zero.
type Plan struct {
	Goal        string
	Issue       PlanIssue
	Design      string
	Constraints []string // written as a list or as one string
	Tasks       []PlanTask
	CurrentTask string // id of one of Tasks, or ""; current_task_id in the file
}

// PlanIssue is what a plan is for.
type PlanIssue struct{ Title, Description string }

// PlanTask is one task of a plan.
type PlanTask struct {
	ID          string // never ""; unique in the plan
	Title       string
	Description string
	Status      string   // any word; "done" and the like count as finished, see [PlanTask.Finished]
	Acceptance  []string // written as a list or as one string
	Files       []PlanFileChange
	Steps       []PlanStep
}

// PlanFileChange is one file that a task touches. Neither field is "".
type PlanFileChange struct {
	Operation string // any word: "create", "modify", "test"
	Path      string
}

// PlanStep is one step of a task.
type PlanStep struct {
	Description string
	Code        string
	Command     string
	Done        bool
}

// ParsePlan reads context/plan.json:
//
//	{"goal": "", "issue": {"title": "", "description": ""}, "design": "", "constraints": [""],
//	 "tasks": [{"id": "", "title": "", "description": "", "status": "", "acceptance": [""],
//	   "files": [{"operation": "", "path": ""}],
//	   "steps": [{"description": "", "code": "", "command": "", "done": false}]}],
//	 "current_task_id": ""}
//
// Everything may be absent or null but a task's id and a file's two fields; other keys are
// allowed anywhere, for programs that store more. An empty file is an empty
// plan. An error is of kind [ErrMalformed] and names the place: "tasks[2].files[0].operation".
func ParsePlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if len(bytes.TrimSpace(data)) == 0 {
		return p, nil
	}
	top, err := decodePlan(data)
	if err != nil {
		return nil, E("set", PlanFile, ErrMalformed, "it must contain one JSON object: %v", err)
	}
	var r planReader
	p.Goal = r.text(top, "goal")
	if issue := r.object(top, "issue"); issue.fields != nil {
		p.Issue = PlanIssue{Title: r.text(issue, "title"), Description: r.text(issue, "description")}
	}
	p.Design = r.text(top, "design")
	p.Constraints = r.texts(top, "constraints")
	seen := map[string]string{}
	for _, o := range r.objects(top, "tasks") {
		t := r.task(o)
		if first, twice := seen[t.ID]; twice && t.ID != "" {
			r.bad(o.at("id"), "%s has the id %.80q already", first, t.ID)
		}
		seen[t.ID] = o.path
		p.Tasks = append(p.Tasks, t)
	}
	p.CurrentTask = r.text(top, "current_task_id")
	if _, ok := seen[p.CurrentTask]; !ok && p.CurrentTask != "" {
		r.bad("current_task_id", "no task has the id %.80q", p.CurrentTask)
	}
	if r.wrong != "" {
		return nil, E("set", PlanFile, ErrMalformed, "%s", r.wrong)
	}
	return p, nil
}

// Current is the plan's current task; nil when it has none.
func (p *Plan) Current() *PlanTask {
	if p == nil || p.CurrentTask == "" {
		return nil
	}
	for i := range p.Tasks {
		if p.Tasks[i].ID == p.CurrentTask {
			return &p.Tasks[i]
		}
	}
	return nil
}

// Finished reports whether a task's status means that it is done: done, complete, completed, finished or closed.
func (t *PlanTask) Finished() bool {
	switch strings.ToLower(strings.TrimSpace(t.Status)) {
	case "done", "complete", "completed", "finished", "closed":
		return true
	}
	return false
}

// Dropped reports whether a task's status means that nobody will do it: cancelled, canceled, dropped or skipped.
func (t *PlanTask) Dropped() bool {
	switch strings.ToLower(strings.TrimSpace(t.Status)) {
	case "cancelled", "canceled", "dropped", "skipped":
		return true
	}
	return false
}

// decodePlan decodes one JSON object; a syntax error names its line and column.
func decodePlan(data []byte) (planObject, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			return planObject{}, errors.New("there is text after it")
		}
		fields, ok := v.(map[string]any)
		if !ok {
			return planObject{}, fmt.Errorf("it is %s", kindOfJSON(v))
		}
		return planObject{fields: fields}, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := data[:min(int(syntax.Offset), len(data))]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
		return planObject{}, fmt.Errorf("line %d, column %d: %v", line, max(1, column), err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return planObject{}, errors.New("it ends too early")
	}
	return planObject{}, err
}

// planObject is one JSON object and its place in the file.
type planObject struct {
	path   string // "tasks[2]"; "" for the whole
	fields map[string]any
}

func (o planObject) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// planReader reads fields and keeps the first thing that is wrong.
type planReader struct{ wrong string }

func (r *planReader) bad(at, format string, args ...any) {
	if r.wrong == "" {
		r.wrong = at + ": " + fmt.Sprintf(format, args...)
	}
}

func (r *planReader) task(o planObject) PlanTask {
	t := PlanTask{
		ID: r.needed(o, "id"), Title: r.text(o, "title"), Description: r.text(o, "description"),
		Status: r.text(o, "status"), Acceptance: r.texts(o, "acceptance"),
	}
	for _, f := range r.objects(o, "files") {
		t.Files = append(t.Files, PlanFileChange{Operation: r.needed(f, "operation"), Path: r.needed(f, "path")})
	}
	for _, s := range r.objects(o, "steps") {
		t.Steps = append(t.Steps, PlanStep{Description: r.text(s, "description"), Code: r.text(s, "code"),
			Command: r.text(s, "command"), Done: r.flag(s, "done")})
	}
	return t
}

// text returns a string that may be absent or null.
func (r *planReader) text(o planObject, key string) string {
	if v := o.fields[key]; v != nil {
		return r.asText(o.at(key), v, "a string")
	}
	return ""
}

// needed returns a string that must say something.
func (r *planReader) needed(o planObject, key string) string {
	v, ok := o.fields[key]
	if !ok {
		r.bad(o.at(key), "it is missing; it must be a string")
		return ""
	}
	s := r.asText(o.at(key), v, "a string")
	if strings.TrimSpace(s) == "" {
		r.bad(o.at(key), "it must not be empty")
	}
	return s
}

// texts returns a list of strings, or the one string that stands instead.
func (r *planReader) texts(o planObject, key string) (list []string) {
	v := o.fields[key]
	if v == nil {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		if s := r.asText(o.at(key), v, "a string or a list of strings"); s != "" {
			return []string{s}
		}
		return nil
	}
	for i, item := range items {
		list = append(list, r.asText(fmt.Sprintf("%s[%d]", o.at(key), i), item, "a string"))
	}
	return list
}

func (r *planReader) flag(o planObject, key string) bool {
	v := o.fields[key]
	b, ok := v.(bool)
	if v != nil && !ok {
		r.bad(o.at(key), "it must be true or false, it is %s", kindOfJSON(v))
	}
	return b
}

func (r *planReader) object(o planObject, key string) planObject {
	v := o.fields[key]
	fields, ok := v.(map[string]any)
	if v != nil && !ok {
		r.bad(o.at(key), "it must be an object, it is %s", kindOfJSON(v))
	}
	return planObject{o.at(key), fields}
}

func (r *planReader) objects(o planObject, key string) (list []planObject) {
	v := o.fields[key]
	items, ok := v.([]any)
	if v != nil && !ok {
		r.bad(o.at(key), "it must be a list of objects, it is %s", kindOfJSON(v))
	}
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", o.at(key), i)
		fields, ok := item.(map[string]any)
		if !ok {
			r.bad(at, "it must be an object, it is %s", kindOfJSON(item))
		}
		list = append(list, planObject{at, fields})
	}
	return list
}

func (r *planReader) asText(at string, v any, want string) string {
	s, ok := v.(string)
	if !ok {
		r.bad(at, "it must be %s, it is %s", want, kindOfJSON(v))
	} else if strings.ContainsRune(s, 0) {
		r.bad(at, "it is shown in prompts and must not contain NUL")
	}
	return s
}

func kindOfJSON(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	}
	return "an object"
}
