package derivedtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// All five files are there from the start, and say what the history says.
func TestNotesAreDerivedOnRead(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	entries, err := os.ReadDir(s.Path("context"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, e := range entries {
		listed["context/"+e.Name()] = e.Type().IsRegular()
	}
	for _, file := range ctxabi.NoteFiles {
		if !listed[file] {
			t.Errorf("%s is not listed", file)
		}
		if text := mustAgree(t, s, file); text != "" {
			t.Errorf("%s of an empty session holds %q", file, text)
		}
		wantOrigin(t, s, file, ctxabi.OriginDerived)
	}
	story(s)
	for _, file := range ctxabi.NoteFiles {
		if text := mustAgree(t, s, file); text == "" || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s holds %q", file, text)
		}
		wantOrigin(t, s, file, ctxabi.OriginDerived)
	}
	log := harness.Lines(t, s.Read(ctxabi.MessagesFile))
	check := func(file, source string) {
		src, err := ctxabi.ParseSource(source)
		if err != nil || !strings.HasPrefix(source, "messages:") || src.Span.From < 1 || src.Span.To > len(log) {
			t.Errorf("%s cites %q: %v", file, source, err)
		}
	}
	for _, r := range harness.Rows[ctxabi.FactRow](t, s, ctxabi.FactsFile) {
		check(ctxabi.FactsFile, r.Source)
	}
	for _, r := range harness.Rows[ctxabi.DecisionRow](t, s, ctxabi.DecisionsFile) {
		check(ctxabi.DecisionsFile, r.Source)
	}
	for _, r := range harness.Rows[ctxabi.RefRow](t, s, ctxabi.RefsFile) {
		check(ctxabi.RefsFile, r.Source)
	}
	if text := s.Read(ctxabi.FactsFile); !strings.Contains(text, "stage-7.example.com") {
		t.Errorf("the facts are %s", text)
	}
	// They follow the history.
	before := s.Read(ctxabi.FactsFile)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "Always take the deploy key from vault/deploy-key-2."))
	if after := mustAgree(t, s, ctxabi.FactsFile); !strings.Contains(after, "vault/deploy-key-2") || !strings.HasPrefix(after, before[:strings.Index(before, "\n")]) {
		t.Errorf("after another fact: %s", after)
	}
}

// >> adds rows beside the derived ones, one with the id of a derived row takes its place, > takes the file over, rm gives it back.
func TestTheLivesOfANote(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	derived := harness.Rows[ctxabi.FactRow](t, s, ctxabi.FactsFile)
	text := s.Read(ctxabi.FactsFile)
	if len(derived) == 0 {
		t.Fatal("nothing is derived")
	}
	own := fact("mine", "the cache is warm")
	s.Bash("printf '%s' '" + own + "' >> context/facts.jsonl").OK()
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginMixed)
	if got := mustAgree(t, s, ctxabi.FactsFile); got != text+own {
		t.Errorf("after >>: %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(s.InStore(), ctxabi.OwnNote(ctxabi.FactsFile))); err != nil || string(got) != own {
		t.Errorf("the store has %q, %v", got, err)
	}
	corrected := fact(derived[0].ID, "no, it was another one")
	s.Bash("printf '%s' '" + corrected + "' >> context/facts.jsonl").OK()
	if got := mustAgree(t, s, ctxabi.FactsFile); got != text[strings.Index(text, "\n")+1:]+own+corrected {
		t.Errorf("after a correction: %q", got)
	}
	s.Bash("echo nonsense >> context/facts.jsonl 2>/dev/null; rm -f x; true").OK()
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginMixed)

	m.Restart()
	if got := mustAgree(t, s, ctxabi.FactsFile); got != text[strings.Index(text, "\n")+1:]+own+corrected {
		t.Errorf("after a restart: %q", got)
	}
	story(s) // what is derived goes on beside the agent's own
	if got := s.Read(ctxabi.FactsFile); !strings.HasSuffix(got, own+corrected) {
		t.Errorf("after more history: %q", got)
	}

	s.Bash("printf '%s' '" + own + "' > context/facts.jsonl").OK()
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginAgent)
	if got := mustAgree(t, s, ctxabi.FactsFile); got != own {
		t.Errorf("after >: %q", got)
	}
	s.Bash("printf '%s' '" + corrected + "' >> context/facts.jsonl").OK()
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginAgent)
	m.Restart()
	if got := mustAgree(t, s, ctxabi.FactsFile); got != own+corrected {
		t.Errorf("after another restart: %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.InStore(), ctxabi.OwnNote(ctxabi.FactsFile))); err == nil {
		t.Error("what was added before is still in the store")
	}
	s.Bash("rm context/facts.jsonl && rm context/facts.jsonl && rm -f context/facts.jsonl").OK() // it comes back each time
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginDerived)
	if got := mustAgree(t, s, ctxabi.FactsFile); !strings.Contains(got, derived[0].Text) || strings.Contains(got, "mine") {
		t.Errorf("after rm: %q", got)
	}
	s.Bash(": > context/facts.jsonl").OK()
	wantOrigin(t, s, ctxabi.FactsFile, ctxabi.OriginAgent)
	if got := mustAgree(t, s, ctxabi.FactsFile); got != "" {
		t.Errorf("emptied: %q", got)
	}
}

