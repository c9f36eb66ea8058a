package nativetest

import (
	"encoding/json"
	"strings"
)

// CheckRendering is [Check] for a rendering: user and assistant take turns in every format.
// footer is its volatile end, as it is in the body; "" for none. It comes last, after the last
// record of the user or in the last result, and no cache mark covers it.
func CheckRendering(format string, data []byte, footer string, count func(string) int) (Body, []string) {
	c := check(format, data, count)
	c.alternation(format)
	if footer = strings.TrimSpace(asJSON(footer)); footer != "" {
		c.footer(footer)
	}
	return c.Body, c.violations
}

// asJSON returns a text as JSON has it, with U+FFFD for bytes that are not UTF-8.
func asJSON(text string) string {
	data, err := json.Marshal(text)
	if err == nil {
		err = json.Unmarshal(data, &text)
	}
	if err != nil {
		panic(err) // a string is JSON
	}
	return text
}

// alternation checks that the user opens the conversation, and that no role speaks twice. A
// message of an assistant with its reasoning cannot be joined with the one before. Items of
// Responses have no messages for the assistant.
func (c *checker) alternation(format string) {
	if format != "openai" && format != "responses" {
		return // Check does it
	}
	last := ""
	for _, role := range c.speakers {
		switch {
		case role == "system" || role == "developer":
			continue
		case last == "" && role != "user":
			c.bad("%s speaks first", role)
		case role == last && (role == "user" || format == "openai" && role == "assistant"):
			c.bad("%s speaks twice", role)
		}
		last = role
	}
}

// footer checks where the footer is.
func (c *checker) footer(footer string) {
	at := -1
	for i, u := range c.Units {
		if strings.Contains(u.Text, footer) {
			if at >= 0 {
				c.bad("the footer is there twice")
			}
			at = i
		}
	}
	if at < 0 {
		if !c.hasNoPlace() {
			c.bad("there is no footer")
		}
		return
	}

	u := c.Units[at]
	switch {
	case !strings.HasSuffix(strings.TrimSpace(u.Text), footer):
		c.bad("a text follows the footer")
	case u.Role != "user" && !u.Result:
		c.bad("%s says the footer", u.Role)
	case !u.Result && at > 0 && c.Units[at-1].Result && strings.TrimSpace(u.Text) == footer:
		c.bad("the footer opens a turn after a result")
	}
	for _, more := range c.Units[at+1:] {
		if more.Role != "system" && more.Role != "developer" {
			c.bad("a unit of %s follows the footer", more.Role)
		}
	}
	for _, mark := range c.Marks {
		if mark >= at {
			c.bad("a cache mark covers the footer")
		}
	}
}

// hasNoPlace reports whether a request ends with an item of Responses that takes no text: the call
// of a provider's own tool, or an output with another form.
func (c *checker) hasNoPlace() bool {
	if c.format != "responses" || len(c.Units) == 0 {
		return false
	}
	last := c.Units[len(c.Units)-1]
	function := strings.Contains(last.Head, `"function_call_output"`)
	custom := strings.Contains(last.Head, `"custom_tool_call_output"`)
	return last.Role == "assistant" || last.Result && !function && !custom
}
