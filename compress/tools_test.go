package compress

import "testing"

func TestSubAgentsAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{"Task": true, "task": true, "dispatch_agent": true, "delegateTask": true, "mcp.subagent": true, "call-agent": true,
		"bash": false, "": false, "multitask": false, "task_create": false, "TaskUpdate": false, "list_tasks": false, "user_agent_get": false} {
		if got := IsSubAgent(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
