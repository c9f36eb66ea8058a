package ctxabi

// Plan is what context/plan.json says. What it does not say is zero.
type Plan struct {
	Goal        string
	Issue       PlanIssue
	Design      string
	Constraints []string
	Tasks       []PlanTask
	CurrentTask string // id of one of Tasks, or ""
}

// PlanIssue is what a plan is for.
type PlanIssue struct{ Title, Description string }

// PlanTask is one task of a plan.
type PlanTask struct {
	ID          string
	Title       string
	Description string
	Status      string
	Acceptance  []string
	Files       []PlanFileChange
	Steps       []PlanStep
}

// PlanFileChange is one file that a task touches.
type PlanFileChange struct {
	Operation string // "create", "modify", "test"
	Path      string
}

// PlanStep is one step of a task.
type PlanStep struct {
	Description string
	Code        string
	Command     string
	Done        bool
}

// ParsePlan reads context/plan.json.
func ParsePlan(data []byte) (*Plan, error) { return &Plan{}, nil }

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
