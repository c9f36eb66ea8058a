package blocks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxfs/ctxfs/pack/packtest"
)

var knowledgeTasks = []struct{ task, best string }{
	{"The client gets 401 when it calls refreshToken, please fix it", "knowledge/auth.md:"},
	{"how long do redis sessions live?", "knowledge/auth.md:"},
	{"we need to roll back the last release on kubernetes", "knowledge/deploy.md:"},
	{"run the migration on prod", "knowledge/deploy.md:"},
	{"invoice amounts are rounded wrongly", "knowledge/billing.md"},
	{"add a button component", "knowledge/frontend.md"},
	{"請求書のバグ", "knowledge/日本.md"},
}

func TestKnowledgeIsFoundByTheTask(t *testing.T) {
	for _, c := range knowledgeTasks {
		sel := KnowledgeText(c.task, sampleKnowledge(), 3, nil, nil)
		if !strings.HasPrefix(sel.Text, c.best) {
			t.Errorf("%s: want %s first, got\n%s", c.task, c.best, sel.Text)
		}
		if len(sel.Used) == 0 || len(sel.Used) > 3 {
			t.Errorf("%s: %d snippets", c.task, len(sel.Used))
		}
	}
}

func TestSelectionForms(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		name string
		sel  Selection
	}{
		{"knowledge: refresh", KnowledgeText("The client gets 401 when it calls refreshToken", sampleKnowledge(), 3, nil, nil)},
		{"knowledge: migration", KnowledgeText("run the migration", sampleKnowledge(), 3, nil, nil)},
		{"knowledge: one line", KnowledgeText("Zustand", sampleKnowledge(), 1, nil, nil)},
		{"knowledge: nothing relevant", KnowledgeText("sing a song", sampleKnowledge(), 3, nil, nil)},
		{"knowledge: no task", KnowledgeText("", sampleKnowledge(), 3, nil, nil)},
		{"memory: migrations", MemoryText("prepare the database migration", sampleMemory(), 3, nil, nil)},
		{"memory: refresh", MemoryText("the token refresh fails again", sampleMemory(), 3, nil, nil)},
		{"memory: who", MemoryText("who is the maintainer?", sampleMemory(), 3, nil, nil)},
		{"memory: no task", MemoryText("", sampleMemory(), 2, nil, nil)},
		{"playbook: bug", PlaybookText("a test fails since yesterday", samplePlaybooks(), nil, nil)},
		{"playbook: trigger", PlaybookText("please cut the next releases", samplePlaybooks(), nil, nil)},
		{"playbook: word without trigger", PlaybookText("what was in the last release?", samplePlaybooks(), nil, nil)},
		{"playbook: by text", PlaybookText("deploy to staging", samplePlaybooks(), nil, nil)},
		{"playbook: none", PlaybookText("sing a song", samplePlaybooks(), nil, nil)},
		{"skills: always", SkillsText(sampleSkills(), nil, nil)},
		{"skills: by directory, file and unknown", SkillsText(sampleSkills(), []string{"review", "pdf", "nope", "nope", ""}, nil)},
		{"skills: by front matter", SkillsText(sampleSkills(), []string{"go-review"}, nil)},
	} {
		fmt.Fprintf(&b, "==== %s\n%s---- used %v notes %q\n", c.name, c.sel.Text, c.sel.Used, c.sel.Notes)
	}
	packtest.Golden(t, "builtin/selections.txt", []byte(b.String()))
}

