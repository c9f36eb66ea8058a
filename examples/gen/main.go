package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen DIR")
		os.Exit(2)
	}
	for name, data := range generate() {
		name = filepath.Join(os.Args[1], name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// generate returns the files of the example by their path below examples/.
func generate() map[string][]byte {
	s := newScene()
	tell(s)
	return map[string][]byte{
		"session/messages.jsonl":   s.messages.Bytes(),
		"session/events.jsonl":     s.events.Bytes(),
		"session/system_prompt.md": []byte(systemPrompt),
		"session/pinned/rules.md":  []byte(pin),
		"session/todo.md":          []byte(todo),
		"workspace/AGENTS.md":      []byte(s.files["AGENTS.md"]),
	}
}
