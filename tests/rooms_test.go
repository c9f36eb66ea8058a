package tests

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a package may have, so that it can be read in one go: files that are no tests, and lines of code in them.
const (
	mostFiles = 30
	mostCode  = 4000
)

// riddle is how the comment of a name does not begin: what it returns or reports is a contract.
var riddle = regexp.MustCompile(`^\s*// \w+ (gives|says|tells|lets)\b`)

// look counts the lines of code of a Go file and returns the comments in it that are riddles.
func look(src string) (code int, riddles []string) {
	lines := bufio.NewScanner(strings.NewReader(src))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case riddle.MatchString(line):
			riddles = append(riddles, line)
		case line != "" && !strings.HasPrefix(line, "//"):
			code++
		}
	}
	return code, riddles
}

// The rooms of the session are small, and their comments are contracts.
func TestRoomsOfTheSessionAreSmall(t *testing.T) {
	rooms := []string{"../session", "../internal/vfs"}
	for room := range arrows {
		if strings.HasPrefix(room, "session/") {
			rooms = append(rooms, filepath.Join("..", room))
		}
	}
	for _, room := range rooms {
		names, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", room, names, err)
		}
		files, all := 0, 0
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code, riddles := look(string(src))
			for _, r := range riddles {
				t.Errorf("%s: %s", name, r)
			}
			if !strings.HasSuffix(name, "_test.go") {
				files, all = files+1, all+code
			}
		}
		if files > mostFiles || all > mostCode {
			t.Errorf("%s has %d files and %d lines of code; %d and %d are the most", room, files, all, mostFiles, mostCode)
		}
	}
}

func TestCodeIsCounted(t *testing.T) {
	code, riddles := look("package x\n\n// F returns one.\nfunc F() int { // as it says\n\treturn 1\n}\n\n// G gives two.\nfunc G() int { return 2 }\n")
	if code != 5 || len(riddles) != 1 || riddles[0] != "// G gives two." {
		t.Errorf("%d lines of code, riddles %q", code, riddles)
	}
}
