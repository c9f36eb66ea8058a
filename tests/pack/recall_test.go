package packtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// What was said long ago comes back when it is asked for, under its own number, and the pack stays within its budget and its prefix.
func TestRecallThroughTheMount(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	secret := "The spare key of the observatory lies below the third beehive."
	colors := strings.Fields("red blue green black white brown pink gray gold silver violet orange yellow beige teal")
	goods := strings.Fields("pens inks rulers stamps folders labels clips cards chalks brushes erasers tapes staples")
	goods = append(goods, "pads")
	var log strings.Builder
	for i := range 200 {
		if i == 30 {
			log.WriteString(harness.Message("user", secret))
		}
		order := fmt.Sprintf("Order %d: please send %d boxes of %s %s to the usual address.",
			i, i*7, colors[i%len(colors)], goods[i/len(colors)])
		log.WriteString(harness.Message("user", order))
	}
	s.Append("messages.jsonl", log.String())
	before := read(t, s)
	if strings.Contains(before.md, secret) {
		t.Fatal("the old message is in the pack although nobody asks for it")
	}
	s.Append("messages.jsonl", harness.Message("user", "Where is the spare key of the observatory?"))
	after := read(t, s)
	if !strings.Contains(after.md, "## 31 user (recalled)\n"+secret+"\n") {
		t.Errorf("nothing was recalled:\n%s", after.md)
	}
	after.account(t, 202)
	before.continues(t, after)
	var p struct {
		Tokens int
		Items  []struct {
			Kind, Source, Range, Phase string
			Extra                      bool
		}
	}
	if err := json.Unmarshal([]byte(s.Read("context/pack.json")), &p); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, it := range p.Items {
		found = found || it.Kind == "recall" && it.Source == "messages.jsonl" && it.Range == "31" && it.Extra && it.Phase == "dynamic"
	}
	if !found || p.Tokens > 3000 {
		t.Errorf("%d tokens, items %+v", p.Tokens, p.Items)
	}
	for _, format := range []string{"openai", "anthropic", "responses", "gemini", "genai"} {
		if !strings.Contains(s.Read("context/pack."+format+".json"), "below the third beehive") {
			t.Errorf("not in pack.%s.json", format)
		}
	}
}

// filler returns ordinary work that no test asks for.
func filler(n int) string {
	var b strings.Builder
	for i := range n {
		text := fmt.Sprintf("Crate %d is packed: %d pens, %d rulers, and %d large envelopes.", i, i*7, i*11, i*13)
		b.WriteString(harness.Message("assistant", text))
	}
	return b.String()
}

// recalled returns the block recall of the prompt, or "".
func recalled(s *harness.Session) string {
	_, block, _ := strings.Cut(s.Read("context/pack.md"), "\n# Context Block: recall\n")
	block, _, _ = strings.Cut(block, "\n# Context Block: goal\n")
	return block
}

// A request waits until new records are indexed, but not for records of an earlier pack, even if
// the daemon was killed.
func TestARequestWaitsForNoIndex(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	s.Append("messages.jsonl", filler(200))
	read(t, s)
	// The block of the messages 161 to 192.
	last := filepath.Join(s.InStore(), ctxabi.InternalDir, "notes/terms.5.32")
	harness.Eventually(t, "the last whole block", func() bool {
		_, err := os.Stat(last)
		return err == nil
	})
	m.Kill()
	m.Restart()
	s.Append("messages.jsonl", harness.Message("user", "Which crate has 42 pens?"))
	read(t, s)
	grep := harness.Client{UID: harness.Self(), Argv: []string{"grep", "recall_awaited", m.Dir + "/status"}}
	_, awaited, ok := strings.Cut(m.Run(t, grep).OK(), "=")
	if n, err := strconv.Atoi(strings.TrimSpace(awaited)); !ok || err != nil || n == 0 || n > 9 {
		t.Errorf("the request waited for %q records of 201, 192 of which are stored (%v)", awaited, err)
	}
}

// A message without content recalls nothing; a question does.
func TestThanksRecallNothing(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for newest, want := range map[string]bool{
		"Great, thank you for your help!":             false,
		"Thank you so much for your help! ###STOP###": false,
		"###STOP###": false,
		"ok":         false,
		"go on":      false,
		"What did the customer say about the help?":    true,
		"Thank the customer for the help with the pen": true,
	} {
		s := m.NewSession(t)
		s.Write("context/budget", "3000\n")
		for i := range 8 {
			text := "Thank you so much for your help, the customer said go on and stop with order %d ok!"
			s.Append("messages.jsonl", harness.Message("assistant", fmt.Sprintf(text, i))+filler(20))
		}
		s.Append("messages.jsonl", harness.Message("user", newest))
		if got := recalled(s); (got != "") != want {
			t.Errorf("%q recalls %q", newest, got)
		}
	}
}

