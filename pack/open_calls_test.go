package pack

import (
	"fmt"
	"strings"
	"testing"
)

// A group of parallel calls that does not fit is split, and the blocks of earlier compactions stay while some of its calls are open.
func TestBlocksStayWhileCallsAreOpen(t *testing.T) {
	for _, parallel := range []int{8, 12} {
		l := logOf(string(message("user", "Have a look at all parts.")))
		called(l, 0, 30, 40)
		var calls []string
		for i := range parallel {
			calls = append(calls, fmt.Sprintf(`{"id":"p%d","type":"function","function":{"name":"probe","arguments":%q}}`, i, fmt.Sprintf(`{"text":%q}`, strings.Repeat("word ", 60))))
		}
		l.Append([]byte(`{"role":"assistant","content":"I look at all of them.","tool_calls":[` + strings.Join(calls, ",") + `]}`))
		for i := range parallel {
			l.Append(fmt.Appendf(nil, `{"role":"tool","tool_call_id":"p%d","content":%q}`, i, strings.Repeat(fmt.Sprintf("result %d word\n", i), 120)))
			b := mustCompile(t, inputOf(l, 2000))
			if md := string(b.Markdown); !strings.Contains(md, "# Context Block: key lines") && !strings.Contains(md, "# Context Block: files and runs") {
				t.Errorf("%d of %d results have arrived: %d tokens, %s, no derived block", i+1, parallel, b.Tokens, parseJSON(t, b).EpochReason)
			}
		}
	}
}
