package nativetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Check returns what violates the rules of a format: openai, anthropic, responses, gemini or genai. count counts the tokens of a text.
func Check(format string, data []byte, count func(string) int) (Body, []string) {
	c := check(format, data, count)
	return c.Body, c.violations
}

// check is [Check] with all that it found.
func check(format string, data []byte, count func(string) int) *checker {
	c := &checker{format: format, count: count, ids: map[string]bool{}, open: map[string]string{}}
	var body object
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		c.bad("not an object of JSON: %v", err)
		return c
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		c.bad("something follows the object")
	}
	if !utf8.Valid(data) {
		c.bad("not UTF-8")
	}

	switch format {
	case "openai":
		c.openAI(body)
	case "anthropic":
		c.anthropic(body)
	case "responses":
		c.responses(body)
	case "gemini":
		c.gemini(body)
	case "genai":
		c.genAI(body)
	default:
		c.bad("there is no format %q", format)
	}
	c.request(len(data))
	return c
}
