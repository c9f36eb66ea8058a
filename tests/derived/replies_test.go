package derivedtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const (
	tierAsked = `{"questions":[{"id":"tier","header":"Tier","question":"Which tier?","options":[{"label":"Paid tier","description":""},` +
		`{"label":"Free tier","description":""}]}]}`
	quotedTier = `User has answered your questions: "Which tier?"="Free tier, reseed on boot". You can now continue with the user's answers in mind.`
)

// askedTranscripts are transcripts in which a tool asks which tier; %s is the tool's name.
var askedTranscripts = []struct{ format, file, tool, foreign, text string }{
	{"claude-code", "s.jsonl", "AskUserQuestion", "mcp__x__AskUserQuestion",
		claudeLine(1, "user", `"Build it. Let's use the paid tier for the service."`) +
			claudeLine(2, "assistant", `[{"type":"tool_use","id":"t1","name":"%s","input":`+strings.Replace(tierAsked, `"id":"tier",`, "", 1)+`}]`) +
			claudeLine(3, "user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t1","content":%q}]`, quotedTier))},
	{"codex", "rollout.jsonl", `request_user_input`, `request_user_input","namespace":"mcp__x__`,
		`{"timestamp":"2026-01-05T10:00:00.000Z","type":"session_meta","payload":{"id":"s","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.90.0"}}` + "\n" +
			codexLine(`"type":"message","role":"user","content":[{"type":"input_text","text":"Build it. Let's use the paid tier for the service."}]`) +
			codexLine(`"type":"function_call","call_id":"c1","name":"%s","arguments":`+fmt.Sprintf("%q", tierAsked)) +
			codexLine(`"type":"function_call_output","call_id":"c1","output":`+fmt.Sprintf("%q", `{"answers":{"tier":{"answers":["Free tier","user_note: reseed on boot"]}}}`))},
	{"opencode", "ses.json", "question", "x_question",
		`{"info":{"id":"ses_1","directory":"/w","title":"t","version":"1.18.33","time":{"created":1,"updated":2}},"messages":[` +
			`{"info":{"role":"user","time":{"created":1},"id":"msg_1","sessionID":"ses_1"},"parts":[{"type":"text","text":"Build it. Let's use the paid tier for the service.","id":"prt_1","sessionID":"ses_1","messageID":"msg_1"}]},` +
			`{"info":{"role":"assistant","parentID":"msg_1","time":{"created":2,"completed":3},"modelID":"m","providerID":"p","id":"msg_2","sessionID":"ses_1"},"parts":[` +
			`{"type":"tool","tool":"%s","callID":"c1","state":{"status":"completed","input":` + strings.Replace(tierAsked, `"id":"tier",`, "", 1) +
			fmt.Sprintf(`,"output":%q,"metadata":{},"title":"Asked","time":{"start":2,"end":3}},"id":"prt_2","sessionID":"ses_1","messageID":"msg_2"}]}]}`, quotedTier)},
	{"gemini", "session.json", `ask_user","displayName":"Ask User`, `ask_user","displayName":"ask_user (x MCP Server)`,
		`{"sessionId":"s","projectHash":"x","startTime":"2026-01-05T10:00:00.000Z","lastUpdated":"2026-01-05T10:01:00.000Z","messages":[` +
			`{"id":"1","timestamp":"2026-01-05T10:00:00.000Z","type":"user","content":"Build it. Let's use the paid tier for the service."},` +
			`{"id":"2","timestamp":"2026-01-05T10:00:05.000Z","type":"gemini","content":"","toolCalls":[{"id":"a1","name":"%s","args":` + strings.Replace(tierAsked, `"id":"tier",`, "", 1) +
			`,"result":[{"functionResponse":{"id":"a1","name":"ask_user","response":{"output":"{\"answers\":{\"0\":\"Free tier, reseed on boot\"}}"}}}],"status":"success","timestamp":"2026-01-05T10:00:06.000Z"}],"model":"m"}]}`},
}

func claudeLine(n int, role, content string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":"u%d","sessionId":"s","timestamp":"2026-01-05T10:00:0%dZ","message":{"role":%q,"content":%s}}`+"\n",
		role, n, n-1, n, role, content)
}

func codexLine(payload string) string {
	return `{"timestamp":"2026-01-05T10:00:01.000Z","type":"response_item","payload":{` + payload + "}}\n"
}

// Programs ask by a tool of their own. What the user answers there is the user's: it is a decision and stands among the
// user's words. A tool of an MCP server may have the same name, and a plain
// record any.
func TestQuestionToolAnswersAreTheUsers(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	const reply = "Which tier? → Free tier, reseed on boot"
	for _, c := range askedTranscripts {
		for _, tool := range []string{c.tool, c.foreign} {
			s := m.NewSession(t)
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(strings.Replace(c.text, "%s", tool, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			m.CLI(t, "import", "--format", c.format, file, s.Path("")).OK()
			got, own := mustAgree(t, s, ctxabi.DecisionsFile), tool == c.tool
			if strings.Contains(got, reply+`"`) != own || !strings.Contains(got, "the paid tier") {
				t.Errorf("%s, %s: the decisions are\n%s", c.format, tool, got)
			}
			for i := range 30 {
				s.Append(ctxabi.MessagesFile, harness.Message("assistant", fmt.Sprintf("Step %d: %s", i, strings.Repeat(fmt.Sprint(i, " of the build is done. "), 40))))
			}
			s.Bash("echo 4000 > context/budget").OK()
			pack := s.Bash("cat context/pack.md").OK()
			if strings.Contains(pack, "] "+reply+"\n") != own || strings.Contains(pack, "> "+reply+"\n") != own {
				t.Errorf("%s, %s: the pack is\n%s", c.format, tool, pack)
			}
		}
	}
	plain := m.NewSession(t)
	plain.Append(ctxabi.MessagesFile, harness.Message("user", "Build it."))
	plain.Append(ctxabi.MessagesFile, fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"AskUserQuestion","arguments":%q}}]}`+"\n", tierAsked))
	plain.Append(ctxabi.MessagesFile, fmt.Sprintf(`{"role":"tool","tool_call_id":"c1","name":"AskUserQuestion","content":%q}`+"\n", quotedTier))
	if got := mustAgree(t, plain, ctxabi.DecisionsFile); got != "" {
		t.Errorf("of plain records: %s", got)
	}
}
