package formats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/agents/adapter/formats"
)

// What the model of a transcript has before it is what stands behind the last compaction, on the way to the last record.
func TestContextIsWhatTheModelHas(t *testing.T) {
	for name, tt := range map[string]struct {
		format, transcript, want string // texts, those of hooks with a star
	}{
		"nothing":  {"claude-code", "", ""},
		"damaged":  {"claude-code", `{"uuid":"a","message":{"content":"A"}}` + "\nnope\n[1]\n\xff\n" + `{"uuid":"b","parentUuid":"a","message":{"con`, "A"},
		"a circle": {"claude-code", `{"uuid":"a","parentUuid":"b","message":{"content":"A"}}` + "\n" + `{"uuid":"b","parentUuid":"a","message":{"content":"B"}}`, "A B"},
		"a hook": {"claude-code", `{"uuid":"a","parentUuid":null,"type":"attachment","attachment":{"type":"hook_success","content":"S"}}
{"uuid":"b","parentUuid":"a","type":"attachment","attachment":{"type":"hook_additional_context","content":["H","I"]}}
{"uuid":"c","parentUuid":"b","message":{"content":[{"text":"C"},{"input":{"x":"D"}}]}}`, "*H *I C D"},
		"a side chain": {"claude-code", `{"uuid":"a","message":{"content":"A"}}
{"uuid":"s","isSidechain":true,"parentUuid":"a","message":{"content":"S"}}`, "A"},
		"a rewind": {"claude-code", `{"uuid":"a","message":{"content":"A"}}
{"uuid":"b","parentUuid":"a","message":{"content":"B"}}
{"uuid":"c","parentUuid":"a","message":{"content":"C"}}`, "A C"},
		"a compaction": {"claude-code", `{"uuid":"a","message":{"content":"A"}}
{"uuid":"b","parentUuid":null,"logicalParentUuid":"a","type":"system","subtype":"compact_boundary"}
{"uuid":"c","parentUuid":"b","message":{"content":"C"}}`, "C"},
		"a rollout": {"codex", `{"type":"session_meta","payload":{"base_instructions":{"text":"M"}}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"text":"H"}]}}
{"type":"event_msg","payload":{"type":"agent_message","message":"E"}}
{"type":"response_item","payload":{"type":"function_call","name":"sh","arguments":"A"}}
{"type":"response_item","payload":{"type":"function_call_output","output":"O"}}`, "*H A O"},
		"a rollout with a compaction": {"codex", `{"type":"response_item","payload":{"role":"user","content":[{"text":"A"}]}}
{"type":"compacted","payload":{"message":"S","replacement_history":[{"content":[{"text":"R"}]}]}}
{"type":"response_item","payload":{"role":"user","content":[{"text":"B"}]}}`, "R B"},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := formats.Lookup(tt.format)
			told, err := f.Context(strings.NewReader(tt.transcript))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, text := range told {
				star := ""
				if text.Hook {
					star = "*"
				}
				if len(text.Text) == 1 { // types and roles are texts too
					got = append(got, star+text.Text)
				}
			}
			if want := strings.Fields(tt.want); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
