package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// do runs a command that is written as a model writes it, and gives what the model reads.
func do(t *testing.T, d *Dir, command string) (answer string, refused bool) {
	t.Helper()
	c, err := Parse([]byte(command))
	if err == nil {
		answer, err = d.Do(c)
	}
	var r Refusal
	if errors.As(err, &r) {
		return string(r), true
	}
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return answer, false
}

// files are what each row of the table finds.
var files = map[string]string{
	"notes.txt":               "Hello World\nThis is line two\n",
	"open.txt":                "Line 1\nLine 2",
	"same.txt":                "Hello\nMiddle\nHello and Hello\nab\nab\nend\n",
	"empty.txt":               "",
	"big.bin":                 strings.Repeat("x", 5632),
	"deep/a.md":               "a\n",
	"deep/er/b.md":            "bb\n",
	"deep/er/est/c.md":        "ccc\n",
	".hidden/secret":          "s\n",
	"node_modules/x/index.js": "x\n",
	"odd name ü.md":           "ü\n",
	"raw.bin":                 "ok\n\xff\xfe\n",
}

func fill(t *testing.T, dir string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "/etc", "up": "../..", "passwd": "/etc/passwd", "alias.txt": "notes.txt", "nowhere": "none"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	noFile  = "Error: The path /memories/none.txt does not exist"
	listTop = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"
)

