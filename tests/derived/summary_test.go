package derivedtest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// talk appends n messages, of the user and of the assistant in turn.
func talk(s *harness.Session, n int) {
	roles := []string{"user", "assistant"}
	for i := range n {
		s.Append(ctxabi.MessagesFile, harness.Message(roles[i%2], fmt.Sprintf("Line %d of the talk about the bridge.", i+1)))
	}
}

// wantVersions compares the texts of context/summaries with want, oldest first.
func wantVersions(t *testing.T, s *harness.Session, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(s.Path(ctxabi.SummariesDir))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range entries {
		got = append(got, s.Read(ctxabi.SummaryPath(i+1)))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("the versions are %q, not %q", got, want)
	}
}

// wantFacts compares attributes of a version.
func wantFacts(t *testing.T, s *harness.Session, n int, want string) {
	t.Helper()
	var got []string
	for _, attr := range []string{"upto", "messages", "events", "writer", "base"} {
		v, err := s.Xattr(ctxabi.SummaryPath(n), attr)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("version %d: %s, not %s", n, strings.Join(got, " "), want)
	}
}

func deliver(upto int, text string) string { return fmt.Sprintf("---\nupto: %d\n---\n%s", upto, text) }

func TestProgramsDeliverOneVersion(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	for name, script := range map[string]string{
		"bash >":      "printf 'We build.\n' > context/summary.md",
		"bash >>":     "printf 'We build.\n' >> context/summary.md",
		"tee":         "printf 'We build.\n' | tee context/summary.md",
		"two printfs": "{ printf 'We '; printf 'build.\n'; } > context/summary.md",
		"rename":      "printf 'We build.\n' > context/new && mv context/new context/summary.md",
		"vim":         "printf 'We build.\n' > context/4913~ && rm -f context/4913~; printf 'We build.\n' > context/.s.swp; mv context/.s.swp context/summary.md",
		"cp":          "printf 'We build.\n' > ../../s; cp ../../s context/summary.md",
		"python":      "python3 -c 'open(\"context/summary.md\",\"w\").write(\"We build.\\n\")'",
		"again":       "printf 'We build.\n' > context/summary.md; printf 'We build.\n' > context/summary.md; touch context/summary.md",
	} {
		t.Run(name, func(t *testing.T) {
			s := m.NewSession(t)
			talk(s, 3)
			s.Bash(script).OK()
			wantVersions(t, s, "We build.\n")
			wantFacts(t, s, 1, "2 3 0 file 0") // the turn that message 3 begins is not covered
			if got := mustAgree(t, s, ctxabi.SummaryFile); got != "We build.\n" {
				t.Errorf("summary.md: %q", got)
			}
		})
	}
}

func TestEditorsReplaceTheSummary(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 5)
	s.Bash("echo 'We build a bridge.' > context/summary.md; sed -i s/bridge/tower/ context/summary.md; echo more >> context/summary.md").OK()
	wantVersions(t, s, "We build a bridge.\n", "We build a tower.\n", "We build a tower.\nmore\n")
	wantFacts(t, s, 3, "4 5 0 file 2")
	wantOrigin(t, s, ctxabi.SummaryFile, ctxabi.OriginAgent)
}

func TestDerivedTextEntersNoVersion(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	derived := s.Read(ctxabi.SummaryFile)
	if derived == "" {
		t.Fatal("nothing is derived")
	}
	s.Bash("cp context/summary.md ../../copy; cp ../../copy context/summary.md").OK()
	wantVersions(t, s)
	s.Bash("echo mine >> ../../copy; cp ../../copy context/summary.md").OK()
	wantVersions(t, s, "mine\n")
}

func TestNewTurnStaysUncovered(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 4)
	s.Write(ctxabi.SummaryFile, deliver(2, "First.\n"))
	talk(s, 6)
	s.Bash("echo more >> context/summary.md").OK()
	wantVersions(t, s, "First.\n", "First.\nmore\n")
	wantFacts(t, s, 2, "2 10 0 file 1") // the range of the version in use, not the head
}

