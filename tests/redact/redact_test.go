// Package redaction mounts with --redact and looks for seeded secrets in all that can be read there.
package redaction

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/internal/redact/redacttest"
	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

func line(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

// seeded writes every seed somewhere: in a user's text, in a result, in arguments, in parts, in an event; and once more bare.
func seeded(s *harness.Session, seeds []redacttest.Seed) {
	var messages, events strings.Builder
	for i, x := range seeds {
		id := fmt.Sprintf("c%d", i)
		long := strings.Repeat(fmt.Sprintf("ok   example.org/pkg/name%d 0.012s and some more words\n", i), 60)
		switch i % 5 {
		case 0:
			messages.WriteString(harness.Message("user", "Look:\n"+x.Text+"\nRemember: use it."))
		case 1:
			messages.WriteString(line(map[string]any{"role": "assistant", "content": "I look.", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "sh", "arguments": "{}"}}}}))
			messages.WriteString(line(map[string]any{"role": "tool", "tool_call_id": id, "content": long + x.Text + "\n" + long}))
		case 2:
			messages.WriteString(line(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "name": "sh", "arguments": map[string]any{"cmd": x.Text}}}}))
			messages.WriteString(line(map[string]any{"role": "tool", "tool_call_id": id, "content": "done"}))
		case 3:
			messages.WriteString(line(map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "first part"}, map[string]any{"type": "text", "text": x.Text}}}))
		case 4:
			events.WriteString(line(map[string]any{"type": "tool_result", "tool_call_id": id, "name": "sh", "output": x.Text}))
			events.WriteString(line(map[string]any{"type": "error", "error": "failed with " + x.Text}))
		}
		if x.Bare {
			messages.WriteString(harness.Message("assistant", "I keep "+x.Secret+" in mind, and decided to go on."))
		}
	}
	s.Append(ctxabi.EventsFile, events.String())
	s.Append(ctxabi.MessagesFile, messages.String())
}

