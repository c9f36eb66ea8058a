package pack

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/blocks"
	"github.com/ctxfs/ctxfs/pack/recipe"
)

// rows is a file of facts with n rows.
func rows(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"f%d","text":"Fact number %d: the door of hall %d is green.","source":"messages:%d"}`+"\n", i, i, i*3, i+1)
	}
	return []byte(b.String())
}

func agentFile(kind recipe.Type, data []byte) blocks.File {
	for k, s := range recipe.Default().Sources {
		if s.Type == kind {
			return blocks.File{At: k, ID: s.Block, Path: "context/" + string(kind) + ".jsonl", Data: data}
		}
	}
	panic(kind)
}

// Rows that the agent wrote have 400 tokens at any budget from 2,000 up, whole and newest first,
// and the block counts the missing ones.
func TestAgentRowsAreCutBetweenRows(t *testing.T) {
	for _, budget := range []int{2000, 4000, 8000, 32000} {
		md := string(mustCompile(t, inputOf(codingLog(80), budget, agentFile(recipe.TypeFacts, rows(400)))).Markdown)
		lines := strings.Split(strings.TrimSpace(blockNamed(md, "facts\n")), "\n")
		for i, line := range lines[1:] {
			if want := fmt.Sprintf(`{"id":"f%d"`, 400-len(lines)+1+i); !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "}") {
				t.Errorf("%d: %q, want %s", budget, line, want)
			}
		}
		if want := fmt.Sprintf("[%d older rows left out, all of them in context/facts.jsonl]", 400-len(lines)+1); lines[0] != want {
			t.Errorf("%d: got %q, want %q", budget, lines[0], want)
		}
		if tokens := len(lines) * 30; tokens < 350 {
			t.Errorf("%d: only %d rows", budget, len(lines)-1)
		}
	}
}

// Rows and texts that the agent wrote take tokens that no other block needs.
func TestAgentRowsGrowIntoTheBudget(t *testing.T) {
	text := strings.Repeat("The handoff tells of hall seven and its door.\n", 60) // about 600 tokens
	for kind, data := range map[recipe.Type][]byte{recipe.TypeFacts: rows(25), recipe.TypeHandoff: []byte(text)} {
		b := mustCompile(t, inputOf(codingLog(80), 4000, agentFile(kind, data)))
		if !strings.Contains(string(b.Markdown), strings.TrimSpace(string(data))) {
			t.Errorf("%s is cut with %d of 4000 tokens", kind, b.Tokens)
		}
	}
}

// All files of the agent have a part of a small budget.
func TestAgentFilesShareASmallBudget(t *testing.T) {
	in := inputOf(codingLog(80), 2000, agentFile(recipe.TypeHandoff, lines(2000)), agentFile(recipe.TypeSummary, lines(2000)), agentFile(recipe.TypeFacts, rows(100)), agentFile(recipe.TypeDecisions, rows(100)))
	b := mustCompile(t, in)
	md, all := string(b.Markdown), 0
	for _, it := range parseJSON(t, b).Items {
		if it.Extra {
			continue
		}
		if it.Kind == "handoff" || it.Kind == "summary" || it.Kind == "facts" || it.Kind == "decisions" {
			if all += it.Tokens; it.Tokens < 60 {
				t.Errorf("%s has %d tokens", it.Kind, it.Tokens)
			}
		}
	}
	if all < 350 {
		t.Errorf("all have %d tokens:\n%s", all, md)
	}
}

// A rule that is old, in a long message, or in a script without spaces stays word by word.
func TestOldRulesStayVerbatim(t *testing.T) {
	for _, rule := range []string{"Never push to the branch of the release.", "Schreib niemals Kundendaten in ein Ticket.", "コードのコメントは必ず日本語で書いてください。", "不要修改生成的文件。", "테스트 없이 절대 배포하지 마세요."} {
		l := logOf(string(message("user", "Begin with the parser.")))
		l.Append(message("user", "Here is the story of the parser. It was written long ago by people who left. "+rule+" "+strings.Repeat("The window looks fine in the light. ", 40)))
		for i := range 200 {
			l.Append(message("user", fmt.Sprintf("Could you look at the window number %d on the big screen?", i)))
			work(l, 2)
		}
		md := string(mustCompile(t, inputOf(l, 4000)).Markdown)
		if !strings.Contains(blockNamed(md, "user's words ("), rule) {
			t.Errorf("%q is missing in\n%s", rule, blockNamed(md, "user's words ("))
		}
		if !strings.Contains(md, "more messages of the user with content: context/line/") {
			t.Errorf("%q: nothing counts the missing messages", rule)
		}
	}
}

// Rules that do not fit are counted, and the report advises a pin.
func TestMissingRulesAreReported(t *testing.T) {
	l := logOf(string(message("user", "Begin with the parser.")))
	for i := range 300 {
		l.Append(message("user", fmt.Sprintf("Never touch the folder number %d of the old archive, whatever the tests say about its files.", i)))
		work(l, 1)
	}
	b := mustCompile(t, inputOf(l, 4000))
	if !strings.Contains(string(b.Markdown), "more messages with rules of the user: context/line/") {
		t.Errorf("nothing counts them:\n%s", blockNamed(string(b.Markdown), "user's words ("))
	}
	if !strings.Contains(string(b.Report), "context/pinned/") {
		t.Errorf("the report advises no pin:\n%s", b.Report)
	}
}

// No short message of the user leaves the prompt while it fits into the tokens that are free: what
// the journal leaves, but for wordsLeaveMost of it, which the next records need, and the tokens
// that the footer and inexact weights may take. No pack exceeds its budget, and no prefix breaks.
func TestMessagesStayWhileTokensAreFree(t *testing.T) {
	pure(t)
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(2000, 6000).Draw(t, "budget")
		l := newLog()
		var said []string
		for i := range rapid.IntRange(30, 60).Draw(t, "turns") {
			if rapid.IntRange(0, 2).Draw(t, "speaks") == 0 || i == 0 {
				said = append(said, fmt.Sprintf("Look at the window of hall %d, then at its door.", i))
				l.Append(message("user", said[len(said)-1]))
			}
			l.Append(message("assistant", weighing(rapid.SampledFrom([]int{20, 40, 400, 700}).Draw(t, "answer"))))
		}
		var c Compiler
		for n := 1; n <= l.Len(); n++ {
			b, err := c.Compile(inputOf(l.Prefix(n), budget))
			if err != nil {
				t.Fatal(err)
			}
			if b.Tokens > budget {
				t.Fatalf("%d tokens of %d", b.Tokens, budget)
			}
			reserved := min(max(200, budget/20), budget/8) + 64 + b.Room*220/1000
			free := budget - b.Tokens - reserved
			for _, text := range said {
				if free > 30 && !strings.Contains(string(b.Markdown), text) && indexOf(l, n, text) {
					t.Fatalf("record %d of %d: %q is missing, and %d of %d tokens are free beyond %d", n, l.Len(), text, free, budget, reserved)
				}
			}
		}
	})
}

// A compaction of a relay must not drop or shorten a message of the user if more than 220
// thousandths of the journal stay free, the reserve for new records. Its long heredocs count with
// the tokens that the prompt shows of them.
func TestRequestsOfARelayStay(t *testing.T) {
	const budget = 4000
	l := newLog()
	var said []string
	for i := range 12 {
		request := fmt.Sprintf("Request %d:", i)
		for _, column := range "abcdefgh"[:4+i%3*2] {
			request += fmt.Sprintf(" Column %c of the table shows the sum of what each part costs.", column)
		}
		said = append(said, request)
		l.Append(message("user", request))
		var code strings.Builder
		for k := range 100 + i%3*200 {
			fmt.Fprintf(&code, "def part%d_%d(x):\n    return x * %d\n", i, k, k)
		}
		command := quoteJSON("cat > t.py <<'EOF'\n" + code.String() + "EOF\npython3 t.py")
		answered(l, fmt.Sprint("w", i), "bash", `{"command":`+command+`}`, "12 passed")
		answered(l, fmt.Sprint("r", i), "bash", fmt.Sprintf(`{"command":"cat table%d"}`, i), weighing(600+i%3*400))
		l.Append(message("assistant", fmt.Sprintf("Table %d is written, and its 12 tests pass.", i)))
	}
	var c Compiler
	compactions := 0
	for n := 1; n <= l.Len(); n++ {
		b, err := c.Compile(inputOf(l.Prefix(n), budget))
		if err != nil {
			t.Fatal(err)
		}
		if b.Compactions == compactions {
			continue // new records use the free tokens until the next compaction
		}
		compactions = b.Compactions
		free := b.Room - b.Room*220/1000 - b.Tokens
		for _, text := range said {
			if free > 0 && !strings.Contains(string(b.Markdown), text) && indexOf(l, n, text) {
				t.Errorf("record %d: %d tokens, %d of them free, without %q", n, b.Tokens, free, text)
			}
		}
	}
	if compactions < 3 {
		t.Errorf("%d compactions", compactions)
	}
}

// indexOf reports whether one of the first n records has a text.
func indexOf(l *memLog, n int, text string) bool {
	for at := 1; at <= n; at++ {
		if raw, _ := l.Record(at); strings.Contains(string(raw), text) {
			return true
		}
	}
	return false
}
