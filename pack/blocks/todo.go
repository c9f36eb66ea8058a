package blocks

import (
	"fmt"
	"strings"

	derived "github.com/ctxfs/ctxfs/compress/notes"
	"github.com/ctxfs/ctxfs/pack/record"
)

// FoldTodo returns a todo list with its finished items folded to one line, where the first of them stood:
//
//   - [x] 12 done, last: write the test (context/todo.md)
//
// What is indented below a finished item goes with it, open items below it stay. A list with less than two
// finished items is given as it is.
func FoldTodo(text, path string) string {
	var b strings.Builder
	done, last, at := 0, "", 0 // at: where the line goes
	inside := -1               // the indent of the finished item whose lines these are
	for line := range strings.Lines(text) {
		body := strings.TrimLeft(line, " \t")
		indent := len(line) - len(body)
		if finished, open, item := TodoItem(line); finished {
			if done == 0 {
				at = b.Len()
			}
			done, last, inside = done+1, item, indent
			continue
		} else if open || strings.TrimSpace(line) != "" && indent <= inside {
			inside = -1
		}
		if inside < 0 {
			b.WriteString(line)
		}
	}
	if done < 2 {
		return text
	}
	rest := b.String()
	indent := ""
	if next := rest[at:]; next != "" { // of the item that it stands before, where that is a list inside of another
		if _, open, _ := TodoItem(next); open {
			indent = next[:len(next)-len(strings.TrimLeft(next, " \t"))]
		}
	}
	line := fmt.Sprintf("%s- [x] %d done, last: %s (%s)\n", indent, done, record.OneLine(last), record.OneLine(path))
	if at > 0 && rest[at-1] != '\n' {
		line = "\n" + line
	}
	return rest[:at] + line + rest[at:]
}

// TodoItem reads one line of a todo list.
func TodoItem(line string) (finished, open bool, text string) {
	done, text, ok := derived.Checkbox(line)
	return ok && done, ok && !done, text
}
