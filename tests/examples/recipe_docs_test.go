package examples

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/pack/recipe"
	"github.com/ctxfs/ctxfs/tests/harness"
)

var (
	yamlBlock    = regexp.MustCompile("(?msi)^[ \t>]*`{3,} *ya?ml\\b[^\n]*\n(.*?)^[ \t>]*`{3,}[ \t]*$")
	inlineSource = regexp.MustCompile("`(\\{type: [^`\n]+\\})`")
	yamlFence    = regexp.MustCompile("(?mi)^[ \t>]*(`{3,}|~{3,}) *ya?ml")
)

// notRecipes are the YAML blocks that are none: their first lines, by document.
var notRecipes = map[string]string{"docs/containers.md": "volumes:"} // a compose file

// markdown returns the texts of all documents of the repository, by their names.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(harness.Root(), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || filepath.Dir(path) == harness.Root() && slices.Contains([]string{".git", ".run", "bin", "man"}, e.Name())): // the last are made and removed by others
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		name, err := filepath.Rel(harness.Root(), path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		texts[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// yamlBlocks returns the YAML blocks of all documents, and the recipes of the examples, as whole recipes, by document and line.
func yamlBlocks(t *testing.T) map[string]string {
	t.Helper()
	blocks, skipped := map[string]string{}, map[string]bool{}
	for name, doc := range markdown(t) {
		found := yamlBlock.FindAllStringSubmatchIndex(doc, -1)
		if n := len(yamlFence.FindAllString(doc, -1)); n != len(found) {
			t.Errorf("%s begins %d YAML blocks, %d of them are taken", name, n, len(found))
		}
		for _, at := range found {
			text := doc[at[2]:at[3]]
			if first, _, _ := strings.Cut(text, "\n"); notRecipes[name] != "" && first == notRecipes[name] {
				skipped[name] = true
				continue
			}
			if strings.HasPrefix(text, "- ") { // a piece of a list of sources
				text = "sources:\n" + text
				if !strings.Contains(text, "type: journal") {
					text += "- {type: journal}\n"
				}
			}
			blocks[fmt.Sprintf("%s line %d", name, strings.Count(doc[:at[0]], "\n")+1)] = text
		}
	}
	for i, inline := range inlineSource.FindAllStringSubmatch(markdown(t)["docs/recipe.md"], -1) {
		text := "sources:\n- " + inline[1] + "\n"
		if !strings.Contains(text, "type: journal") {
			text += "- {type: journal}\n"
		}
		blocks[fmt.Sprintf("docs/recipe.md, source %d in its text", i+1)] = text
	}
	for name := range notRecipes {
		if !skipped[name] {
			t.Errorf("%s has no YAML any more that is no recipe", name)
		}
	}
	return blocks
}

// files are what the recipes of the documents name, by their path below the agent's home or the workspace.
var (
	homeFiles = map[string]string{
		"system_prompt.md": "You are a careful agent.\n", "rules.md": "Rules.\n", "guide.md": "Guide.\n", "glossary.md": "Glossary.\n",
		"base.yaml": "sources:\n  - {type: file, id: rules, path: \"${AGENT_HOME}/rules.md\"}\n",
		"packages/@acme/context-base/context.yaml": "sources:\n  - {type: journal}\n",
	}
	workFiles = map[string]string{"DELTA.md": "Delta.\n", "docs/api.md": "API.\n", "docs/deploy.md": "Deploy.\n", "Dockerfile": "FROM scratch\n", "src/a.go": "package a\n", "tickets.txt": "1\n"}
)

func TestYAMLInTheDocumentsIsRight(t *testing.T) {
	blocks := yamlBlocks(t)
	if len(blocks) < 10 {
		t.Fatalf("only %d blocks found", len(blocks))
	}
	for at, text := range blocks {
		r, err := recipe.Load("context.yaml", func(name string) ([]byte, error) {
			if name == "context.yaml" {
				return []byte(text), nil
			}
			if data, ok := homeFiles[name]; ok {
				return []byte(data), nil
			}
			return nil, fs.ErrNotExist
		})
		if err != nil {
			t.Errorf("%s: %v\n%s", at, err, text)
		} else if len(r.Sources) == 0 {
			t.Errorf("%s has no sources", at)
		}
	}
}

// Each recipe that the documents print builds a pack through the mount.
func TestYAMLInTheDocumentsBuilds(t *testing.T) {
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	work := t.TempDir()
	write := func(dir string, files map[string]string) {
		t.Helper()
		for name, data := range files {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(work, workFiles)
	program, err := os.ReadFile("testdata/delta_summarize.py")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for at, text := range yamlBlocks(t) {
		n++
		s := m.Session(t, harness.Self(), fmt.Sprintf("agent%d", n), "s1")
		write(s.AgentHome(), homeFiles)
		write(s.AgentHome(), map[string]string{"tools/summarize.py": string(program)})
		s.Write("cwd", work+"\n")
		s.Write("../../context.yaml", text)
		s.Append("messages.jsonl", harness.Message("user", "Deploy the API."))
		b, err := os.ReadFile(s.Path("context/pack.md"))
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", at, err, text, s.Read("context/errors.jsonl"))
			continue
		}
		if rows := s.Read("context/errors.jsonl"); rows != "" {
			t.Errorf("%s: %s\n%s", at, text, rows)
		}
		if !strings.Contains(string(b), "Deploy the API.") {
			t.Errorf("%s: the conversation is not in the pack:\n%s", at, b)
		}
	}
}