// What a model reads: the texts of the tool's documentation, letter by letter.
var answers = []struct {
	name, command, want string
	refused             bool
	file, after         string // what a file holds afterwards; "-": it is not there
}{
	{name: "view file", command: `{"command":"view","path":"/memories/notes.txt"}`,
		want: "Here's the content of /memories/notes.txt with line numbers:\n     1\tHello World\n     2\tThis is line two"},
	{name: "view range", command: `{"command":"view","path":"/memories/same.txt","view_range":[2,3]}`,
		want: "Here's the content of /memories/same.txt with line numbers:\n     2\tMiddle\n     3\tHello and Hello"},
	{name: "view to the end", command: `{"command":"view","path":"/memories/same.txt","view_range":[5,-1]}`,
		want: "Here's the content of /memories/same.txt with line numbers:\n     5\tab\n     6\tend"},
	{name: "view behind the end", command: `{"command":"view","path":"/memories/notes.txt","view_range":[2,99]}`,
		want: "Here's the content of /memories/notes.txt with line numbers:\n     2\tThis is line two"},
	{name: "view empty", command: `{"command":"view","path":"/memories/empty.txt"}`, want: "Here's the content of /memories/empty.txt with line numbers:"},
	{name: "view bytes", command: `{"command":"view","path":"/memories/raw.bin"}`, want: "Here's the content of /memories/raw.bin with line numbers:\n     1\tok\n     2\t�"},
	{name: "view link", command: `{"command":"view","path":"/memories/alias.txt","view_range":[1,1]}`, want: "Here's the content of /memories/alias.txt with line numbers:\n     1\tHello World"},
	{name: "view directory", command: `{"command":"view","path":"/memories"}`,
		want: listTop + "5.6K\t/memories\n0B\t/memories/alias.txt\n5.5K\t/memories/big.bin\n9B\t/memories/deep\n2B\t/memories/deep/a.md\n7B\t/memories/deep/er\n0B\t/memories/empty.txt\n29B\t/memories/notes.txt\n0B\t/memories/nowhere\n3B\t/memories/odd name ü.md\n13B\t/memories/open.txt\n0B\t/memories/out\n0B\t/memories/passwd\n6B\t/memories/raw.bin\n39B\t/memories/same.txt\n0B\t/memories/up"},
	{name: "view directory below", command: `{"command":"view","path":"/memories/deep/"}`,
		want: "Here're the files and directories up to 2 levels deep in /memories/deep/, excluding hidden items and node_modules:\n9B\t/memories/deep\n2B\t/memories/deep/a.md\n7B\t/memories/deep/er\n3B\t/memories/deep/er/b.md\n4B\t/memories/deep/er/est"},
	{name: "view nothing", command: `{"command":"view","path":"/memories/none.txt"}`, want: "The path /memories/none.txt does not exist. Please provide a valid path.", refused: true},
	{name: "view dead link", command: `{"command":"view","path":"/memories/nowhere"}`, want: "The path /memories/nowhere does not exist. Please provide a valid path.", refused: true},
	{name: "view wrong range", command: `{"command":"view","path":"/memories/notes.txt","view_range":[3,4]}`, refused: true,
		want: "Error: Invalid `view_range` parameter: [3, 4]. Both should be within the range of lines of the file: [1, 2], the second one not before the first one; -1 is the end"},
	{name: "view backwards", command: `{"command":"view","path":"/memories/notes.txt","view_range":[2,1]}`, refused: true,
		want: "Error: Invalid `view_range` parameter: [2, 1]. Both should be within the range of lines of the file: [1, 2], the second one not before the first one; -1 is the end"},
	{name: "view half a range", command: `{"command":"view","path":"/memories/notes.txt","view_range":[2]}`, refused: true, want: "Error: Invalid `view_range` parameter: [2]. It should be a list of two integers"},

	{name: "create", command: `{"command":"create","path":"/memories/new.txt","file_text":"Meeting notes:\n- one\n"}`, want: "File created successfully at: /memories/new.txt", file: "new.txt", after: "Meeting notes:\n- one\n"},
	{name: "create deep", command: `{"command":"create","path":"/memories/x/y/new.txt","file_text":""}`, want: "File created successfully at: /memories/x/y/new.txt", file: "x/y/new.txt"},
	{name: "create again", command: `{"command":"create","path":"/memories/notes.txt","file_text":"x"}`, want: "Error: File /memories/notes.txt already exists", refused: true, file: "notes.txt", after: files["notes.txt"]},
	{name: "create over a dead link", command: `{"command":"create","path":"/memories/nowhere","file_text":"x"}`, want: "Error: File /memories/nowhere already exists", refused: true, file: "none", after: "-"},
	{name: "create below a file", command: `{"command":"create","path":"/memories/notes.txt/x","file_text":"x"}`, want: "Error: /memories/notes.txt/x: not a directory", refused: true},
	{name: "create too much", command: fmt.Sprintf(`{"command":"create","path":"/memories/new.txt","file_text":%q}`, strings.Repeat("x", MaxFile+1)), refused: true,
		want: "Error: The file would have 1048577 bytes, the limit is 1048576; split it into several files", file: "new.txt", after: "-"},

	{name: "replace", command: `{"command":"str_replace","path":"/memories/same.txt","old_str":"Middle","new_str":"New\nText"}`, file: "same.txt", after: "Hello\nNew\nText\nHello and Hello\nab\nab\nend\n",
		want: "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tHello\n     2\tNew\n     3\tText\n     4\tHello and Hello\n     5\tab"},
	{name: "replace without new_str", command: `{"command":"str_replace","path":"/memories/open.txt","old_str":"Line 1\n"}`, file: "open.txt", after: "Line 2",
		want: "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tLine 2"},
	{name: "replace nothing", command: `{"command":"str_replace","path":"/memories/notes.txt","old_str":"Nope","new_str":"x"}`, want: "No replacement was performed, old_str `Nope` did not appear verbatim in /memories/notes.txt.", refused: true},
	{name: "replace several", command: `{"command":"str_replace","path":"/memories/same.txt","old_str":"Hello","new_str":"x"}`, want: "No replacement was performed. Multiple occurrences of old_str `Hello` in lines: 1, 3. Please ensure it is unique", refused: true},
	{name: "replace several over lines", command: `{"command":"str_replace","path":"/memories/same.txt","old_str":"b\n","new_str":"x"}`, want: "No replacement was performed. Multiple occurrences of old_str `b\n` in lines: 4, 5. Please ensure it is unique", refused: true},
	{name: "replace empty", command: `{"command":"str_replace","path":"/memories/notes.txt","old_str":"","new_str":"x"}`, want: "No replacement was performed, old_str must not be empty; use the insert command to add text to /memories/notes.txt.", refused: true},
	{name: "replace in nothing", command: `{"command":"str_replace","path":"/memories/none.txt","old_str":"a","new_str":"x"}`, want: noFile + ". Please provide a valid path.", refused: true},
	{name: "replace in directory", command: `{"command":"str_replace","path":"/memories/deep","old_str":"a","new_str":"x"}`, want: "Error: The path /memories/deep does not exist. Please provide a valid path.", refused: true},

	{name: "insert", command: `{"command":"insert","path":"/memories/notes.txt","insert_line":1,"insert_text":"- new\n"}`, want: "The file /memories/notes.txt has been edited.", file: "notes.txt", after: "Hello World\n- new\nThis is line two\n"},
	{name: "insert in front", command: `{"command":"insert","path":"/memories/open.txt","insert_line":0,"insert_text":"First"}`, want: "The file /memories/open.txt has been edited.", file: "open.txt", after: "First\nLine 1\nLine 2"},
	{name: "insert at the end", command: `{"command":"insert","path":"/memories/open.txt","insert_line":2,"insert_text":"Last"}`, want: "The file /memories/open.txt has been edited.", file: "open.txt", after: "Line 1\nLine 2\nLast\n"},
	{name: "insert into empty", command: `{"command":"insert","path":"/memories/empty.txt","insert_line":0,"insert_text":"x"}`, want: "The file /memories/empty.txt has been edited.", file: "empty.txt", after: "x\n"},
	{name: "insert behind the end", command: `{"command":"insert","path":"/memories/notes.txt","insert_line":3,"insert_text":"x"}`, refused: true,
		want: "Error: Invalid `insert_line` parameter: 3. It should be within the range of lines of the file: [0, 2]", file: "notes.txt", after: files["notes.txt"]},
	{name: "insert before the beginning", command: `{"command":"insert","path":"/memories/notes.txt","insert_line":-1,"insert_text":"x"}`, refused: true,
		want: "Error: Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 2]"},
	{name: "insert into nothing", command: `{"command":"insert","path":"/memories/none.txt","insert_line":0,"insert_text":"x"}`, want: noFile, refused: true},
	{name: "insert into directory", command: `{"command":"insert","path":"/memories/deep","insert_line":0,"insert_text":"x"}`, want: "Error: The path /memories/deep does not exist", refused: true},

	{name: "delete", command: `{"command":"delete","path":"/memories/notes.txt"}`, want: "Successfully deleted /memories/notes.txt", file: "notes.txt", after: "-"},
	{name: "delete directory", command: `{"command":"delete","path":"/memories/deep"}`, want: "Successfully deleted /memories/deep", file: "deep/a.md", after: "-"},
	{name: "delete link, not what it leads to", command: `{"command":"delete","path":"/memories/alias.txt"}`, want: "Successfully deleted /memories/alias.txt", file: "notes.txt", after: files["notes.txt"]},
	{name: "delete nothing", command: `{"command":"delete","path":"/memories/none.txt"}`, want: noFile, refused: true},
	{name: "delete all", command: `{"command":"delete","path":"/memories"}`, want: "Error: Cannot delete the /memories directory itself", refused: true, file: "notes.txt", after: files["notes.txt"]},

	{name: "rename", command: `{"command":"rename","old_path":"/memories/notes.txt","new_path":"/memories/x/final.txt"}`, want: "Successfully renamed /memories/notes.txt to /memories/x/final.txt", file: "x/final.txt", after: files["notes.txt"]},
	{name: "rename directory", command: `{"command":"rename","old_path":"/memories/deep","new_path":"/memories/flat"}`, want: "Successfully renamed /memories/deep to /memories/flat", file: "flat/er/b.md", after: "bb\n"},
	{name: "rename nothing", command: `{"command":"rename","old_path":"/memories/none.txt","new_path":"/memories/x"}`, want: noFile, refused: true},
	{name: "rename over", command: `{"command":"rename","old_path":"/memories/notes.txt","new_path":"/memories/open.txt"}`, want: "Error: The destination /memories/open.txt already exists", refused: true, file: "open.txt", after: files["open.txt"]},
	{name: "rename into itself", command: `{"command":"rename","old_path":"/memories/deep","new_path":"/memories/deep/x"}`, want: "Error: The destination /memories/deep/x lies in /memories/deep itself", refused: true},
	{name: "rename all", command: `{"command":"rename","old_path":"/memories","new_path":"/memories/x"}`, want: "Error: Cannot rename the /memories directory itself", refused: true},

	{name: "unknown", command: `{"command":"undo_edit","path":"/memories/x"}`, want: `Error: Unknown command: "undo_edit". Allowed are: view, create, str_replace, insert, delete, rename`, refused: true},
	{name: "not JSON", command: `view /memories`, want: "Error: the command is not a JSON object as the memory tool sends it: invalid character 'v' looking for beginning of value", refused: true},
	{name: "two", command: `{"command":"view","path":"/memories"} {}`, want: "Error: one JSON object is expected, there is more behind it", refused: true},
	{name: "no path", command: `{"command":"view"}`, want: "Error: Parameter `path` is required for command: view", refused: true},
	{name: "no text", command: `{"command":"create","path":"/memories/x"}`, want: "Error: Parameter `file_text` is required for command: create", refused: true},
	{name: "no line", command: `{"command":"insert","path":"/memories/x","insert_text":"x"}`, want: "Error: Parameter `insert_line` is required for command: insert", refused: true},
	{name: "no old_str", command: `{"command":"str_replace","path":"/memories/x","new_str":"x"}`, want: "Error: Parameter `old_str` is required for command: str_replace", refused: true},
	{name: "no new_path", command: `{"command":"rename","old_path":"/memories/x"}`, want: "Error: Parameter `new_path` is required for command: rename", refused: true},
}

