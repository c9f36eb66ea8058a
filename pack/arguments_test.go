package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/ctxfs/ctxfs/pack/native"
	"github.com/ctxfs/ctxfs/pack/record"
)

// Long arguments of calls stand whole while their turn goes on. The compaction after it shortens them; in renderings they stay
// arguments of the tool.
func TestArgumentsShrinkAfterTheirTurn(t *testing.T) {
	l := logOf(string(message("user", "Write the parts.")))
	for i := range 3 {
		var code strings.Builder
		for k := range 60 {
			fmt.Fprintf(&code, "def part%d_%d(x):\n    return x * %d\n", i, k, k)
		}
		command := fmt.Sprintf("cat > src/part%d.py <<'EOF'\n%sEOF\npython3 -m pytest -q", i, code.String())
		answered(l, fmt.Sprint("w", i), "bash", fmt.Sprintf(`{"command":%s}`, quoteJSON(command)), "12 passed")
	}
	going := mustCompile(t, inputOf(l, 8000))
	if n := strings.Count(string(going.Markdown), "def part2_59"); n != 1 || going.Compactions > 0 {
		t.Fatalf("the last line of a file stands %d times while the turn goes on, after %d compactions", n, going.Compactions)
	}

	l.Append(message("assistant", "All parts are written."))
	l.Append(message("user", "Now test them."))
	for i := 0; ; i++ {
		if i == 30 {
			t.Fatal("there was no compaction")
		}
		answered(l, fmt.Sprint("t", i), "bash", fmt.Sprintf(`{"command":"cat t%d"}`, i), fmt.Sprintf("ticket %d: %s", i, strings.Repeat(fmt.Sprintf("order %d is paid. ", i), 60)))
		if b := mustCompile(t, inputOf(l, 8000)); b.Compactions > 0 {
			break
		}
	}
	b := mustCompile(t, inputOf(l, 8000))
	md := string(b.Markdown)
	if p := parseJSON(t, b); len(p.Omitted) > 0 || p.EpochReason != "turn_end when messages:9 arrived" {
		t.Errorf("%s, %d left out", p.EpochReason, len(p.Omitted))
	}
	for i := range 3 {
		if !strings.Contains(md, fmt.Sprintf(`cat > src/part%d.py <<'EOF'\ndef part%d_0(x):\n`, i, i)) || strings.Contains(md, fmt.Sprintf("def part%d_59", i)) ||
			!strings.Contains(md, fmt.Sprintf("left out, all of it in context/line/%d.txt]", 2*i+2)) {
			t.Errorf("the arguments of record %d: %s", 2*i+2, md[:min(len(md), 3000)])
		}
	}
	raw, err := b.Native(native.Anthropic, func() (messages, events record.Records, err error) { return l, nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	commands := gjson.GetBytes(raw, `messages.#.content|@flatten|#(type=="tool_use")#.input.command`).Array()
	if len(commands) < 3 || !strings.HasSuffix(commands[0].String(), "EOF\npython3 -m pytest -q") || strings.Contains(commands[0].String(), "part0_59") {
		t.Errorf("the commands of the rendering: %v", commands)
	}
}