// Text has an owned part below.
func TestTextIsAddedBelow(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	for _, file := range []string{ctxabi.TodoFile} {
		text := s.Read(file)
		s.Bash("echo '- [ ] call Ada' >> " + file).OK()
		wantOrigin(t, s, file, ctxabi.OriginMixed)
		if got := mustAgree(t, s, file); got != text+"- [ ] call Ada\n" {
			t.Errorf("%s: %q", file, got)
		}
		// Whoever loads it and saves it whole owns it.
		s.Bash("sed -i 's/Ada/Bo/' " + file).OK()
		wantOrigin(t, s, file, ctxabi.OriginAgent)
		if got := mustAgree(t, s, file); got != strings.ReplaceAll(text, "Ada", "Bo")+"- [ ] call Bo\n" {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// Every program that people write files with.
func TestProgramsThatWrite(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	derived := s.Read(ctxabi.FactsFile)
	row := `{"id":"own","text":"x"}`
	shell := func(script string) func() harness.Result {
		return func() harness.Result { return s.Bash("cd context; " + script) }
	}
	python := func(script string) func() harness.Result {
		return func() harness.Result {
			return s.Python("import os; os.chdir('context'); row='" + row + `\n'` + "\n" + script)
		}
	}
	added, whole := derived+row+"\n", row+"\n"
	for _, c := range []struct {
		name, needs  string
		run          func() harness.Result
		want, origin string
	}{
		{"bash >>", "", shell("echo '" + row + "' >> facts.jsonl"), added, ctxabi.OriginMixed},
		{"bash >", "", shell("echo '" + row + "' > facts.jsonl"), whole, ctxabi.OriginAgent},
		{"tee -a", "", shell("echo '" + row + "' | tee -a facts.jsonl"), added, ctxabi.OriginMixed},
		{"tee", "", shell("echo '" + row + "' | tee facts.jsonl"), whole, ctxabi.OriginAgent},
		{"cp", "", shell("t=$(mktemp); echo '" + row + "' > $t; cp $t facts.jsonl; rm $t"), whole, ctxabi.OriginAgent},
		{"mv", "", shell("t=$(mktemp); echo '" + row + "' > $t; mv $t facts.jsonl"), whole, ctxabi.OriginAgent},
		{"rename", "", shell("echo '" + row + "' > new; mv new facts.jsonl"), whole, ctxabi.OriginAgent},
		{"dd", "", shell("echo '" + row + "' | dd of=facts.jsonl 2>/dev/null"), whole, ctxabi.OriginAgent},
		{"dd append", "", shell("echo '" + row + "' | dd of=facts.jsonl oflag=append conv=notrunc 2>/dev/null"), added, ctxabi.OriginMixed},
		{"truncate", "", shell("truncate -s 0 facts.jsonl"), "", ctxabi.OriginAgent},
		{"touch", "", shell("touch facts.jsonl"), derived, ctxabi.OriginDerived},
		{"python a", "python3", python("open('facts.jsonl','a').write(row)"), added, ctxabi.OriginMixed},
		{"python w", "python3", python("open('facts.jsonl','w').write(row)"), whole, ctxabi.OriginAgent},
		{"python r+ at the end", "python3", python("f=open('facts.jsonl','r+'); f.read(); f.write(row); f.close()"), added, ctxabi.OriginMixed},
		{"python r+ from the start", "python3", python("f=open('facts.jsonl','r+'); t=f.read(); f.seek(0); f.write(row+t); f.truncate(); f.close()"), row + "\n" + derived, ctxabi.OriginAgent},
		{"python O_EXCL", "python3", python("\ntry: os.open('facts.jsonl', os.O_CREAT|os.O_EXCL|os.O_WRONLY)\nexcept FileExistsError: pass\nelse: raise SystemExit('made')"), derived, ctxabi.OriginDerived},
		{"python os.replace", "python3", python("open('new','w').write(row); os.replace('new','facts.jsonl')"), whole, ctxabi.OriginAgent},
		{"node appendFile", "node", func() harness.Result {
			return s.Run("node", "-e", "require('fs').appendFileSync('context/facts.jsonl', '"+row+`\n`+"')")
		}, added, ctxabi.OriginMixed},
		{"node writeFile", "node", func() harness.Result {
			return s.Run("node", "-e", "require('fs').writeFileSync('context/facts.jsonl', '"+row+`\n`+"')")
		}, whole, ctxabi.OriginAgent},
		{"sed -i", "", shell(`sed -i '1i\` + strings.ReplaceAll(row, `"`, `\"`) + `' facts.jsonl`), row + "\n" + derived, ctxabi.OriginAgent},
		{"vim", "vim", shell(`vim -es -u NONE -c 'normal! O` + row + `' -c wq facts.jsonl; rm -f facts.jsonl~ .facts.jsonl.swp`), row + "\n" + derived, ctxabi.OriginAgent},
		{"vim, a new file", "vim", shell(`vim -es -u NONE -c 'set backupcopy=no' -c 'normal! O` + row + `' -c wq facts.jsonl; rm -f facts.jsonl~`), row + "\n" + derived, ctxabi.OriginAgent},
		{"vim, the same file", "vim", shell(`vim -es -u NONE -c 'set backupcopy=yes' -c 'normal! O` + row + `' -c wq facts.jsonl; rm -f facts.jsonl~`), row + "\n" + derived, ctxabi.OriginAgent},
		{"mv away", "", shell("mv facts.jsonl kept && cat kept && rm kept"), derived, ctxabi.OriginDerived},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.needs != "" {
				harness.Need(t, c.needs)
			}
			s.Bash("rm context/facts.jsonl").OK()
			if r := c.run(); r.Code != 0 || strings.Contains(strings.ToLower(r.Stderr), "stale") {
				t.Errorf("%+v", r)
			}
			if got := mustAgree(t, s, ctxabi.FactsFile); got != c.want {
				t.Errorf("the file holds\n%swant\n%s", got, c.want)
			}
			wantOrigin(t, s, ctxabi.FactsFile, c.origin)
		})
	}
	for _, e := range s.Errors() {
		t.Errorf("refused: %+v", e)
	}
}

// What breaks the rules of the file is refused where it is written, and changes no life.
func TestBadRowsAreRefused(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	text := s.Read(ctxabi.RefsFile)
	for _, bad := range []string{"no json\n", `{"id":"x"}` + "\n", `{"id":"x","path":"a","kind":"nonsense"}` + "\n"} {
		harness.WantErrno(t, bad, write(s.Path(ctxabi.RefsFile), bad, os.O_WRONLY|os.O_APPEND), unix.EINVAL)
		harness.WantErrno(t, bad, write(s.Path(ctxabi.RefsFile), bad, os.O_WRONLY|os.O_TRUNC), unix.EINVAL)
	}

	large := strings.Repeat("x", ctxabi.MaxControl+1)
	err := write(s.Path(ctxabi.SummaryFile), large, os.O_WRONLY|os.O_APPEND)
	harness.WantErrno(t, "too much", err, unix.EMSGSIZE)
	wantOrigin(t, s, ctxabi.RefsFile, ctxabi.OriginDerived)
	if got := mustAgree(t, s, ctxabi.RefsFile); got != text {
		t.Errorf("it holds %q", got)
	}
	if len(s.Errors()) < 6 {
		t.Errorf("%d rows of errors", len(s.Errors()))
	}
}

// A fork has the notes in the life that they were in.
func TestAForkCopiesTheLife(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	s.Append(ctxabi.FactsFile, fact("mine", "the cache is warm"))
	s.Write(ctxabi.DecisionsFile, harness.Record(ctxabi.DecisionRow{ID: "d", Decision: "ship it"}))
	s.Bash("setfattr -n user.ctx.fork -v " + filepath.Base(s.Dir) + "fork . 2>/dev/null || python3 -c 'import os; os.setxattr(\".\",\"user.ctx.fork\",b\"" + filepath.Base(s.Dir) + "fork\")'").OK()
	f := m.Session(t, harness.Self(), "coder", filepath.Base(s.Dir)+"fork")
	for file, want := range map[string]string{ctxabi.FactsFile: ctxabi.OriginMixed, ctxabi.DecisionsFile: ctxabi.OriginAgent, ctxabi.RefsFile: ctxabi.OriginDerived} {
		wantOrigin(t, f, file, want)
		if got := mustAgree(t, f, file); got != s.Read(file) {
			t.Errorf("%s of the fork: %q", file, got)
		}
	}
	f.Append(ctxabi.FactsFile, fact("other", "it is cold"))
	if strings.Contains(s.Read(ctxabi.FactsFile), "it is cold") {
		t.Error("both share the file")
	}
}

// A program that adds a row without a newline does not keep others from adding theirs.
func TestARowWithoutItsEndIsARow(t *testing.T) {
	s := harness.Start(t, harness.Options{}).NewSession(t)
	s.Bash(`set -e
printf '{"id":"a","text":"A"}' >> context/facts.jsonl
echo '{"id":"b","text":"B"}' >> context/facts.jsonl
printf '{"id":"c","text":"C"}' >> context/facts.jsonl
printf '{"id":"d","text":"D"}' >> context/facts.jsonl`).OK()
	var ids string
	for _, r := range harness.Rows[ctxabi.FactRow](t, s, ctxabi.FactsFile) {
		ids += r.ID
	}
	if ids != "abcd" {
		t.Errorf("rows %q", ids)
	}
	if errors := s.Read(ctxabi.ErrorsFile); errors != "" {
		t.Error(errors)
	}
}
