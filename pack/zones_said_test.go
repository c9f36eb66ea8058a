package pack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/record"
)

// work appends n steps of an agent.
func work(l *memLog, n int) {
	for i := range n {
		at := l.Len()
		l.Append([]byte(fmt.Sprintf(`{"role":"assistant","content":"Now the edit of part %d.","tool_calls":[{"id":"e%d","name":"edit","arguments":"{\"path\":\"src/part_%d.py\",\"old\":\"value_%d\",\"new\":\"other_%d\"}"}]}`, i, at, at, i*3, i*5)))
		l.Append([]byte(fmt.Sprintf(`{"role":"tool","tool_call_id":"e%d","content":"edited src/part_%d.py, line %d"}`, at, at, i*11)))
	}
}

// What the user said stands in the pack when its records have left it: without commands, pastes and what programs put there, a short
// reply with its question.
func TestTheUsersWordsStay(t *testing.T) {
	l := logOf(string(message("user", "Write the importer.")))
	work(l, 5)
	say := func(role, text string) { l.Append(message(role, text)) }
	say("user", "/compact")
	say("user", "The tests must not use a network, ever.")
	work(l, 5)
	say("assistant", "The format is open. Shall I write CSV or JSON?")
	say("user", "the second one")
	work(l, 5)
	say("user", "It broke:\n```\n"+strings.Repeat("at importer.run(importer.py:12)\n", 60)+"```\nkeep the old reader for now.\n<system-reminder>\nsecret plans of the program\n</system-reminder>")
	work(l, 5)
	say("user", "thanks")
	work(l, 30)
	say("user", "And now the docs.")
	work(l, 60)
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	block := blockNamed(md, "user's words (")
	for _, want := range []string{"The tests must not use a network, ever.", "the second one (answering the assistant: ", "Shall I write CSV or JSON?\")", "It broke: […] keep the old reader for now. · context/line/"} {
		if !strings.Contains(block, want) {
			t.Errorf("no %q in\n%s", want, block)
		}
	}
	for _, not := range []string{"/compact", "secret plans", "thanks", "importer.run", "Write the importer.", "And now the docs."} {
		if strings.Contains(block, not) {
			t.Errorf("%q in\n%s", not, block)
		}
	}
	if strings.Index(md, "user's words (") > strings.Index(md, "key lines (") {
		t.Error("the key lines stand before the user's words")
	}
}

// Where there is no room for all, the newest stay, in order; long ones are shortened first.
func TestTheNewestOfTheUsersWordsStay(t *testing.T) {
	l := logOf(string(message("user", "Begin.")))
	for i := range 150 {
		l.Append(message("user", fmt.Sprintf("Request %d is about module_%d. It has a long story that nobody needs to know any more. You must keep option_%d as it is.", i, i, i)))
		work(l, 2)
	}
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	lines := strings.Split(strings.TrimSpace(blockNamed(md, "user's words (")), "\n")[1:]
	if len(lines) < 8 {
		t.Fatalf("%q", lines)
	}
	if more := lines[len(lines)-1]; !strings.Contains(more, " more messages with rules of the user: context/line/") {
		t.Errorf("%q does not count the missing messages", more)
	}
	lines = lines[:len(lines)-1]
	last := -1
	for _, line := range lines {
		n := 0
		if _, err := fmt.Sscanf(line[strings.Index(line, "Request ")+len("Request "):], "%d", &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if last >= 0 && n != last+1 {
			t.Errorf("%d behind %d", n, last)
		}
		last = n
		if !strings.Contains(line, fmt.Sprintf("You must keep option_%d as it is.", n)) {
			t.Errorf("without the demand: %q", line)
		}
	}
	if last < 100 {
		t.Errorf("the newest is %d", last)
	}
}

// The block takes no more than its part, names only messages of the user, and is the same when it is made again.
// What the user demanded once outlives what they said since, where there is no room for both.
func TestDemandsOutliveChatter(t *testing.T) {
	l := logOf(string(message("user", "Begin.")))
	l.Append(message("user", "Colors are RGB values, you must not use palette indices."))
	for i := range 400 {
		l.Append(message("user", fmt.Sprintf("The window number %d looks fine on the big screen here with the light of the afternoon in it.", i)))
		work(l, 2)
	}
	block := blockNamed(string(mustCompile(t, inputOf(l, 8000)).Markdown), "user's words (")
	if n := strings.Count(block, "\n"); n < 4 || !strings.Contains(block, " more messages of the user") {
		t.Fatalf("%d lines:\n%s", n, block)
	}
	if !strings.Contains(block, "you must not use palette indices") {
		t.Errorf("the demand is gone:\n%s", block)
	}
}

func TestTheUsersWordsHoldTheirRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := history(t)
		in := inputOf(l, rapid.IntRange(1500, 9000).Draw(t, "budget"))
		b, err := compile(in)
		if err != nil {
			return
		}
		var p packJSON
		if err := json.Unmarshal(b.JSON(), &p); err != nil {
			t.Fatal(err)
		}
		for _, it := range p.Items {
			if it.Kind == "user_words" && it.Tokens > in.Budget*30/100 { // its share, and what a compaction leaves free
				t.Fatalf("%d tokens of %d", it.Tokens, in.Budget)
			}
		}
		md := string(b.Markdown)
		for line := range strings.Lines(blockNamed(md, "user's words (")) {
			var n int
			if c, _ := fmt.Sscanf(line, "- [%d]", &n); c == 1 && !record.IsUser(l.At(n)) {
				t.Fatalf("%q is not of the user", line)
			}
		}
		if again := mustCompile(t, in); string(again.Markdown) != md {
			t.Fatal("another pack the second time")
		}
	})
}

