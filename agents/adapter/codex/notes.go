package codex

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Types of event_msg without new conversation text. codexShown types report the program's state;
// codexRepeated types repeat items in another form. Events of all other types have the same texts
// as their items.
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

// thoughts holds the lines of a rollout's reasoning items and the index of its last item.
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

// lack reports whether the line at index at has a thought that no reasoning item contains. After
// the last item it returns false, because the rollout may get the reasoning item later.
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
