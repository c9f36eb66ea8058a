package codex

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Types of event_msg. Those of codexShown say how the program works; those of codexRepeated show in another form what
// items say. The texts of all others are in the items as they are.
var (
	codexShown = strings.Fields("token_count task_started task_complete turn_started turn_complete turn_aborted " +
		"context_compacted thread_rolled_back thread_name_updated session_configured error warning stream_error " +
		"background_event deprecation_notice model_reroute mcp_startup_update mcp_startup_complete " +
		"exec_command_output_delta exec_approval_request apply_patch_approval_request request_permissions " +
		"elicitation_request turn_diff undo_started undo_completed shutdown_complete hook_started hook_completed " +
		"get_history_entry_response list_custom_prompts_response list_skills_response skills_update_available " +
		"mcp_list_tools_response guardian_assessment entered_review_mode plan_update plan_delta thread_settings_applied " +
		"thread_goal_updated")
	codexRepeated = strings.Fields("mcp_tool_call_begin mcp_tool_call_end patch_apply_begin patch_apply_end " +
		"web_search_begin web_search_end view_image_tool_call image_generation_begin image_generation_end " +
		"dynamic_tool_call_request dynamic_tool_call_response request_user_input item_started item_completed " +
		"exited_review_mode collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin " +
		"collab_agent_interaction_end collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end " +
		"collab_resume_begin collab_resume_end sub_agent_activity")
)

func codexNotes() []string {
	notes := []string{"turn_context", "world_state", "copied", ".payload.dynamic_tools", ".items.line.payload.dynamic_tools"}
	for _, kind := range slices.Concat(codexShown, codexRepeated) {
		notes = append(notes, codexEventLine+"/"+kind)
	}
	return append(notes, codexEventLine+"/exec_command_begin", codexEventLine+"/exec_command_end")
}

// thoughts are what the reasoning items of a rollout say, by lines, and how far its items go.
type thoughts struct {
	lines map[string]bool
	last  int // the place of the last item
}

func thoughtsIn(lines []codexLine) thoughts {
	t := thoughts{lines: map[string]bool{}}
	for at, l := range lines {
		if l.kind != ItemLine {
			continue
		}
		if t.last = at; l.itemType != "reasoning" {
			continue
		}
		for _, key := range []string{"summary", "content"} {
			gjson.ParseBytes(l.payload.Get(key)).ForEach(func(_, part gjson.Result) bool {
				for line := range strings.Lines(part.Get("text").Str) {
					t.lines[strings.TrimSpace(line)] = true
				}
				return true
			})
		}
	}
	return t
}

// lack reports whether the line at that place shows a thought that no reasoning item says. One behind all items may have
// its item in a part of the rollout that is not written yet.
func (t thoughts) lack(l codexLine, at int) bool {
	if l.kind != codexEventLine || l.bare || l.itemType != Thought || at > t.last {
		return false
	}
	for line := range strings.Lines(l.payload.Text("text")) {
		if line = strings.TrimSpace(line); line != "" && !t.lines[line] {
			return true
		}
	}
	return false
}