func TestRangeBeyondTheHead(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 4)
	s.Write(ctxabi.SummaryFile, "Before.\n")
	for _, text := range []string{deliver(5, "x"), deliver(-1, "x"), "---\nupto: many\n---\nx", "---\nwriter: me\n---\nx"} {
		err := os.WriteFile(s.Path(ctxabi.SummaryFile), []byte(text), 0o600)
		harness.WantErrno(t, "write of "+text, err, unix.EINVAL)
	}
	s.Bash("printf -- '---\nupto: 9\n---\nx' > context/new; ! mv context/new context/summary.md").OK()
	wantVersions(t, s, "Before.\n")
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":9,"text":"Far.\n"}`)
	wantVersions(t, s, "Before.\n", "Far.\n")
	wantFacts(t, s, 2, "2 4 1 event 1")
	if got := s.Read(ctxabi.ErrorsFile); !strings.Contains(got, "the range of event 1 is ignored") {
		t.Errorf("errors.jsonl: %s", got)
	}
}

func TestOlderVersionIsUnused(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 8)
	s.Write(ctxabi.SummaryFile, deliver(6, "New.\n"))
	s.Write(ctxabi.SummaryFile, deliver(3, "Old.\n"))
	wantVersions(t, s, "New.\n", "Old.\n")
	harness.WantFile(t, s, ctxabi.SummaryFile, "New.\n")
	if got := s.Read(ctxabi.ErrorsFile); !strings.Contains(got, "version 1, which covers those up to 6, stays in use") {
		t.Errorf("errors.jsonl: %s", got)
	}
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":6,"text":"Newer.\n"}`)
	harness.WantFile(t, s, ctxabi.SummaryFile, "Newer.\n")
	if v, _ := s.Xattr(ctxabi.SummaryFile, "version"); v != "3" {
		t.Errorf("version %s is in use", v)
	}
}

func TestOlderEventIsReported(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 8)
	s.Write(ctxabi.SummaryFile, deliver(6, "New.\n"))
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":3,"text":"Old.\n"}`)
	harness.WantFile(t, s, ctxabi.SummaryFile, "New.\n")
	harness.WantFile(t, s, ctxabi.SummaryFile, "New.\n")
	if got := s.Read(ctxabi.ErrorsFile); strings.Count(got, "version 2 covers the messages up to 3; version 1") != 1 {
		t.Errorf("errors.jsonl: %s", got)
	}
}

func TestRemovalRetractsTheSummary(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	story(s)
	derived := s.Read(ctxabi.SummaryFile)
	s.Write(ctxabi.SummaryFile, deliver(3, "Mine.\n"))
	s.Bash("rm context/summary.md").OK()
	m.Restart()
	harness.WantFile(t, s, ctxabi.SummaryFile, derived)
	wantVersions(t, s, "Mine.\n")
	s.Write(ctxabi.SummaryFile, deliver(1, "Less.\n"))
	harness.WantFile(t, s, ctxabi.SummaryFile, "Less.\n")
}

func TestTwoWritersLoseNoVersion(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 3)
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			s.Bash(fmt.Sprintf("for i in 1 2 3 4 5; do echo %d-$i >> context/summary.md; done", w)).OK()
		})
	}
	all.Wait()
	got := s.Read(ctxabi.SummaryFile)
	for w := range 2 {
		for i := 1; i <= 5; i++ {
			if !strings.Contains(got, fmt.Sprintf("%d-%d\n", w, i)) {
				t.Errorf("%d-%d is missing in %q", w, i, got)
			}
		}
	}
	if entries, err := os.ReadDir(s.Path(ctxabi.SummariesDir)); err != nil || len(entries) != 10 {
		t.Errorf("%d versions: %v", len(entries), err)
	}
}

func TestKillKeepsVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 3)
	s.Write(ctxabi.SummaryFile, "One.\n")
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":2,"text":"Two.\n"}`)
	s.Bash("echo three >> context/summary.md").OK()
	m.Kill()
	m.Restart()
	wantVersions(t, s, "One.\n", "Two.\n", "Two.\nthree\n")
	harness.WantFile(t, s, ctxabi.SummaryFile, "Two.\nthree\n")
}

