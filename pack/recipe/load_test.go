package recipe

import (
	"io/fs"
	"strings"
	"testing"
)

// home is an agent's home for tests.
type home map[string]string

func (h home) read(path string) ([]byte, error) {
	s, ok := h[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(s), nil
}

func TestDefaultIsWhole(t *testing.T) {
	r := Default()
	if len(r.Sources) != 21 || r.Sources[0].Phase != Stable || r.Sources[4].Block != "AGENTS.md" || r.Sources[4].MaxTokens != 600 || !r.Sources[4].Percent {
		t.Errorf("%+v", r)
	}
	if r.Sources[12].Type != TypeJournal || r.Sources[13].Phase != Dynamic || r.Sources[11].Phase != Session {
		t.Errorf("phases are wrong: %+v", r.Sources)
	}
	if len(r.Strategies) != 4 || r.History.Low != 0.78 || r.Wait != 500e6 || r.TotalMaxTokens != -1 || r.Hash == "" {
		t.Errorf("%+v", r)
	}
}

// A summarizer with an API runs ctxfs summarize. A recipe and its YAML export have the same hash.
func TestSummarizerOfAnAPI(t *testing.T) {
	h := home{"context.yaml": "summarizer: {openai: \"http://127.0.0.1:11434/v1\", model: qwen3, api_key_env: KEY}\n" +
		"sources: [{type: journal}]\n"}
	r, err := Load("context.yaml", h.read)
	if err != nil {
		t.Fatal(err)
	}
	want := "ctxfs summarize --openai http://127.0.0.1:11434/v1 --model qwen3 --api-key-env KEY"
	if got := strings.Join(r.Summarizer.Words(), " "); got != want || r.Summarizer.Timeout != apiTimeout {
		t.Errorf("it runs %q for %v", got, r.Summarizer.Timeout)
	}
	h["context.yaml"] = string(r.YAML())
	if again, err := Load("context.yaml", h.read); err != nil || again.Hash != r.Hash {
		t.Errorf("%v\n%s", err, r.YAML())
	}
}
