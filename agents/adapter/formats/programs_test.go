package formats_test

import (
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"
)

// foreign are the beginnings of files that no format reads, by what the error calls them; "" where it names no program.
var foreign = []struct{ is, data string }{
	{"a data export of ChatGPT", `[{"title":"Ports","mapping":{"m1":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Which port?"]}}}},"current_node":"m1"}]`},
	{"a data export of Claude", `[{"uuid":"u","name":"Ports","chat_messages":[{"uuid":"m1","text":"Which port?","sender":"human"}]}]`},
	{"a ShareGPT data set", `[{"id":"x","conversations":[{"from":"human","value":"Which port?"},{"from":"gpt","value":"8443."}]}]`},
	{"a list of messages of AutoGen", `[{"source":"user","content":"Which port?","type":"TextMessage"},{"source":"assistant","content":"8443.","type":"TextMessage"}]`},
	{"a list of messages of Pydantic AI", `[{"parts":[{"content":"Which port?","part_kind":"user-prompt"}],"kind":"request"}]`},
	{"a checkpoint of Gemini CLI", `{"history":[{"role":"user","parts":[{"text":"Which port?"}]}],"authType":"oauth-personal"}`},
	{"the ui_messages.json of Cline; ctxfs cannot read it yet; import the api_conversation_history.json", `[{"ts":1,"type":"say","say":"text","text":"Which port?"}]`},
	{"a list of messages of OpenAI's Assistants", `{"object":"list","data":[{"id":"msg_1","object":"thread.message","role":"user","content":[{"type":"text","text":{"value":"Which port?"}}]}]}`},
	{"a session of Continue", `{"sessionId":"s","history":[{"message":{"role":"user","content":"Which port?"},"contextItems":[]}]}`},
	{"a session of Qwen Code", `{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"Which port?"}]}}`},
	{"the stream of Gemini CLI", `{"type":"init","session_id":"s","model":"m"}
{"type":"message","role":"user","content":"Which port?"}
{"type":"message","role":"assistant","content":"84","delta":true}
{"type":"message","role":"assistant","content":"43.","delta":true}
`},
	{"a chat of the Grok CLI", `{"type":"system","content":"You are a command line agent."}
{"type":"user","content":[{"type":"text","text":"Which port?"}],"prompt_index":0}
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"RTE=","status":"completed"}
{"type":"assistant","content":"8443."}
`},
	{"the stream of Droid", `{"type":"system","subtype":"init","session_id":"s","cwd":"/"}
{"type":"message","session_id":"s","role":"user","text":"Which port?"}
`},
	{"a session of Copilot CLI", `{"type":"session.start","data":{"sessionId":"s"}}
{"type":"user.message","data":{"content":"Which port?"}}
`},
	{"a transcript of Cursor", `{"role":"user","message":{"content":[{"type":"text","text":"Which port?"}]}}`},
	{"a session of Kimi Code", `{"type":"metadata","protocol_version":"1.4"}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"Which port?"}]}}
`},
	{"a conversation of Antigravity", `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","content":"Which port?"}`},
	{"", `[{"role":"user","text":"Which port?"},{"role":"assistant","text":"8443."}]`},
	{"", `{"type":"status","role":"system"}` + "\n" + `{"type":"tool","name":"ls"}` + "\n" + `{"type":"status","role":"system"}`},
	{"", `[{"role":"user","content":{"words":"Which port?"}},{"role":"user","body":"Which port?"},{"role":"user","message":"Which port?"}]`},
	{"", `{"note":"it has \"kind\":\"MessageEvent\" in it","action":{"kind":"MessageEvent","source":"user","action":"run","args":{}}}`},
	{"", `{"type":"reasoning","encrypted_content":"RTE=","summary":[]}` + "\n" + `{"type":"assistant","content":"8443."}` + "\n" + `{"type":"user","content":"Why?"}`},
}

// A chat of which most messages are not understood is of no known format, and the error names its program where that has a mark.
func TestForeignChatsAreRefused(t *testing.T) {
	for _, f := range foreign {
		if got, ok := formats.Detect("chat.jsonl", []byte(f.data)); ok {
			t.Errorf("%q is detected as %s: %s", f.is, got.Name, f.data)
		}
		if is := formats.Unreadable([]byte(f.data)); f.is == "" && is != "" || !strings.HasPrefix(is, f.is) {
			t.Errorf("%q is called %q: %s", f.is, is, f.data)
		}
	}
}
