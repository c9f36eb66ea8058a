package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve starts a server that responds to each request with the given status and body. asked returns
// the path, the Authorization header, and the body of the last request.
func serve(t *testing.T, status int, body string) (s *httptest.Server, asked func() (path, key, body string)) {
	var path, key, got string
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, key, got = r.URL.Path, r.Header.Get("Authorization"), string(b)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s, func() (string, string, string) { return path, key, got }
}

// completion returns a response body with one choice.
func completion(content, finish string) string {
	b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"finish_reason": finish,
		"message": map[string]any{"role": "assistant", "content": content}}},
		"usage": map[string]any{"prompt_tokens": 12, "completion_tokens": 3}})
	return string(b)
}

func TestCompleteAsksAndReadsTheAnswer(t *testing.T) {
	s, asked := serve(t, 200, completion("<think>\nHm.\n</think>\n\nThe port is 8443.\n", "stop"))
	a, err := Complete(context.Background(),
		Request{URL: s.URL, Model: "m1", Key: "k1", System: "Sum up.", User: "[messages:1 user]"})
	if err != nil || a != (Answer{"The port is 8443.", 12, 3}) {
		t.Errorf("%+v, %v", a, err)
	}
	path, key, body := asked()
	if path != "/v1/chat/completions" || key != "Bearer k1" {
		t.Errorf("asked at %s with the key %q", path, key)
	}
	want := `{"messages":[{"role":"system","content":"Sum up."},` +
		`{"role":"user","content":"[messages:1 user]"}],"model":"m1","stream":false}`
	if body != want {
		t.Errorf("asked %s", body)
	}
}

func TestCompleteReportsWhatIsNoAnswer(t *testing.T) {
	const malformed = "not one of an OpenAI-compatible chat endpoint"
	for name, c := range map[string]struct {
		status     int
		body, says string
	}{
		"an error":      {429, "{\"error\":\n\"slow down\"}", `429 Too Many Requests: {"error": "slow down"}`},
		"a redirect":    {302, "", "302 Found"},
		"no JSON":       {200, "<html>", malformed},
		"no choice":     {200, `{"choices":[]}`, malformed},
		"empty":         {200, completion("<think>Hm.</think>", "stop"), "the answer is empty"},
		"cut off":       {200, completion("The port", "length"), "stopped before the end"},
		"a refusal":     {200, `{"choices":[{"message":{"content":null,"refusal":"No."}}]}`, "the model refused: No."},
		"too long":      {200, strings.Repeat(" ", maxAnswer+1), "more than 4194304 bytes"},
		"a wrong value": {200, `{"choices":[{"message":{"content":7}}]}`, malformed},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := serve(t, c.status, c.body)
			_, err := Complete(context.Background(), Request{URL: s.URL + "/v1/", Model: "m"})
			if err == nil || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), s.URL+"/v1/chat/completions") {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestCompleteEndsWithItsContext(t *testing.T) {
	hangs := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	defer s.Close()
	defer close(hangs)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Complete(ctx, Request{URL: s.URL}); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Error(err)
	}
}

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:11434":                  "http://127.0.0.1:11434/v1/chat/completions",
		"https://api.example.com/v1/":             "https://api.example.com/v1/chat/completions",
		"https://api.example.com/openai/v1?api=2": "https://api.example.com/openai/v1/chat/completions?api=2",
		"http://[::1]:8000/v1/chat/completions":   "http://[::1]:8000/v1/chat/completions",
		"file:///etc/passwd":                      "",
		"127.0.0.1:11434":                         "",
		"http://":                                 "",
	} {
		got, err := endpoint(base)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", base, got, err)
		}
	}
}