// Each selection keeps to its cap and cuts between lines, saying which lines it shows.
func TestSelectionsFit(t *testing.T) {
	choose := map[string]func(fits func(string) bool) (Selection, []File){
		"memory": func(fits func(string) bool) (Selection, []File) {
			return MemoryText("the database migration", sampleMemory(), 3, fits, nil), sampleMemory()
		},
		"memory, no task": func(fits func(string) bool) (Selection, []File) {
			return MemoryText("", sampleMemory(), 3, fits, nil), sampleMemory()
		},
		"knowledge": func(fits func(string) bool) (Selection, []File) {
			return KnowledgeText("deploy a token refresh", sampleKnowledge(), 3, fits, nil), sampleKnowledge()
		},
		"playbook": func(fits func(string) bool) (Selection, []File) {
			return PlaybookText("a bug", samplePlaybooks(), fits, nil), samplePlaybooks()
		},
		"skills": func(fits func(string) bool) (Selection, []File) {
			return SkillsText(sampleSkills(), []string{"review", "pdf"}, fits), sampleSkills()
		},
	}
	for name, choose := range choose {
		whole, files := choose(nil)
		for most := range len(whole.Text) + 2 {
			sel, _ := choose(func(s string) bool { return len(s) <= most })
			if len(sel.Text) > most {
				t.Errorf("%s: %d bytes in %d", name, len(sel.Text), most)
			}
			if sel.Text != whole.Text && len(sel.Notes) == 0 {
				t.Errorf("%s at %d: the report does not say that it was cut", name, most)
			}
			for _, u := range sel.Used {
				checkExcerpt(t, sel.Text, files, u)
			}
		}
	}
}

// checkExcerpt returns when the lines that a selection names are not the ones that it shows.
func checkExcerpt(t interface{ Errorf(string, ...any) }, text string, files []File, u excerpt) {
	lines := strings.SplitAfter(strings.TrimPrefix(string(files[u.File].Data), "\ufeff"), "\n")
	from, to := u.From, u.To
	if from == 0 {
		from, to = 1, len(lines)
	}
	if from < 1 || to < from || to > len(lines) {
		t.Errorf("%s has no lines %d-%d", files[u.File].Path, u.From, u.To)
		return
	}
	if want := strings.TrimRight(strings.Join(lines[from-1:to], ""), "\r\n"); !strings.Contains(text, want) {
		t.Errorf("%s:%d-%d is %q, which is not in\n%s", files[u.File].Path, u.From, u.To, want, text)
	}
}

// What is chosen depends neither on the order of the files, nor on what was chosen before.
func TestSelectionIsIndependentOfOrderAndCache(t *testing.T) {
	cache := NewCorpora()
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.SampledFrom([]string{"", "token refresh", "the database migration", "invoice tests", "請求書", "release a version", "sing"}).Draw(t, "task")
		files := append(append(sampleKnowledge(), sampleMemory()...), samplePlaybooks()...)
		moved := rapid.Permutation(files).Draw(t, "files")
		fits := func(s string) bool { return len(s) < 700 }
		for name, choose := range map[string]func(files []File, cache *Corpora) Selection{
			"memory":    func(files []File, c *Corpora) Selection { return MemoryText(task, files, 3, fits, c) },
			"knowledge": func(files []File, c *Corpora) Selection { return KnowledgeText(task, files, 3, fits, c) },
			"playbook":  func(files []File, c *Corpora) Selection { return PlaybookText(task, files, fits, c) },
			"skills":    func(files []File, c *Corpora) Selection { return SkillsText(files, []string{"b", "a"}, fits) },
		} {
			want, got := choose(files, nil), choose(moved, cache)
			if got.Text != want.Text || !reflect.DeepEqual(got.Notes, want.Notes) {
				t.Fatalf("%s: in another order\n%s\nand not\n%s", name, got.Text, want.Text)
			}
			for _, u := range got.Used {
				checkExcerpt(t, got.Text, moved, u)
			}
		}
	})
}

func TestOneChangedFileIsReadAgain(t *testing.T) {
	cache := NewCorpora()
	var files []File
	for i := range 200 {
		files = append(files, homeFile(fmt.Sprintf("knowledge/%03d.md", i), fmt.Sprintf("# Topic %d\n\nAbout subject%d.\n", i, i)))
	}
	want := func(task, path string, reads int) {
		t.Helper()
		before := cache.made
		if sel := KnowledgeText(task, files, 3, nil, cache); !strings.HasPrefix(sel.Text, path) {
			t.Errorf("%s: %q", task, sel.Text)
		}
		if cache.made-before != reads {
			t.Errorf("%s: %d files were read again, want %d", task, cache.made-before, reads)
		}
	}
	want("subject17", "knowledge/017.md", 200)
	want("subject18", "knowledge/018.md", 0)
	files[5].Data = []byte("Now about walrus.\n")
	want("walrus", "knowledge/005.md", 1)
	files = slices.Delete(files, 5, 6)
	want("subject199", "knowledge/199.md", 0)
}