// shown are the files of a session that must show no secret: all but the logs and what is the agent's.
func shown(t *testing.T, s *harness.Session) (files []string) {
	t.Helper()
	raw := []string{ctxabi.MessagesFile, ctxabi.EventsFile, ctxabi.LineDir, ctxabi.SwapChunkDir, ctxabi.DedupBlobDir,
		"context/pinned", "context/child/c/result.md", "context/child/c/handoff.md"}
	err := filepath.WalkDir(s.Dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.Dir, p)
		if err == nil && slices.Contains(raw, rel) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err == nil && !d.IsDir() {
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Count(s.Read(ctxabi.MessagesFile), "\n")
	for _, at := range []int{1, n / 2, n} {
		for _, name := range []string{"pack.md", "pack.json", "pack.report.md", "pack.openai.json", "pack.anthropic.json", "pack.gemini.json", "pack.genai.json", "pack.responses.json"} {
			files = append(files, fmt.Sprintf("context/at/%d/%s", at, name))
		}
	}
	return files
}

func mustHide(t *testing.T, what, text string, seeds []redacttest.Seed) {
	t.Helper()
	for _, x := range seeds {
		e, _ := json.Marshal(x.Secret)
		for _, s := range []string{x.Secret, string(e[1 : len(e)-1])} {
			if strings.Contains(text, s) {
				t.Errorf("%s shows the secret of %s", what, x.Name)
			}
		}
	}
}

func TestSeededSecretsAreShownNowhere(t *testing.T) {
	seeds := redacttest.Seeds(rand.New(rand.NewPCG(11, 22)))
	m := harness.Start(t, harness.Options{Args: []string{"--redact"}})
	s := m.Session(t, harness.Self(), "coder", "s1")
	child := m.Session(t, harness.Self(), "coder", "child")
	child.Append(ctxabi.MessagesFile, harness.Message("assistant", "Found: "+seeds[0].Text))
	child.Write("state", "done\n")
	s.Bash(`mkdir context/child/c && echo coder > context/child/c/agent && echo child > context/child/c/session`).OK()
	s.Write("context/pinned/rules.md", "Rules.\n"+seeds[13].Text+"\n")
	if err := os.WriteFile(filepath.Join(s.AgentHome(), "system_prompt.md"), []byte("Be careful.\n"+seeds[15].Text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, budget := range []string{"0", "4000"} {
		s.Write(ctxabi.BudgetFile, budget+"\n")
		if budget == "0" {
			seeded(s, seeds)
		}
		s.Bash(`echo '{"role":"user","content":"` + seeds[0].Secret + `' >> messages.jsonl; echo '` + seeds[0].Secret + `' > state; true`)
		for _, x := range seeds[:4] {
			mustHide(t, "a search", s.Read("context/search/"+x.Secret+" mind"), seeds)
			mustHide(t, "ctxfs search", m.CLI(t, "search", s.Dir, x.Secret).OK(), seeds)
		}
		for _, file := range shown(t, s) {
			b, err := os.ReadFile(s.Path(file))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			mustHide(t, "budget "+budget+", "+file, string(b), seeds)
		}
	}
	mustHide(t, "latest.md of a child", child.Read(ctxabi.LatestFile), seeds)
	if !strings.Contains(s.Read(ctxabi.MessagesFile), seeds[0].Secret) || !strings.Contains(s.Read("context/line/1"), seeds[0].Secret) {
		t.Error("the history itself does not hold what was written")
	}
	report := s.Read(ctxabi.ReportFile)
	if !strings.Contains(report, "## Redaction") || !strings.Contains(report, "github-pat") || !strings.Contains(report, "pinned/rules.md") {
		t.Errorf("the report does not say what was replaced:\n%s", report)
	}
	mustHide(t, "ctxfs pack", m.CLI(t, "pack", s.Dir).OK(), seeds)
}

// A thought whose text had a secret in it is no longer what was signed: the provider would refuse the whole request.
func TestARedactedThoughtIsNotSentWithItsSignature(t *testing.T) {
	secret := redacttest.Seeds(rand.New(rand.NewPCG(11, 22)))[0]
	s := harness.Start(t, harness.Options{Args: []string{"--redact"}}).Session(t, harness.Self(), "coder", "s1")
	say := func(thinking, signature, text string) string {
		return line(map[string]any{"role": "assistant", "content": []any{
			map[string]string{"type": "thinking", "thinking": thinking, "signature": signature}, map[string]string{"type": "text", "text": text}}})
	}
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Go on.")+say("They gave me "+secret.Text, "c2lnMQ==", "First.")+
		harness.Message("user", "Go on.")+say("Nothing secret here.", "c2lnMg==", "Second."))
	body := s.Read("context/pack.anthropic.json")
	mustHide(t, "pack.anthropic.json", body, []redacttest.Seed{secret})
	for text, stands := range map[string]bool{"c2lnMQ==": false, "They gave me": false, "First.": true, "c2lnMg==": true, "Nothing secret here.": true, "Second.": true} {
		if strings.Contains(body, text) != stands {
			t.Errorf("%q stands in the request: %v\n%s", text, !stands, body)
		}
	}
}

// The prefix of packs holds over a history that grows, and turning redaction on begins a new epoch.
func TestRedactedPrefixHolds(t *testing.T) {
	seeds := redacttest.Seeds(rand.New(rand.NewPCG(33, 44)))
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Look at "+seeds[0].Text))
	plain := s.Read(ctxabi.PackFile)
	if !strings.Contains(plain, seeds[0].Secret) {
		t.Fatal("without --redact a pack shows what was written")
	}
	redacted := m.CLI(t, "pack", s.Dir, "--redact").OK()
	mustHide(t, "ctxfs pack --redact", redacted, seeds)
	mustHide(t, "ctxfs search --redact", m.CLI(t, "search", "--store", m.Store, s.Ref(), seeds[0].Secret, "--redact").OK(), seeds)
	id := filepath.Base(strings.TrimSpace(s.Bash("ls context/served").OK()))
	m.Stop()
	on := harness.Start(t, harness.Options{Store: m.Store, Args: []string{"--redact"}})
	s.Dir, s.Mount = filepath.Join(on.Dir, s.Ref()), on
	if got := s.Read(ctxabi.PackFile); got != redacted {
		t.Errorf("the mount has\n%s\nand ctxfs pack --redact\n%s", got, redacted)
	}
	if _, err := os.ReadFile(s.Path("context/served/" + id)); err == nil {
		t.Error("a pack that was read before redaction was on is shown")
	}
	type packJSON struct {
		Epoch       string `json:"epoch"`
		EpochReason string `json:"epoch_reason"`
		Prefix      int    `json:"prefix_bytes"`
	}
	look := func() (p packJSON, md string) {
		if err := json.Unmarshal([]byte(s.Read(ctxabi.PackJSONFile)), &p); err != nil {
			t.Fatal(err)
		}
		return p, s.Read(ctxabi.PackFile)
	}
	before, text := look()
	if before.EpochReason != "redaction was turned on" {
		t.Errorf("the epoch began because: %s", before.EpochReason)
	}
	for i, x := range seeds {
		s.Append(ctxabi.MessagesFile, harness.Message("user", x.Text)+harness.Message("assistant", "With "+seeds[max(0, i-3)].Secret+" and "+x.Secret+"."))
		now, md := look()
		if now.Epoch == before.Epoch && !strings.HasPrefix(md, text[:before.Prefix]) {
			t.Fatalf("after %s the prefix changed", x.Name)
		}
		before, text = now, md
	}
}
