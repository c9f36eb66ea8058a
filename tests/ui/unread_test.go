package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// claudeTranscript is a conversation of Claude Code with what its provider counted, in Claude Code's form.
func claudeTranscript(t *testing.T, calls int) string {
	t.Helper()
	type obj = map[string]any
	var b strings.Builder
	e := json.NewEncoder(&b)
	parent := any(nil)
	add := func(i int, kind string, message obj) {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		if err := e.Encode(obj{"uuid": id, "parentUuid": parent, "sessionId": "5f1c7a02-93d4-4c5e-a1f0-2b7d6c8e9f10", "isSidechain": false, "userType": "external", "cwd": "/", "version": "2.0.1",
			"timestamp": fmt.Sprintf("2026-05-04T10:00:%02d.000Z", i), "type": kind, "message": message}); err != nil {
			t.Fatal(err)
		}
		parent = id
	}
	for i := range calls {
		add(2*i, "user", obj{"role": "user", "content": fmt.Sprintf("Question %d about the retry", i)})
		add(2*i+1, "assistant", obj{"id": fmt.Sprintf("msg_%d", i), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
			"content": []obj{{"type": "text", "text": fmt.Sprintf("Answer %d", i)}},
			"usage":   obj{"input_tokens": 10, "cache_read_input_tokens": 20000, "cache_creation_input_tokens": 1552, "output_tokens": 271}})
	}
	return b.String()
}

// An agent program that makes its own requests never reads a pack. The pages and stats show its
// recorded usage first, do not claim that the model saw a pack, and predict no cache hits.
func TestUnreadPackWasShownAsSent(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "claude-code", "s1")
	file := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := os.WriteFile(file, []byte(claudeTranscript(t, 4)), 0o666); err != nil {
		t.Fatal(err)
	}
	s.Run(harness.Binary(t), "import", file, m.Dir+"/"+s.Ref()).OK()
	x := serve(t, m)
	h := map[string]string{"Cookie": x.enter(t), "Sec-Fetch-Site": "same-origin"}
	check := func(path string, wants, not []string) {
		t.Helper()
		path = strings.ReplaceAll(path, "R", s.Ref())
		status, text, _ := x.ask(t, "GET", path, h, "")
		if status != http.StatusOK {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
		at := 0
		for _, want := range wants {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Errorf("%s has no %q behind the others:\n%.2000s", path, want, text)
				break
			}
			at += i
		}
		for _, bad := range not {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %q:\n%.2000s", path, bad, text)
			}
		}
	}
	model := []string{"What the model sees", "What each call of the model sent", "stand now", "read from a cache", "had already"}
	const input, read, output = "<b>86,248</b> input tokens in 4 calls", "<b>80,000</b> of them", "<b>1,084</b> output tokens"
	check("/pack/R", []string{"What ctxfs would send"}, model)
	check("/session/R", []string{"would stand in a pack"}, model)
	check("/part/pack/R", []string{input, read, output, "No program has read a pack", " tokens · 8 messages"}, model)
	check("/time/R", []string{"Prompts over time"}, model)
	check("/part/calls/R", []string{input, read, output, "what ctxfs would send at each call", "packs that ctxfs would send"}, append(model, "written to it"))

	const recorded = "  4 records: 86,248 input tokens, 80,000 of them (92.8 %) read from the cache; 1,084 output tokens\n"
	stats := s.Run(harness.Binary(t), "stats", ".").OK()
	used, sections := strings.Index(stats, recorded), strings.Index(stats, "\ntokens by section\n")
	if used < 0 || sections < used || !strings.Contains(stats, "No program has read a pack") {
		t.Errorf("stats:\n%s", stats)
	}
	for _, bad := range []string{"calibration", "predicted", "cached"} {
		if strings.Contains(stats, bad) {
			t.Errorf("stats have %q:\n%s", bad, stats)
		}
	}

	s.Read("context/pack.md") // somebody looks at it once
	if stats = s.Run(harness.Binary(t), "stats", ".").OK(); strings.Contains(stats, "calibration") || strings.Contains(stats, "predicted") || !strings.Contains(stats, recorded) {
		t.Errorf("stats after a look:\n%s", stats)
	}
	check("/part/calls/R", []string{input, "did not follow packs that were read"}, append(model, "written to it"))
	check("/pack/R", []string{"What the model sees"}, nil)
}
