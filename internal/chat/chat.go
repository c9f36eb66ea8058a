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

// maxAnswer bounds the body of a response, in bytes.
const maxAnswer = 4 << 20

// maxShown bounds how much of an error's body a message shows, in bytes.
const maxShown = 300

// Request is one question of Complete.
type Request struct {
	URL    string // of the API: "http://127.0.0.1:11434/v1", or of its endpoint for chats
	Model  string
	Key    string // "": the request has no key
	System string // the instructions
	User   string // the input
}

// Answer is the answer of a model.
type Answer struct {
	Text   string // without the thoughts of the model
	Input  int    // tokens of the request, as the server counts them; 0: it does not say
	Output int    // likewise of the answer
}

// Complete asks a model for an answer until ctx ends. It follows no redirect, so that a key goes to
// no other host. It returns an error if the request fails, if the status is not 200, and if the
// answer is empty, refused, or cut off.
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
		return a, err // it names the URL
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
	if a, err = answerIn(data); err != nil {
		return a, fmt.Errorf("%s: %w", at, err)
	}
	return a, nil
}

// endpoint returns the address of the chat endpoint of an API. An address without a path names
// a server with an API below /v1.
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

// thought matches the thoughts that some servers leave before an answer.
var thought = lazy.Regexp(`(?s)^\s*<think>.*?</think>`)

// answerIn reads the body of a response.
func answerIn(data []byte) (a Answer, err error) {
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
