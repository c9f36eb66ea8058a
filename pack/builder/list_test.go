package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

func TestADirectoryOfManyFilesIsBounded(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "Ask the ledger."))
	d.write("../../context.yaml", "sources: [{type: knowledge}, {type: memory}, {type: journal}]\n")
	for i := range 2001 {
		d.write(fmt.Sprintf("../../knowledge/k%04d.md", i), "x\n")
	}
	if report := string(d.pack().Report); !strings.Contains(report, fmt.Sprintf("only its first %d files are looked at", 2000)) {
		t.Errorf("%s", report)
	}
	big := strings.Repeat("All about the ledger of the client.\n\n", 6<<20/37)
	for i := range 3 {
		d.write(fmt.Sprintf("../../memory/m%d.md", i), big)
	}
	if report := string(d.pack().Report); !strings.Contains(report, "only its first 2 files are looked at") {
		t.Errorf("%s", report)
	}
	// What is kept of it counts.
	if size := int(d.b.sessions.SizeOf(d.x.ID())); size < 2*len(big) {
		t.Errorf("%d bytes are counted for more than %d", size, 2*len(big))
	}
}

// A link to the directory above, or to another one that is listed, brings no memory twice.
func TestALinkBringsNoMemoryTwice(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "Ask the ledger."))
	d.write("../../context.yaml", "sources: [{type: memory, top: 10}, {type: journal}]\n")
	d.write("../../memory/a.md", "All about the ledger.\n")
	d.write("../../memory/deep/b.md", "The ledger is deep.\n")
	d.write("../../other/c.md", "The other ledger.\n")
	for name, to := range map[string]string{"up": "..", "self": ".", "deep/top": "..", "first": "../other", "last": "../other", "round": "round"} {
		if err := os.Symlink(to, filepath.Join(d.x.Dir(), "../../memory", name)); err != nil {
			t.Fatal(err)
		}
	}
	md := string(d.pack().Markdown)
	for _, text := range []string{"All about the ledger.", "The ledger is deep.", "The other ledger."} {
		if n := strings.Count(md, text); n != 1 {
			t.Errorf("%q stands there %d times:\n%s", text, n, md)
		}
	}
}

// A recipe that names a file which the mount shows and nobody wrote is told why it gets nothing.
func TestAViewIsNoSourceAndTheReportSaysSo(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "Ask the ledger."), packtest.Message("assistant", "It says 3."))
	d.write("../../context.yaml", "sources:\n  - {type: file, id: last, path: \"${SESSION}/latest.md\", on_missing: skip}\n"+
		"  - {type: file, id: line, path: \"${SESSION}/context/line/1\", on_missing: skip}\n  - {type: file, id: notes, path: \"${SESSION}/context/facts.jsonl\", on_missing: skip}\n"+
		"  - {type: file, id: absent, path: \"${SESSION}/scratch.md\", on_missing: skip}\n  - {type: journal}\n")
	b := d.pack()
	if n := strings.Count(string(b.Report), "ctxfs makes it from the history, and a source reads what was written"); n != 3 {
		t.Errorf("said %d times of 3 files:\n%s", n, b.Report)
	}
	d.write("context/facts.jsonl", `{"text":"The limit is 3."}`+"\n")
	if b := d.pack(); !strings.Contains(string(b.Markdown), "The limit is 3.") || strings.Count(string(b.Report), "ctxfs makes it from the history, and a source reads what was written") != 2 {
		t.Errorf("what was written is not shown:\n%s\n%s", b.Markdown, b.Report)
	}
	d.write("../../context.yaml", "sources:\n  - {type: file, id: last, path: \"${SESSION}/latest.md\"}\n  - {type: journal}\n")
	if _, err := d.b.Current(context.Background(), d.x); !errors.Is(err, ctxabi.ErrNoData) || !strings.Contains(err.Error(), "ctxfs makes it from the history, and a source reads what was written") {
		t.Errorf("got %v", err)
	}
}

func TestFileExistsOutsideOfTheStore(t *testing.T) {
	w := &workspace{files: map[string]string{"/host/work/go.mod": "module x\n"}}
	d := newDesk(t, Config{Budget: 8000, Workspace: w, MapPath: func(p string) string { return "/host" + p }})
	d.append(packtest.Message("user", "hi"))
	d.write("../../go.md", "Run go vet.\n")
	d.write("../../context.yaml", `
sources:
  - {type: file, path: "${AGENT_HOME}/go.md", condition: {all: [{when: file_exists, path: "${CWD}/go.mod"}, {not: {when: file_exists, path: /no/such}}]}, on_missing: skip}
  - {type: journal}
`)
	says := func(want bool) {
		t.Helper()
		if b := d.pack(); strings.Contains(string(b.Markdown), "Run go vet.") != want {
			t.Errorf("want %v:\n%s", want, b.Report)
		}
	}
	says(false) // no cwd
	d.write("cwd", "/work\n")
	says(true)
	delete(w.files, "/host/work/go.mod")
	says(false)
	w.files["/host/work/go.mod"] = ""
	says(true)
	w.files["/host/no/such"] = ""
	says(false)
}

// A pin that is too large, and one that cannot be read, must not be left out silently.
func TestAPinThatCannotStandIsAnError(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "hi"))
	d.write("context/pinned/a.md", "")
	if err := os.Truncate(d.x.Dir()+"/context/pinned/a.md", 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Current(t.Context(), d.x); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}

// The failures that a pack shows are the same when they are read at once and as they come.
func TestFailuresAreTheSameAfterARestart(t *testing.T) {
	c := Config{Budget: 8000}
	d := newDesk(t, c)
	d.append(packtest.Message("user", "hi"))
	for i := range 50 {
		d.event(fmt.Appendf(nil, `{"type":"error","message":"failure %d"}`, i))
		d.event([]byte(`{"type":"usage"}`))
		d.pack()
	}
	before := d.pack()
	if md := string(before.Markdown); !strings.Contains(md, "failure 49") || strings.Contains(md, "failure 29\n") {
		t.Errorf("%s", md)
	}
	d.restart(c)
	same(t, before, d.pack())
}
