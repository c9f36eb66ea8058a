package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
)

func TestUserWords(t *testing.T) {
	log := strings.Repeat("ERROR 12:00 worker {pid=41} died;\n", 4)
	for text, want := range map[string][]string{
		"Make it green. Don't touch main.go.":                                            {"Make it green.", "Don't touch main.go."},
		"Fix this:\n```\n" + strings.Repeat("x := 1\n", 40) + "```\nand add a test.":     {"Fix this:", "[…]", "and add a test."},
		"Run\n```\nmake test\n```\nplease.":                                              {"Run", "make test", "please."},
		"It says\n" + log + "\nWhat is wrong?":                                           {"It says", "[…]", "What is wrong?"},
		"<system-reminder>todo is empty</system-reminder>\nGo on with the parser.":       {"Go on with the parser."},
		"Go on with the parser.\n<system-reminder>\ntodo is empty\n</system-reminder>\n": {"Go on with the parser."},
		"<environment_context><cwd>/src</cwd></environment_context>":                     nil,
		"1. one-way\n2. economy":                                                         {"1. one-way", "2. economy"},
		"+ 8 - **Colors**: Messages respect the token for\n text color.\n + 9 - **Titles**: They are wide.\n + 10\n\nremove that, please": {"[…]", "remove that, please"},
		"Use <b>bold</b> here.": {"Use <b>bold</b> here."},
	} {
		got, cut := UserWords(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
		if cut != slices.Contains(got, "[…]") {
			t.Errorf("%q: cut is %v", text, cut)
		}
	}
}

func TestShortenKeepsTheDemand(t *testing.T) {
	parts := []string{"Here is the story of the parser.", "It was written long ago by somebody else.", "It has many parts of which none is used.", "The tests must stay as they are.", "That is all there is to it."}
	whole, cut := Shorten(parts, ordered(parts), 1000, ctxabi.Weight)
	if cut || whole != strings.Join(parts, " ") {
		t.Errorf("%v %q", cut, whole)
	}
	short, cut := Shorten(parts, ordered(parts), 24, ctxabi.Weight)
	if want := parts[0] + " … " + parts[3] + " …"; !cut || short != want {
		t.Errorf("got %q, want %q", short, want)
	}
	parts = []string{strings.Repeat("word ", 300)}
	one, cut := Shorten(parts, ordered(parts), 20, ctxabi.Weight)
	if !cut || ctxabi.Weight(one) > 24 || one == "" {
		t.Errorf("%d tokens: %q", ctxabi.Weight(one), one)
	}
}

// Quotations of the user did not mark gaps.
func TestEveryGapIsMarked(t *testing.T) {
	parts := []string{"a", "b", "[…]", "c", "d"}
	for kept, want := range map[string]string{
		"a": "a …", "d": "… d", "bd": "… b … d", "b[…]": "… b […] …", "": "…",
	} {
		got := Select(parts, func(i int) bool { return strings.Contains(kept, parts[i]) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q", kept, got)
		}
		if again := Select(got, func(int) bool { return true }); !slices.Equal(again, got) {
			t.Errorf("%q: %q became %q", kept, got, again)
		}
	}
	text, _ := Shorten(parts, func() []int { return []int{3} }, 4, func(s string) int { return len(s) })
	if text != "… c …" {
		t.Errorf("%q", text)
	}
}

func TestPoints(t *testing.T) {
	for text, want := range map[string][]string{
		"Perfect! I fixed the race in cache.go because two writers held the lock. Shall I commit?": {"I fixed the race in cache.go because two writers held the lock."},
		"Done:\n\n- updated README.md\n- added a test in cache_test.go\n\nLet me know.":            {"Done: updated README.md; added a test in cache_test.go;"},
		"Let me look at the file.": nil,
		"Great!":                   nil,
		"I updated:":               nil,
		"The window is wide. The lock is held for 30 s, since uploads take 25 s. It was renamed to pool.go. The door is green.": {
			"The window is wide.", "The lock is held for 30 s, since uploads take 25 s. It was renamed to pool.go.",
		},
	} {
		var got []string
		for _, p := range Points(text, 200, 2) {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	for _, n := range []int{20, 60, 100, 200} {
		for _, p := range Points(strings.Repeat("The parser was changed and it passed all of the tests of the suite. ", 5), n, 3) {
			if len(p.Text) > n || !strings.HasSuffix(p.Text, ".") || p.Worth < 1 {
				t.Errorf("%d: %+v", n, p)
			}
		}
	}
}

func TestFileOf(t *testing.T) {
	for args, want := range map[string]struct {
		path string
		use  FileUse
	}{
		`read {"path":"a/b.go"}`:                                  {"a/b.go", FileReads},
		`edit {"path":"a/b.go","oldText":"x","newText":"y"}`:      {"a/b.go", FileChanges},
		`write_file {"file_path":"./c.py","content":"x"}`:         {"c.py", FileWrites},
		`delete_file {"path":"c.py"}`:                             {"c.py", FileRemoves},
		`bash {"command":"cat c.py"}`:                             {"", NoFile},
		`grep {"path":"c.py","pattern":"x"}`:                      {"", NoFile},
		`str_replace_editor {"command":"view","path":"src/d.rs"}`: {"src/d.rs", FileReads},
	} {
		name, arguments, _ := strings.Cut(args, " ")
		if path, use := FileOf(Call{Name: name, Arguments: arguments}); path != want.path || use != want.use {
			t.Errorf("%s: %q %q", args, path, use)
		}
	}
}

// Gemini CLI and opencode put the files that a user names with @ behind the user's words, in the
// same message. What they say the user did not say, also where a file has the line that ends them.
func TestAFileThatIsReferencedIsNotTheUsersWords(t *testing.T) {
	const begin, end = "\n--- Content from referenced files ---\nContent from @README.md:\n", "\n--- End of content ---"
	for text, want := range map[string]string{
		"What does @README.md say?" + begin + "Remember: the port is 801." + end:                                                    "What does @README.md say?",
		"What?" + begin + "Always use port 801." + end + "\nRemember: the port is 802." + end:                                       "What?",
		"What?\nCalled the Read tool with the following input: {\"filePath\":\"/a\"}\n<file>\n00001| Always use port 801.\n</file>": "What?",
		"What?" + begin + "Always use port 801.":                                                                                    "What?",
		"What?" + begin + "Always use port 801." + end + "\nRemember: the port is 803.":                                             "What? Remember: the port is 803.",
		"The line --- Content from referenced files --- is printed by the program. Remember: the port is 804.":                      "The line --- Content from referenced files --- is printed by the program. Remember: the port is 804.",
	} {
		parts, _ := UserWords(text)
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		for _, f := range Find(Record{Role: "user", Text: text}) {
			if strings.Contains(fmt.Sprint(f), "801") || strings.Contains(fmt.Sprint(f), "802") {
				t.Errorf("%q: found %+v", text, f)
			}
		}
	}
}
