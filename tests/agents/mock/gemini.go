package mock

import (
	"net/http"

	"github.com/tidwall/gjson"
)

var (
	gemini       = api{name: "gemini", read: readContents, write: writeCandidate, fail: failGemini}
	geminiStream = api{name: "gemini", read: readContents, write: streamCandidate, fail: failGemini}
)

func failGemini(status int) any {
	return object{"error": object{"code": status, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
}

func readContents(body []byte, r *Request) {
	parts := func(c gjson.Result) (text string, results bool) {
		for _, p := range c.Get("parts").Array() {
			text += p.Get("text").Str + "\n"
			if f := p.Get("functionResponse"); f.Exists() {
				results = true
				text += f.Get("response").Raw + "\n"
				f.Get("response").ForEach(func(_, v gjson.Result) bool { text += v.Str + "\n"; return true })
			}
		}
		return text, results
	}
	if text, _ := parts(gjson.GetBytes(body, "systemInstruction")); text != "" {
		r.Turns = append(r.Turns, Turn{Role: "system", Text: text})
	}
	for _, c := range gjson.GetBytes(body, "contents").Array() {
		text, results := parts(c)
		role := "user"
		if c.Get("role").Str == "model" {
			role = "assistant"
		}
		r.Turns = append(r.Turns, Turn{Role: role, Text: text, Done: results})
	}
	for _, t := range gjson.GetBytes(body, "tools.#.functionDeclarations.#.name|@flatten").Array() {
		r.Tools = append(r.Tools, t.Str)
	}
}

func candidate(body []byte, id string, step Step, tools []string) object {
	var parts []object
	if step.Think != "" {
		parts = append(parts, object{"text": step.Think, "thought": true})
	}
	said := step.Text
	if schema := gjson.GetBytes(body, "generationConfig.responseJsonSchema"); schema.Exists() || gjson.GetBytes(body, "generationConfig.responseSchema").Exists() {
		// What the program asks beside: who speaks next, which model is enough.
		said = text(object{"reasoning": "It is so.", "next_speaker": "user", "complexity_reasoning": "Simple.", "complexity_score": 10, "model_choice": "flash"})
	}
	if said != "" {
		parts = append(parts, object{"text": said})
	}
	for i, c := range step.Calls {
		name, args := c.named(tools)
		parts = append(parts, object{"functionCall": object{"id": callID("call_", id, i), "name": name, "args": args}, "thoughtSignature": "c2lnbmF0dXJl"})
	}
	return object{
		"candidates":    []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": len(body) / 4, "candidatesTokenCount": 20, "thoughtsTokenCount": 5, "totalTokenCount": len(body)/4 + 25},
		"modelVersion":  "gemini-2.5-pro", "responseId": "r" + id,
	}
}

func writeCandidate(w http.ResponseWriter, body []byte, id string, step Step, tools []string) {
	answer(w, http.StatusOK, candidate(body, id, step, tools))
}

func streamCandidate(w http.ResponseWriter, body []byte, id string, step Step, tools []string) {
	stream(w)("", candidate(body, id, step, tools))
}