func TestAnswers(t *testing.T) {
	for _, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "memory")
			fill(t, dir)
			got, refused := do(t, At(dir), tt.command)
			if got != tt.want || refused != tt.refused {
				t.Errorf("refused %v:\n%q\nwant refused %v:\n%q", refused, got, tt.refused, tt.want)
			}
			if tt.file != "" {
				b, err := os.ReadFile(filepath.Join(dir, tt.file))
				if tt.after == "-" && !errors.Is(err, fs.ErrNotExist) || tt.after != "-" && (err != nil || string(b) != tt.after) {
					t.Errorf("%s holds %q, %v; want %q", tt.file, b, err, tt.after)
				}
			}
			left, err := filepath.Glob(filepath.Join(dir, ".memory*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// No command gets out of the directory, whatever its paths say.
func TestNoPathLeadsOut(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "memory")
	fill(t, dir)
	outside := filepath.Join(base, "a", "outside.txt")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{
		"/etc/passwd", "memories/x", "/memoriesx", "/memories/../outside.txt", "/memories/deep/../../outside.txt", "/memories/..",
		"/memories/%2e%2e/outside.txt", "/memories/%2E%2e%2foutside.txt", "/memories/%252e%252e/outside.txt", "/memories/..%2foutside.txt",
		`/memories/..\outside.txt`, "/memories/%2e%2e%5coutside.txt", "/memories/..%00/x",
		"/memories/up/outside.txt", "/memories/out/passwd", "/memories/passwd", "/memories/out", "",
	} {
		for _, command := range []string{
			`{"command":"view","path":%q}`,
			`{"command":"create","path":%q,"file_text":"x"}`,
			`{"command":"str_replace","path":%q,"old_str":"mine","new_str":"yours"}`,
			`{"command":"insert","path":%q,"insert_line":0,"insert_text":"x"}`,
			`{"command":"delete","path":%q}`,
			`{"command":"rename","old_path":%q,"new_path":"/memories/here"}`,
			`{"command":"rename","old_path":"/memories/notes.txt","new_path":%q}`,
		} {
			answer, refused := do(t, At(dir), fmt.Sprintf(command, p))
			link := strings.HasSuffix(p, "/out") || strings.HasSuffix(p, "/passwd") && !strings.Contains(p, "/out/")
			if !refused && !(link && (strings.Contains(command, "delete") || strings.Contains(command, `old_path":%q`))) {
				t.Errorf("%s of %s: %s", command, p, answer)
			}
			if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
				t.Fatalf("%s of %s reached the file outside: %q %v", command, p, b, err)
			}
			os.RemoveAll(dir) // what a command did is not what the next one finds
			fill(t, dir)
		}
	}
}

