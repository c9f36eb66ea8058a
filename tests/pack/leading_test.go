package packtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// headOf is what a rendering gives its provider as the system's, and the role of each of these texts.
func headOf(t *testing.T, format, data string) (texts []string) {
	t.Helper()
	type message struct {
		Role, Content string
	}
	type texted []struct{ Text string }
	var body struct {
		Messages, Input   []json.RawMessage
		System            texted
		SystemInstruction struct{ Parts texted }
		Config            struct{ SystemInstruction struct{ Parts texted } }
	}
	if err := json.Unmarshal([]byte(data), &body); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	for _, p := range slices.Concat(body.System, body.SystemInstruction.Parts, body.Config.SystemInstruction.Parts) {
		texts = append(texts, p.Text)
	}
	if format == "anthropic" || format == "gemini" || format == "genai" {
		return texts
	}
	for _, raw := range append(body.Messages, body.Input...) {
		var m message
		if json.Unmarshal(raw, &m) != nil || m.Role != "system" && m.Role != "developer" {
			break
		}
		texts = append(texts, m.Role+": "+m.Content)
	}
	return texts
}

// A session that begins with the messages of a system and a developer, as an imported one does, shows them in the head of every
// rendering at every budget, behind the agent's own system prompt and before all that a compaction makes.
func TestLeadingSystemMessagesLostTheirRoleAtTheFirstCompaction(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash(`echo 'You are careful.' > ../../system_prompt.md; mkdir ../../memory; echo 'pier 7 has a crane' > ../../memory/a.md; echo 'ledger notes: account' > ../../memory/b.md; echo PIN > context/pinned/p.md`).OK()
	var log strings.Builder
	log.WriteString(`{"role":"system","content":"You work at the harbour desk. Never refund."}` + "\n" + `{"role":"developer","content":"Answer in English."}` + "\n")
	log.WriteString(`{"role":"user","content":"Which crane is at pier 7?"}` + "\n")
	for i := range 240 {
		fmt.Fprintf(&log, `{"role":"assistant","content":"Thought %d: module_%d.py line %d, account %d, rounding of cents"}`+"\n", i, i, i*37, i*13)
	}
	log.WriteString(`{"role":"user","content":"Now the ledger."}` + "\n")
	s.Append("messages.jsonl", log.String())
	before := ""
	for _, budget := range []string{"0", "32000", "3000", "1200"} {
		s.Bash("echo " + budget + " > context/budget").OK()
		b := read(t, s)
		b.account(t, 244)
		if compacted := budget == "3000" || budget == "1200"; compacted != (b.Compactions > 0) {
			t.Fatalf("%s: %d compactions", budget, b.Compactions)
		}
		head := "# Context Block: system_prompt\nYou are careful.\n# Context Block: system messages\n## 1 system\nYou work at the harbour desk. Never refund.\n## 2 developer\nAnswer in English.\n# Context Block: pinned/p.md\n"
		if !strings.HasPrefix(b.md, head) {
			t.Errorf("%s: pack.md begins with\n%.600s", budget, b.md)
		}
		for _, f := range nativeFormats {
			data := valid(t, s, f)
			texts := strings.Join(headOf(t, f, data), "|")
			roles := []string{"", "", ""}
			if f == "openai" || f == "responses" {
				roles = []string{"system: ", "system: ", "developer: "}
			}
			if want := roles[0] + "# Context Block: system_prompt\nYou are careful.\n|" + roles[1] + "You work at the harbour desk. Never refund.|" + roles[2] + "Answer in English.|"; !strings.HasPrefix(texts, want) {
				t.Errorf("%s at %s: the system says %.400q", f, budget, texts)
			}
			if strings.Count(data, "harbour desk") != 1 || strings.Contains(data, "[System message]") {
				t.Errorf("%s at %s says it elsewhere:\n%s", f, budget, data)
			}
		}
		if before != "" && budget != "32000" && before[:len(head)] != b.md[:len(head)] {
			t.Errorf("%s: the head is another one", budget)
		}
		before = b.md
	}
}

// What is too long for the head is shortened there, with the path of the whole, and stays the system's; a short one beside it stays whole.
func TestALongLeadingSystemMessageIsShortenedInTheHead(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	var policy strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&policy, `Rule %d: refund case %d by hand.\n`, i, i*7)
	}
	s.Append("messages.jsonl", `{"role":"system","content":"POLICY\n`+policy.String()+`"}`+"\n"+`{"role":"developer","content":"Answer in English."}`+"\n")
	var log strings.Builder
	for i := range 300 {
		fmt.Fprintf(&log, `{"role":"assistant","content":"Thought %d: module_%d.py line %d, account %d"}`+"\n", i, i, i*37, i*13)
	}
	s.Append("messages.jsonl", `{"role":"user","content":"Go."}`+"\n"+log.String())
	s.Bash("echo 4000 > context/budget").OK()
	b := read(t, s)
	b.account(t, 303)
	if b.Compactions == 0 {
		t.Fatal("no compaction")
	}
	head, _, _ := strings.Cut(b.md, "# Context Block: summary")
	for _, want := range []string{"# Context Block: system messages\n## 1 system\nPOLICY\nRule 0: refund case 0 by hand.\n", "left out, all of it in context/line/1.txt]", "Rule 2999: refund case 20993 by hand.\n", "## 2 developer\nAnswer in English.\n"} {
		if !strings.Contains(head, want) {
			t.Errorf("no %q in\n%s", want, head)
		}
	}
	for _, f := range nativeFormats {
		texts := headOf(t, f, valid(t, s, f))
		if len(texts) < 2 || !strings.Contains(texts[0], "Rule 2999") || !strings.Contains(texts[0], "context/line/1.txt") || !strings.HasSuffix(texts[1], "Answer in English.") {
			t.Errorf("%s: the system says %.600q", f, texts)
		}
	}
	if whole := s.Read("context/line/1.txt"); !strings.Contains(whole, "Rule 1500:") {
		t.Error("the path does not give the whole")
	}
}