// While the agent reads files, the user's request is looked for, not the newest calls.
func TestReadingRecallsNoOldReads(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	fact := "The seal of the observatory pump is made of graphite."
	s.Append("messages.jsonl", harness.Message("user", "Look after the station.")+harness.Message("assistant", fact))
	for i := range 160 {
		text := strings.Repeat(fmt.Sprint(i, " pens are there. "), 12)
		s.Append("messages.jsonl", harness.Called(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command": "cat f%d"}`, i), text))
	}
	s.Append("messages.jsonl", harness.Message("user", "Write a page about the seal of the observatory pump."))
	for i := range 4 {
		command := fmt.Sprintf(`{"command": "cat f%d"}`, i)
		s.Append("messages.jsonl", harness.Called(fmt.Sprint("d", i), "bash", command, "It is empty."))
	}
	if got := recalled(s); strings.Contains(got, "cat f") || !strings.Contains(s.Read("context/pack.md"), fact) {
		t.Errorf("recalled %q", got)
	}
}

// What a later write of the file replaced is not recalled. Without that write, and from another
// file, it is.
func TestReplacedContentIsNotRecalled(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	const old = "The gate of the lighthouse opens at nine."
	for name, want := range map[string]bool{"notes.md": false, "other.md": true, "": true} {
		for _, tool := range []string{"write_file", "read_file"} {
			s := m.NewSession(t)
			s.Write("context/budget", "3000\n")
			first := harness.Called("a", tool, `{"path":"notes.md","content":"# Notes\n`+old+`"}`, "written")
			if tool == "read_file" {
				first = harness.Called("a", tool, `{"path":"notes.md"}`, "# Notes\n"+old)
			}
			s.Append("messages.jsonl", harness.Message("user", "Keep notes.")+first+filler(120))
			if name != "" {
				arguments := `{"path":"` + name + `","content":"# Notes\nThe gate opens at eight."}`
				s.Append("messages.jsonl", harness.Called("b", "write_file", arguments, "written")+filler(60))
			}
			s.Append("messages.jsonl", harness.Message("user", "When does the gate of the lighthouse open?"))
			got, pack := recalled(s), s.Read("context/pack.md")
			if !want && strings.Contains(got, old) || want && !strings.Contains(pack, old) {
				t.Errorf("%s, then a write of %q: recalled %q", tool, name, got)
			}
		}
	}
}

// Passages that differ in case and punctuation alone are recalled once.
func TestEqualPassagesAreRecalledOnce(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	s.Append("messages.jsonl", harness.Message("user", "Look after the tower."))
	const fact = "the lamp of the lighthouse is green"
	for _, text := range []string{fact + ".", fact, strings.ToUpper(fact) + "!"} {
		s.Append("messages.jsonl", harness.Called("c", "look", "{}", text)+filler(100))
	}
	s.Append("messages.jsonl", harness.Message("user", "Which color has the lamp of the lighthouse?"))
	if got := recalled(s); strings.Count(strings.ToLower(got), fact) != 1 {
		t.Errorf("recalled %q", got)
	}
}

// Recall and key lines showed text that an edit removed, and text that a failed call should have
// written, as if it were the present text of the file.
func TestUnwrittenTextIsNotQuoted(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Write("context/budget", "3000\n")
	s.Append("messages.jsonl", harness.Message("user", "Set the retention of the observatory archive."))
	s.Append("messages.jsonl", harness.Called("c1", "edit", `{"path":"src/archive.py",`+
		`"oldText":"RETENTION_DAYS = 4711  # of the observatory archive\nkeep = RETENTION_DAYS\n",`+
		`"newText":"RETENTION_DAYS = 365  # of the observatory archive\nkeep = RETENTION_DAYS\n"}`, "Edited src/archive.py."))
	s.Append("messages.jsonl", harness.Called("c2", "write", `{"path":"src/run_archive.py",`+
		`"content":"OBSERVATORY_LIMIT = 9182  # of the observatory archive\nstart(OBSERVATORY_LIMIT)\n"}`,
		"Error: EACCES: permission denied, open 'src/run_archive.py'"))

	for i := range 160 {
		order := fmt.Sprintf("Order %d: %d boxes of pens go to the usual address in town.", i, i*7)
		s.Append("messages.jsonl", harness.Message("assistant", order))
	}
	s.Append("messages.jsonl", harness.Message("user",
		"What is the value of RETENTION_DAYS and OBSERVATORY_LIMIT in the observatory archive?"))
	prompt := s.Read("context/pack.md")
	for _, unwritten := range []string{"4711", "9182"} {
		if strings.Contains(prompt, unwritten) {
			t.Errorf("the prompt quotes %s:\n%s", unwritten, prompt)
		}
	}
	if !strings.Contains(prompt, "365") {
		t.Errorf("the prompt does not quote the new text:\n%s", prompt)
	}
}
