package recipetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// A summarizer runs in an empty, writable directory outside the workspace and with hooks disabled.
// The directory is removed after the run.
func TestSummarizerRunsInAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	s := newStage(t, harness.Start(t, harness.Options{}), owner())
	s.putBytes("work/sum", "#!/bin/bash\n"+
		"{ ls -A | wc -l; echo x > mine && cat mine; echo $CTXFS_HOOK; pwd; } > \"${0%/*}/around.new\"\n"+
		"mv \"${0%/*}/around.new\" \"${0%/*}/around\"\ncat > /dev/null\necho '- Words are said (messages:1).'\n")
	s.recipe(summaryRecipe)
	s.compacted()
	s.says("enters at the next compaction")
	around, err := os.ReadFile(s.path("work/around"))
	if err != nil {
		t.Fatal(err)
	}

	dir, ok := strings.CutPrefix(string(around), "0\nx\noff\n")
	if dir = strings.TrimSpace(dir); !ok || strings.HasPrefix(dir, s.path("work")) {
		t.Errorf("around it is\n%s", around)
	}
	if out := s.client("", `test -e "$1" || echo gone`, dir); out.Stdout != "gone\n" {
		t.Errorf("%s stays: %s", dir, out.Stdout+out.Stderr)
	}
}

// ctxfs asks the model at an OpenAI-compatible endpoint for a summary, and delivers the answer.
func TestModelOfAnEndpointWritesTheSummary(t *testing.T) {
	t.Parallel()
	type request struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	asked := make(chan request, 16)
	var summary strings.Builder
	for i := range 16 {
		fmt.Fprintf(&summary, "- The model says that Word%d is said, and that a record says so (messages:%d).\n",
			i, i+1)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body request
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" ||
			r.Header.Get("Authorization") != "Bearer k1" {
			http.Error(w, fmt.Sprintf("%s with the key %q: %v", r.URL, r.Header.Get("Authorization"), err),
				http.StatusBadRequest)
			return
		}
		asked <- body
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": summary.String()}}},
			"usage": map[string]any{"prompt_tokens": 512, "completion_tokens": 16}})
	}))
	defer server.Close()

	s := newStage(t, harness.Start(t, harness.Options{}), owner())
	s.recipe(`
total_max_tokens: 2500
env: {MODEL_KEY: k1}
summarizer: {openai: "` + server.URL + `/v1", model: small, api_key_env: MODEL_KEY}
sources: [{type: journal}]
`)
	s.compacted()
	s.says("enters at the next compaction")
	got := <-asked
	if got.Model != "small" || len(got.Messages) != 2 || got.Messages[0].Role != "system" ||
		!strings.Contains(got.Messages[0].Content, "Name only these records: messages:1-") ||
		!strings.HasPrefix(got.Messages[1].Content, "[messages:1 user]\nRecord 0 of it.") {
		t.Errorf("the model was asked %.900q", got)
	}
	if got := s.Read("context/summaries/1.md"); got != summary.String() {
		t.Errorf("version 1 is\n%s", got)
	}
	packs := s.compacted()
	if last := packs[len(packs)-1]; !strings.Contains(last.md, "- The model says that Word3 is said") {
		t.Errorf("the pack is\n%s\n%s", last.md, s.Read("context/pack.report.md"))
	}
}

// The report names an unset key variable, and the status and body of a failed request.
func TestFailureOfAModelIsReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such model", http.StatusNotFound)
	}))
	defer server.Close()
	m := harness.Start(t, harness.Options{})
	for keys, says := range map[string]string{
		"model: small": "/v1/chat/completions: status 404 Not Found: no such model",
		"model: small, api_key_env: NOBODY_HAS_THIS_KEY": "$NOBODY_HAS_THIS_KEY, which holds the key of the API, " +
			"is not set",
	} {
		s := newStage(t, m, owner())
		s.recipe("total_max_tokens: 2500\nsummarizer: {openai: \"" + server.URL + "\", " + keys +
			"}\nsources: [{type: journal}]\n")
		s.compacted()
		s.says(says)
	}
}
