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

// delivered makes a session with versions of each kind, of which the first two are retracted.
func delivered(t *testing.T, m *harness.Mount) *harness.Session {
	s := m.NewSession(t)
	talk(s, 6)
	s.Write(ctxabi.SummaryFile, deliver(2, "Gone.\n"))
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":6,"text":"Gone, too.\n"}`)
	s.Bash("rm context/summary.md").OK()
	s.Append(ctxabi.EventsFile, `{"type":"note"}`)
	s.Write(ctxabi.SummaryFile, deliver(4, "First.\n"))
	s.Append(ctxabi.EventsFile, `{"type":"summary","upto":4,"text":"Second.\n"}`)
	s.Write(ctxabi.SummaryFile, deliver(3, "Unused.\n"))
	return s
}

func TestExportCarriesVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := delivered(t, m)
	want := []string{"Gone.\n", "Gone, too.\n", "First.\n", "Second.\n", "Unused.\n"}
	wantVersions(t, s, want...)
	file := filepath.Join(t.TempDir(), "out")
	mounted := m.CLI(t, "export", "--format", "native", s.Dir).OK()
	if err := os.WriteFile(file, []byte(mounted), 0o600); err != nil {
		t.Fatal(err)
	}

	copied := m.Session(t, harness.Self(), s.Agent, s.Name+"copy")
	for range 2 { // the second import adds nothing
		m.CLI(t, "import", "-q", file, copied.Dir).OK()
		wantVersions(t, copied, want...)
		harness.WantFile(t, copied, ctxabi.SummaryFile, "Second.\n")
	}
	if writer, _ := copied.Xattr(ctxabi.SummaryPath(3), "writer"); writer != "file" {
		t.Errorf("the writer of version 3 is %s", writer)
	}
	m.CLI(t, "import", "-q", file, s.Dir).OK()
	harness.WantFile(t, s, ctxabi.SummaryFile, "Second.\n")
}

func TestStoreExportsSameVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := delivered(t, m)
	mounted := m.CLI(t, "export", "--format", "native", s.Dir).OK()
	m.Stop()
	if stored := m.CLI(t, "export", "--format", "native", "--store", m.Store, s.Ref()).OK(); stored != mounted {
		t.Errorf("from the store:\n%s\nfrom the mount:\n%s", stored, mounted)
	}
}

func TestRedactionReachesVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 2)
	const token = "ghp_R7x2bQm9LkT4vWc8YpZs3NdF6hJa1GeU5oXi"
	s.Write(ctxabi.SummaryFile, "The token is "+token+".\n")
	if out := m.CLI(t, "export", "--format", "native", "--redact", s.Dir).OK(); strings.Contains(out, token) || !strings.Contains(out, `"type":"summary"`) {
		t.Errorf("exported: %s", out)
	}
}

func TestCollectorKeepsVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := delivered(t, m)
	before, _ := os.ReadFile(filepath.Join(s.InStore(), ".ctxfs/versions"))
	s.Write(ctxabi.PolicyFile, "swap_ttl=1ns\npack_ttl=1ns\n")
	if err := unix.Setxattr(s.Dir, ctxabi.CollectAttr, []byte("sweep"), 0); err != nil {
		t.Fatal(err)
	}
	s.Bash("rm -rf context 2>/dev/null; true").OK()
	m.Restart()
	wantVersions(t, s, "Gone.\n", "Gone, too.\n", "First.\n", "Second.\n", "Unused.\n")
	after, _ := os.ReadFile(filepath.Join(s.InStore(), ".ctxfs/versions"))
	if !strings.HasPrefix(string(after), string(before)) || len(before) == 0 {
		t.Error("lines of the versions are gone")
	}
}

func TestOldSummaryIsVersionOne(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 4)
	m.Stop()
	if err := os.WriteFile(filepath.Join(s.InStore(), ctxabi.SummaryFile), []byte("Old.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Restart()
	harness.WantFile(t, s, ctxabi.SummaryFile, "Old.\n")
	wantVersions(t, s, "Old.\n")
	wantFacts(t, s, 1, "2 4 0 file 0")
	withoutJournal(s)
	if got := s.Read(ctxabi.PackFile); !strings.Contains(got, "Old.\n") {
		t.Errorf("the pack is %s", got)
	}
	s.Bash("echo new >> context/summary.md").OK()
	wantVersions(t, s, "Old.\n", "Old.\nnew\n")
	harness.WantAbsent(t, filepath.Join(s.InStore(), ctxabi.SummaryFile))
}

func TestChildGetsParentsSummary(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	talk(s, 2)
	s.Write(ctxabi.SummaryFile, "The bridge has two piers.\n")
	s.Bash("mkdir context/child/rev").OK()
	child := m.NewSession(t)
	child.Write(ctxabi.MetaFile, `{"parent":"`+s.Ref()+`/context/child/rev"}`)
	talk(child, 1)
	if got := child.Read(ctxabi.PackFile); !strings.Contains(got, "# Context Block: handoff") || !strings.Contains(got, "The bridge has two piers.") {
		t.Errorf("the child's pack is %s", got)
	}
	wantVersions(t, child)
	s.Write(ctxabi.ChildPath("rev", ctxabi.ChildHandoff), "Look at pier two.\n")
	if got := child.Read(ctxabi.PackFile); strings.Contains(got, "two piers") || !strings.Contains(got, "Look at pier two.") {
		t.Errorf("the child's pack is %s", got)
	}
}

func TestDiffComparesVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := delivered(t, m)
	r := m.CLI(t, "diff", s.Dir+"@summary.3", s.Dir+"@summary.4")
	if r.Code != 1 || !strings.Contains(r.Stdout, "-First.\n+Second.\n") {
		t.Errorf("exit %d: %s %s", r.Code, r.Stdout, r.Stderr)
	}
	m.CLI(t, "diff", s.Dir+"@summary.3", s.Dir+"@summary.3").OK()
	if r := m.CLI(t, "diff", s.Dir+"@summary.3", s.Dir+"@summary.9"); r.Code != 2 {
		t.Errorf("exit %d: %s", r.Code, r.Stderr)
	}
}

func TestRedactedPacksHideVersions(t *testing.T) {
	m := harness.Start(t, harness.Options{Args: []string{"--redact"}})
	s := m.NewSession(t)
	withoutJournal(s)
	talk(s, 2)
	const token = "ghp_b7Qw9ZkT3mXr5LvYp2NcJd8HsGfA1eUoRi4V"
	s.Write(ctxabi.SummaryFile, "GITHUB_TOKEN="+token+"\n")
	talk(s, 2)
	s.Write(ctxabi.SummaryFile, deliver(3, "There was a token.\n"))
	for name, want := range map[string]string{"context/at/3/pack.md": "GITHUB_TOKEN=[redacted:github-pat]", ctxabi.PackFile: "There was a token."} {
		if got := s.Read(name); strings.Contains(got, token) || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDamagedVersionIsFound(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := delivered(t, m)
	m.Stop()
	file := filepath.Join(s.InStore(), ".ctxfs/versions")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), "First.", "Worst.", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.CLI(t, "fsck", "--store", m.Store); r.Code == 0 || !strings.Contains(r.Stdout+r.Stderr, ".ctxfs/versions") {
		t.Errorf("exit %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	m.CLI(t, "fsck", "--repair", "--store", m.Store)
	m.Restart()
	wantVersions(t, s, "Gone.\n", "Gone, too.\n", "Second.\n", "Unused.\n")
}
