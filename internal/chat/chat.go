package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ctxfs/ctxfs/internal/lazy"
)

// maxAnswer limits the size of a response body in bytes.
const maxAnswer = 4 << 20

// maxShown limits the part of a response body in an error message, in bytes.
const maxShown = 300

// Request contains the arguments of Complete.
type Request struct {
	URL    string // base URL of the API, such as http://127.0.0.1:11434/v1, or its chat endpoint
	Model  string
	Key    string // API key; if empty, no Authorization header is sent
	System string // system message
	User   string // user message
}

// Answer is the response of a model.
type Answer struct {
	Text   string // trimmed, without a leading <think> part
	Input  int    // prompt tokens reported by the server, or 0
	Output int    // completion tokens reported by the server, or 0
}

// Complete sends one chat request and returns the answer. It does not retry, and follows no
// redirects, so that the key reaches no other host. It returns an error if ctx ends, if the status
// is not 200, or if the answer is empty, refused, truncated, or larger than 4 MiB.
func Complete(ctx context.Context, r Request) (a Answer, err error) {
	at, err := endpoint(r.URL)
	if err != nil {
		return a, err
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(map[string]any{"model": r.Model, "stream": false,
		"messages": []message{{"system", r.System}, {"user", r.User}}})
	if err != nil {
		return a, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Content-Type", "application/json")
	if r.Key != "" {
		request.Header.Set("Authorization", "Bearer "+r.Key)
	}

	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return a, err // a *url.Error, which names the URL
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return a, fmt.Errorf("%s: the answer is incomplete: %w", at, err)
	case response.StatusCode != http.StatusOK:
		shown := strings.Join(strings.Fields(strings.ToValidUTF8(string(data[:min(len(data), maxShown)]), "")), " ")
		return a, fmt.Errorf("%s: status %s: %s", at, response.Status, shown)
	case len(data) > maxAnswer:
		return a, fmt.Errorf("%s: the answer has more than %d bytes", at, maxAnswer)
	}
	if a, err = parseAnswer(data); err != nil {
		return a, fmt.Errorf("%s: %w", at, err)
	}
	return a, nil
}

// endpoint returns the URL of the chat endpoint for the base URL of an API. The default path is
// /v1. It returns an error if base is not an HTTP or HTTPS URL with a host.
func endpoint(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is not the address of an API; write http://HOST/v1 or https://HOST/v1", base)
	}
	path := strings.TrimRight(u.Path, "/")
	if path == "" {
		path = "/v1"
	}
	u.Path = strings.TrimSuffix(path, "/chat/completions") + "/chat/completions"
	return u.String(), nil
}

// thought matches reasoning that some servers include before the answer.
var thought = lazy.Regexp(`(?s)^\s*<think>.*?</think>`)

// parseAnswer parses a response body. It returns an error if the body is not a chat completion, or
// if the answer is empty, refused, or truncated by the model's output limit.
func parseAnswer(data []byte) (a Answer, err error) {
	var body struct {
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content string `json:"content"`
				Refusal string `json:"refusal"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			Input  int `json:"prompt_tokens"`
			Output int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(data, &body); err != nil || len(body.Choices) == 0 {
		return a, errors.New("the answer is not one of an OpenAI-compatible chat endpoint")
	}

	first := body.Choices[0]
	text := strings.TrimSpace(thought().ReplaceAllString(first.Message.Content, ""))
	a = Answer{Text: text, Input: body.Usage.Input, Output: body.Usage.Output}
	switch {
	case first.Finish == "length":
		return a, errors.New("the model stopped before the end of its answer (finish_reason length)")
	case first.Message.Refusal != "":
		return a, fmt.Errorf("the model refused: %.*s", maxShown, first.Message.Refusal)
	case text == "":
		return a, errors.New("the answer is empty")
	}
	return a, nil
}
