package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

// modelServer is an OpenAI-compatible server whose model answers with a text.
type modelServer struct {
	*httptest.Server
	answer string

	mu    sync.Mutex
	asked []modelRequest // guarded by mu
}

// modelRequest is the body of a request for a completion.
type modelRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens   int     `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
}

func newModelServer(t *testing.T, answer string) *modelServer {
	s := &modelServer{answer: answer}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"small-7b","object":"model"},{"id":"other","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var asked modelRequest
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&asked); err != nil || r.Header.Get("Authorization") != "Bearer k1" {
			http.Error(w, fmt.Sprintf("bad request: %v", err), http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		s.asked = append(s.asked, asked)
		s.mu.Unlock()
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": s.answer},
		}}})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *modelServer) requests() []modelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// A model behind an OpenAI-compatible endpoint summarizes the sample session: of what it writes, the lines that cite records of the
// range enter the prompt at the next compaction, and nothing else.
func TestAModelServerWritesTheSummary(t *testing.T) {
	harness.Need(t, "python3")
	server := newModelServer(t, "<think>\n- I should cite (messages:2).\n</think>\nHere is the summary:\n"+
		"- Import keeps the exit codes as they are (messages:1).\n- Books are never lent (messages:4000).\n- Of a time unknown.\n"+
		"- The key is the ISBN-13, an ISBN-10 is converted (messages:18-20, messages:4).\n")
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "summarizer", "s1")
	from := filepath.Join(harness.Root(), "examples/summarizer")
	home := s.AgentHome()
	for _, name := range []string{"system_prompt.md", "tools/ask_model.py", "with-model.yaml"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(home, strings.Replace(name, "with-model.yaml", "context.yaml", 1))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.Write("context/env", "MODEL_URL="+server.URL+"/v1\nMODEL_KEY=k1\n")
	grow := func(name string) {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		s.Append("messages.jsonl", string(data))
	}
	grow("sample-session.jsonl")
	s.Read("context/pack.md")
	harness.Eventually(t, "the model's summary", func() bool {
		return strings.Contains(s.Read("context/pack.report.md"), "enters at the next compaction")
	})
	if asked := server.requests(); len(asked) != 1 || asked[0].Model != "small-7b" || len(asked[0].Messages) != 2 || asked[0].Temperature != 0 ||
		!strings.Contains(asked[0].Messages[1].Content, "[messages:1 user]\nAdd a command `shelf import FILE.csv`.") {
		t.Errorf("asked %+v", asked)
	}
	grow("sample-session-goes-on.jsonl")
	pack := s.Read("context/pack.md")
	_, summary, _ := strings.Cut(pack, "# Context Block: summary (")
	want := "- Import keeps the exit codes as they are (messages:1).\n- The key is the ISBN-13, an ISBN-10 is converted (messages:18-20, messages:4).\n"
	if !strings.Contains(summary, want) || strings.Contains(summary, "never lent") ||
		strings.Contains(pack, "time unknown") {
		t.Errorf("the pack is\n%s", pack)
	}
	if rows := s.Errors(); len(rows) > 0 {
		t.Errorf("errors.jsonl: %+v", rows)
	}
}

// What a model server answers that is of no use ends the script with a reason, on one line.
func TestAskModelSaysWhatFailed(t *testing.T) {
	harness.Need(t, "python3")
	silent := newModelServer(t, "I cannot help with that.")
	for name, c := range map[string]struct{ url, key, why string }{
		"nobody listens":  {"http://127.0.0.1:1/v1", "k1", "refused"},
		"a wrong key":     {silent.URL + "/v1", "k2", "400: bad request"},
		"no line of use":  {silent.URL + "/v1", "k1", "no line that cites a record"},
		"no such address": {silent.URL + "/v2/", "k1", "404"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("python3", "-I", filepath.Join(harness.Root(), "examples/summarizer/tools/ask_model.py"))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "MODEL_URL=" + c.url, "MODEL_KEY=" + c.key, "CTX_SUMMARY_TOKENS=100", "CTX_RANGE=messages:1-9"}
			cmd.Stdin = strings.NewReader("[messages:1 user]\nHello.\n")
			out, err := cmd.CombinedOutput()
			if text := strings.TrimSpace(string(out)); err == nil || !strings.Contains(text, c.why) || strings.Contains(text, "\n") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