func TestCorporaAreBounded(t *testing.T) {
	cache := NewCorpora()
	cache.Most = 20 << 10
	for i := range 100 {
		f := homeFile("knowledge/x.md", strings.Repeat(fmt.Sprintf("word%d ", i), 300))
		KnowledgeText("word", []File{f}, 1, nil, cache)
		if int(cache.known.Size()) > cache.Most {
			t.Fatalf("%d bytes in %d of %d files", cache.known.Size(), cache.known.Len(), cache.made)
		}
	}
	if cache.known.Len() < 2 {
		t.Error("nothing is kept")
	}
	big := homeFile("knowledge/big.md", strings.Repeat("large ", 20<<10))
	for range 2 {
		if sel := KnowledgeText("large", []File{big}, 1, nil, cache); sel.Text == "" {
			t.Error("a file above the bound is not found")
		}
	}
}

func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		text, body string
		lines      int
		values     map[string][]string
	}{
		{"text", "text", 0, nil},
		{"", "", 0, nil},
		{"---\nname: a\nTags: [b, c]\nn: 3\nx:\n---\nbody\n", "body\n", 6, map[string][]string{"name": {"a"}, "tags": {"b", "c"}, "n": {"3"}}},
		{"\ufeff---\r\nname: a\r\n---\r\nbody", "body", 3, map[string][]string{"name": {"a"}}},
		{"---\nname: a\n...\nbody", "body", 3, map[string][]string{"name": {"a"}}},
		{"---\n# nothing\n---\n", "", 3, map[string][]string{}},
		{"---\n---\nbody", "body", 2, map[string][]string{}},
		{"---\na: [{b: c}, d]\n---\nx", "x", 3, map[string][]string{"a": {"d"}}},
		{"---\na rule, then text\n---\nx", "---\na rule, then text\n---\nx", 0, nil},
		{"---\na: [\n---\nx", "---\na: [\n---\nx", 0, nil},
		{"---\n- a\n---\nx", "---\n- a\n---\nx", 0, nil},
		{"---\na: b\n", "---\na: b\n", 0, nil},
		{"----\na: b\n---\n", "----\na: b\n---\n", 0, nil},
		{"---\na: &x [*x]\n---\ny", "y", 3, map[string][]string{}},
	} {
		m, body := splitFrontMatter(c.text)
		if body != c.body || m.lines != c.lines || !reflect.DeepEqual(m.values, c.values) {
			t.Errorf("%q: %d lines, %v, body %q", c.text, m.lines, m.values, body)
		}
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("---\nname: a\ntags: [b]\n---\nbody\n")
	f.Add("---\r\na: &x [*x]\r\n...\r\n\r\n")
	f.Add("\ufeff---\n? [a]\n: b\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, body := splitFrontMatter(text)
		plain := strings.TrimPrefix(text, "\ufeff")
		if !strings.HasSuffix(text, body) || m.lines == 0 && body != plain && body != text {
			t.Fatalf("the body is %q", body)
		}
		before := strings.TrimSuffix(plain, body)
		if n := strings.Count(before, "\n"); m.lines != n && m.lines != n+1 { // the last mark may end the file
			t.Fatalf("%d lines before the body, %q", m.lines, before)
		}
		file := []File{homeFile("memory/x.md", text)}
		for _, sel := range []Selection{MemoryText(text, file, 3, nil, nil), KnowledgeText(text, file, 3, nil, nil), PlaybookText(text, file, nil, nil)} {
			for _, u := range sel.Used {
				checkExcerpt(t, sel.Text, file, u)
			}
		}
	})
}
