package install

import "strings"

// entry is what ctxfs has at one place of a file.
type entry struct {
	where   string   // in the file
	command string   // as the file has it
	words   []string // the same, a word each
}

func (e entry) String() string {
	if e.command == "" {
		return e.where
	}
	return e.where + ": " + e.command
}

// entryOf returns the entry of a command that is a list of words.
func entryOf(where string, line []string) entry {
	return entry{where, Line(line...), line}
}

// Line joins words to a shell command and quotes each word if necessary.
func Line(words ...string) string {
	shown := make([]string, len(words))
	for n, word := range words {
		shown[n] = quoted(word)
	}
	return strings.Join(shown, " ")
}

// words returns the words of a shell's line, without their quotes.
func words(line string) (all []string) {
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if in {
				all = append(all, word.String())
			}
			in = false
			word.Reset()
			continue
		case quote == 0 && (r == '"' || r == '\'' || r == '\\'):
			quote = r
		case quote == '\\':
			word.WriteRune(r)
			quote = 0
		case r == quote:
			quote = 0
		default:
			word.WriteRune(r)
		}
		in = true
	}
	if in {
		all = append(all, word.String())
	}
	return all
}

// quoted returns a word of a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