// The summary tells of its whole range, in whole sentences.
func TestTheSummaryTellsOfItsWholeRange(t *testing.T) {
	l := logOf(string(message("user", "Begin.")))
	for i := range 80 {
		l.Append(message("user", fmt.Sprintf("Look into module_%d.", i)))
		work(l, 2)
		l.Append(message("assistant", fmt.Sprintf("Done! I fixed module_%d because its cache was never cleared. Shall I go on?", i)))
	}
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	var parts [4]int
	for _, line := range strings.Split(strings.TrimSpace(blockNamed(md, "summary (")), "\n")[2:] {
		at, n := strings.Index(line, "I fixed module_"), 0
		if at < 0 || !strings.Contains(line, "because its cache was never cleared. (messages:") {
			t.Errorf("%q", line)
			continue
		}
		fmt.Sscanf(line[at:], "I fixed module_%d", &n)
		parts[n*4/80]++
	}
	for i, n := range parts[:3] { // the last ones are live
		if n == 0 {
			t.Errorf("nothing of quarter %d: %v", i+1, parts)
		}
	}
}

// A line of a file that an edit took out of it does not stand as if it were there.
func TestKeyLinesOfAFileAsItIs(t *testing.T) {
	l := logOf(string(message("user", "Set the limit.")),
		`{"role":"assistant","tool_calls":[{"id":"a","name":"read","arguments":"{\"path\":\"conf/limits.go\"}"}]}`,
		`{"role":"tool","tool_call_id":"a","content":"package conf\nconst uploadLimitBytes = 4711 // of one upload\nconst sessionLimitCount = 12 // of one user"}`,
		`{"role":"assistant","tool_calls":[{"id":"b","name":"edit","arguments":"{\"path\":\"conf/limits.go\",\"oldText\":\"const uploadLimitBytes = 4711 // of one upload\\n// end\",\"newText\":\"const uploadLimitBytes = 8822 // of one upload\\n// end\"}"}]}`,
		`{"role":"tool","tool_call_id":"b","content":"Successfully replaced text"}`)
	work(l, 150)
	l.Append(message("assistant", "uploadLimitBytes and sessionLimitCount of conf/limits.go come next."))
	work(l, 4)
	block := blockNamed(string(mustCompile(t, inputOf(l, 8000)).Markdown), "key lines (")
	if !strings.Contains(block, "uploadLimitBytes = 8822") || strings.Contains(block, "4711") {
		t.Errorf("%s", block)
	}
}

// Of a message that is a JSON object, the summary quotes sentences of its texts, not its syntax.
func TestConclusionOfAJSONMessage(t *testing.T) {
	l := logOf(string(message("user", "Change the order.")))
	l.Append(message("assistant", `{"message":"The order #W48 was updated because it was pending.","order":{"id":"W48"},"note":"The silver set was removed from it.","ship_to":"763 Broadway, Suite 135, Philadelphia"}`))
	l.Append(message("user", "Thanks, and now look into module_1."))
	work(l, 150)
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	if block := blockNamed(md, "summary ("); !strings.Contains(block, "The order #W48 was updated because it was pending.") ||
		strings.Contains(block, `"note"`) || strings.Contains(block, "763") && !strings.Contains(block, "ship_to: 763") {
		t.Errorf("%s", block)
	}
}

// A conclusion that a later one states again with another number is in neither block.
func TestConclusionLosesToALaterOne(t *testing.T) {
	l := logOf(string(message("user", "Fill the table.")))
	for _, n := range []int{3, 9} {
		l.Append(message("assistant", fmt.Sprintf("I found that %d/12 rows of `rates_table` are filled because the import is slow.", n)))
		l.Append(message("user", fmt.Sprintf("Look into module_%d.", n)))
		work(l, 2)
	}
	work(l, 150)
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	if strings.Contains(md, "3/12 rows") || !strings.Contains(md, "9/12 rows") {
		t.Errorf("%s", md)
	}
}

func TestGoalIsCutBetweenWords(t *testing.T) {
	path := "~/project/src/components/hooks/"
	l := logOf(string(message("user", "Build all components with the hooks in "+strings.Repeat(path+" and ", 30)+"run them.")))
	work(l, 150)
	md := string(mustCompile(t, inputOf(l, 8000)).Markdown)
	_, quote, _ := strings.Cut(blockNamed(md, "goal"), "\n> ")
	quote, _, _ = strings.Cut(quote, "\n")
	if !strings.HasSuffix(quote, " …") || strings.Trim(strings.ReplaceAll(strings.ReplaceAll(quote, path, ""), " and", ""), " …") !=
		"Build all components with the hooks in" {
		t.Errorf("%q", quote)
	}
}