func TestVersionsAreReadOnly(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 3)
	s.Write(ctxabi.SummaryFile, "One.\n")
	before := s.Read(ctxabi.EventsFile)
	s.Bash("rm -rf context/summaries 2>/dev/null; ! rm context/summaries/1.md; ! echo x > context/summaries/1.md; ! echo x > context/summaries/2.md").OK()
	wantVersions(t, s, "One.\n")
	if got := s.Read(ctxabi.EventsFile); got != before {
		t.Errorf("events.jsonl has changed: %q", got)
	}
}

// withoutJournal writes a recipe without a journal, so that packs show the summary as a file.
func withoutJournal(s *harness.Session) {
	s.Write("context/context.yaml", "sources:\n  - type: summary\n")
}

func TestPackShowsVersionInUse(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	withoutJournal(s)
	talk(s, 4)
	s.Write(ctxabi.SummaryFile, deliver(2, "The bridge has two piers.\n"))
	talk(s, 4)
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":6,"text":"The bridge has three piers.\n"}`)
	s.Write(ctxabi.SummaryFile, deliver(3, "The bridge has no piers.\n"))
	wants := func(name, want string) {
		t.Helper()
		got := s.Read(name)
		for _, piers := range []string{"two", "three", "no"} {
			if text := "The bridge has " + piers + " piers."; strings.Contains(got, text) != (piers == want) {
				t.Errorf("%s: %q is in it: %v", name, text, piers != want)
			}
		}
		if strings.Contains(got, "upto:") {
			t.Errorf("%s shows the front matter", name)
		}
	}
	wants(ctxabi.PackFile, "three")
	wants(ctxabi.AtDir+"/7/pack.md", "two")
	wants(ctxabi.AtDir+"/3/pack.md", "")
	s.Bash("rm context/summary.md").OK()
	wants(ctxabi.PackFile, "")
	wants(ctxabi.AtDir+"/7/pack.md", "two")
}

func TestForkTakesEarlierVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 4)
	s.Write(ctxabi.SummaryFile, deliver(2, "Early.\n"))
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":3,"text":"Event.\n"}`)
	talk(s, 4)
	s.Write(ctxabi.SummaryFile, deliver(6, "Late.\n"))
	for name, want := range map[string][]string{"@5": {"Early.\n", "Event.\n"}, "@3": nil, "": {"Early.\n", "Event.\n", "Late.\n"}} {
		fork := s.Name + "fork" + strings.TrimPrefix(name, "@")
		if err := unix.Setxattr(s.Dir, ctxabi.ForkAttr, []byte(fork+name), 0); err != nil {
			t.Fatal(err)
		}
		wantVersions(t, m.Session(t, harness.Self(), s.Agent, fork), want...)
	}
}

// An imported event delivers a summary only if its writer is "import". An imported summary that is
// older than the version in use is reported in errors.jsonl.
func TestImportedSummaryIsAVersion(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "imported")
	talk(s, 6)
	const stamp = `,"import":{"format":"claude-code","ids":["c1"],"at":[3]}}`
	for range 2 { // the second delivery is a duplicate
		s.Append(ctxabi.EventsFile, `{"type":"summary","upto":4,"text":"Of a program.\n","writer":"import"`+stamp)
	}
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":6,"text":"Forged.\n"`+stamp)
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":6,"text":"Forged.\n","writer":"event"`+stamp)
	s.Append(ctxabi.EventsFile, `{"type":"claude-code/summary","upto":6,"text":"Forged.\n","writer":"import"`+stamp)
	wantVersions(t, s, "Of a program.\n")
	wantFacts(t, s, 1, "4 6 1 import 0")

	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":2,"text":"Older.\n","writer":"import",`+
		`"import":{"format":"claude-code","ids":["c2"],"at":[1]}}`)
	wantVersions(t, s, "Of a program.\n", "Older.\n")
	if got := s.Read(ctxabi.SummaryFile); got != "Of a program.\n" {
		t.Errorf("in use is %q", got)
	}
	if rows := s.Read("context/errors.jsonl"); !strings.Contains(rows, "version 2 covers the messages up to 2") {
		t.Errorf("errors.jsonl is\n%s", rows)
	}
}
