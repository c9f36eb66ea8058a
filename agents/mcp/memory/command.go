package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Command is one call of the tool, as the model writes it. Of the fields each
// command uses its own: see [Dir.Do].
type Command struct {
	Command    string  `json:"command"`
	Path       string  `json:"path,omitempty"`
	ViewRange  []int   `json:"view_range,omitempty"` // first and last line, from 1; last -1: to the end
	FileText   *string `json:"file_text,omitempty"`
	OldStr     *string `json:"old_str,omitempty"`
	NewStr     *string `json:"new_str,omitempty"` // absent: nothing takes the place of OldStr
	InsertLine *int    `json:"insert_line,omitempty"`
	InsertText *string `json:"insert_text,omitempty"`
	OldPath    string  `json:"old_path,omitempty"`
	NewPath    string  `json:"new_path,omitempty"`
}

// Commands are those there are.
var Commands = []string{"view", "create", "str_replace", "insert", "delete", "rename"}

// Refusal is what a model reads where a command cannot be done: the
// documentation's own words where it has some.
type Refusal string

func (r Refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

// Parse reads a command from JSON and checks that it has what it needs. Fields
// that are not known are passed over: later versions of the tool may send them.
// It returns an error for the model if one is missing or of another type.
func Parse(data []byte) (c Command, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&c); err != nil {
		return c, refuse("Error: the command is not a JSON object as the memory tool sends it: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return c, refuse("Error: one JSON object is expected, there is more behind it")
	}
	return c, c.check()
}

// check refuses a command that lacks a parameter.
func (c Command) check() error {
	if !slices.Contains(Commands, c.Command) {
		return refuse("Error: Unknown command: %q. Allowed are: %s", c.Command, strings.Join(Commands, ", "))
	}
	needs := map[string]bool{}
	switch c.Command {
	case "rename":
		needs["old_path"], needs["new_path"] = c.OldPath == "", c.NewPath == ""
	case "create":
		needs["file_text"] = c.FileText == nil
	case "str_replace":
		needs["old_str"] = c.OldStr == nil
	case "insert":
		needs["insert_line"], needs["insert_text"] = c.InsertLine == nil, c.InsertText == nil
	}
	if c.Command != "rename" {
		needs["path"] = c.Path == ""
	}
	for _, name := range []string{"path", "old_path", "new_path", "file_text", "old_str", "insert_line", "insert_text"} {
		if needs[name] {
			return refuse("Error: Parameter `%s` is required for command: %s", name, c.Command)
		}
	}
	if c.ViewRange != nil && len(c.ViewRange) != 2 {
		return refuse("Error: Invalid `view_range` parameter: %v. It should be a list of two integers", c.ViewRange)
	}
	return nil
}