// A container that has the agent's home may put a link where memory/ belongs.
func TestMemoryThatIsALinkDoesNotLeadOutOfTheHome(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "memory")
	for _, to := range []string{outside, "../" + filepath.Base(outside)} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{
			`{"command":"view","path":"/memories"}`, `{"command":"view","path":"/memories/secret"}`,
			`{"command":"create","path":"/memories/new","file_text":"x"}`, `{"command":"delete","path":"/memories/secret"}`,
		} {
			if answer, refused := do(t, Of(home), command); !refused || !strings.Contains(answer, "leads out of the agent's home") {
				t.Errorf("%s -> %s: %s: %s", link, to, command, answer)
			}
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) != 1 {
		t.Errorf("outside: %v, %v", found, err)
	}
	if answer, refused := do(t, Of(home), `{"command":"create","path":"/memories/new","file_text":"x"}`); refused {
		t.Errorf("without a link: %s", answer)
	}
	if err := os.Rename(link, filepath.Join(home, "notes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("notes", link); err != nil { // the agent's own business
		t.Fatal(err)
	}
	if answer, refused := do(t, Of(home), `{"command":"view","path":"/memories/new"}`); refused {
		t.Errorf("a link within the home: %s", answer)
	}
}

func TestALongFileIsShownInPages(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for n := range 30000 {
		fmt.Fprintf(&text, "line %d\n", n+1)
	}
	if err := os.WriteFile(filepath.Join(dir, "long"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, want := "", strings.TrimSuffix(text.String(), "\n")
	for from, pages := 1, 0; ; pages++ {
		page, refused := do(t, At(dir), fmt.Sprintf(`{"command":"view","path":"/memories/long","view_range":[%d,-1]}`, from))
		if refused || len(page) > MaxAnswer+200 || pages > 100 {
			t.Fatalf("%d bytes: %.200s", len(page), page)
		}
		for _, line := range strings.Split(page, "\n")[1:] {
			if _, text, ok := strings.Cut(line, "\t"); ok {
				got += text + "\n"
			} else if _, err := fmt.Sscanf(line[strings.Index(line, "view_range"):], "view_range [%d", &from); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		if !strings.Contains(page, "(The answer is cut here") {
			break
		}
	}
	if strings.TrimSuffix(got, "\n") != want {
		t.Errorf("the pages have %d bytes, the file %d", len(got), len(want))
	}
	if err := os.WriteFile(filepath.Join(dir, "huge"), []byte(strings.Repeat("x\n", 1_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, refused := do(t, At(dir), `{"command":"view","path":"/memories/huge"}`); !refused || got != "File /memories/huge exceeds maximum line limit of 999,999 lines." {
		t.Errorf("of a million lines: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "wide"), []byte(strings.Repeat("ü", MaxAnswer)+"\nend\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := do(t, At(dir), `{"command":"view","path":"/memories/wide"}`); len(got) > MaxAnswer || !strings.Contains(got, "before line 2 of 2") {
		t.Errorf("of a wide line: %d bytes, ends %q", len(got), got[len(got)-120:])
	}
}

func TestNothingIsRememberedYet(t *testing.T) {
	d := At(filepath.Join(t.TempDir(), "home", "memory"))
	if got, refused := do(t, d, `{"command":"view","path":"/memories"}`); refused || got != listTop+"0B\t/memories" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(d.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a look made the directory: %v", err)
	}
	if got, _ := do(t, d, `{"command":"create","path":"/memories/a","file_text":"a"}`); got != "File created successfully at: /memories/a" {
		t.Error(got)
	}
}

// Of edits at the same time none is lost.
func TestEditsWaitForOneAnother(t *testing.T) {
	dir := t.TempDir()
	do(t, At(dir), `{"command":"create","path":"/memories/list","file_text":""}`)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if answer, refused := do(t, At(dir), fmt.Sprintf(`{"command":"insert","path":"/memories/list","insert_line":0,"insert_text":"%d"}`, i)); refused {
				t.Error(answer)
			}
		}()
	}
	wg.Wait()
	if b, err := os.ReadFile(filepath.Join(dir, "list")); err != nil || strings.Count(string(b), "\n") != 40 {
		t.Errorf("%q %v", b, err)
	}
}

func TestSizesAreForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 512: "512B", 1023: "1023B", 1024: "1K", 5632: "5.5K", 1258291: "1.2M", 3 << 30: "3G", 5 << 50: "5120T"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// FuzzCommand: whatever a model sends, nothing outside is touched and the answer is text.
func FuzzCommand(f *testing.F) {
	for _, tt := range answers {
		if len(tt.command) < 1000 {
			f.Add(tt.command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		base := t.TempDir()
		dir := filepath.Join(base, "memory")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Hello\nWorld\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..", filepath.Join(dir, "up")); err != nil {
			t.Fatal(err)
		}
		c, err := Parse([]byte(command))
		if err != nil {
			return
		}
		answer, err := At(dir).Do(c)
		if (answer == "") == (err == nil) {
			t.Errorf("%q: %q, %v", command, answer, err)
		}
		if found, err := os.ReadDir(base); err != nil || len(found) != 1 {
			t.Errorf("%q: outside there is %v, %v", command, found, err)
		}
	})
}
