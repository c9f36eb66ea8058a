package builder

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
)

// workspace answers from a map; a path in late answers only with what was known.
type workspace struct {
	mu    sync.Mutex
	files map[string]string
	late  bool
	fail  error
	asked []string
}

func (w *workspace) ReadFiles(_ context.Context, uid, gid uint32, paths []string, max int64, wait time.Duration) ([]source.WorkspaceFile, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return nil, w.fail
	}
	w.asked = paths
	var out []source.WorkspaceFile
	for _, p := range paths {
		data, ok := w.files[p]
		out = append(out, source.WorkspaceFile{Path: p, Exists: ok, Data: []byte(data), Stale: w.late})
	}
	return out, nil
}

func TestWorkspaceGuides(t *testing.T) {
	w := &workspace{files: map[string]string{"/host/work/AGENTS.md": "Run make test.\n", "/host/work/DELTA.md": "Small steps.\n"}}
	d := newDesk(t, Config{Budget: 4000, Workspace: w, MapPath: func(p string) string { return "/host" + p }})
	d.append(packtest.Message("user", "hi"))
	if strings.Contains(string(d.pack().Markdown), "Run make test") {
		t.Error("guides without a cwd")
	}
	d.write("cwd", "/work\n")
	first := d.pack()
	for _, want := range []string{"# Context Block: AGENTS.md\nRun make test.\n", "# Context Block: DELTA.md\nSmall steps.\n"} {
		if !strings.Contains(string(first.Markdown), want) {
			t.Errorf("no %q in\n%s", want, first.Markdown)
		}
	}
	if d.pack() != first {
		t.Error("another build though nothing changed")
	}
	w.files["/host/work/AGENTS.md"] = "Run make check.\n"
	if !strings.Contains(string(d.pack().Markdown), "make check") {
		t.Error("the change is not in the pack")
	}
	w.late = true
	if b := d.pack(); !b.Stale || !accountOf(t, b).Stale {
		t.Error("not marked stale")
	}
	w.late, w.fail = false, errors.New("the runner is gone")
	if b := d.pack(); !b.Stale || !strings.Contains(string(b.Markdown), "make check") {
		t.Error("the last known content is not used")
	}
	w.fail = nil
	if b := d.pack(); b.Stale {
		t.Error("stale though the answer came")
	}
	delete(w.files, "/host/work/AGENTS.md")
	if strings.Contains(string(d.pack().Markdown), "AGENTS.md") {
		t.Error("a removed guide stayed")
	}
}

// A workspace that never answered is said to be missing, not taken to be empty.
func TestWorkspaceThatNeverAnswered(t *testing.T) {
	w := &workspace{fail: errors.New("the runner is gone")}
	d := newDesk(t, Config{Budget: 4000, Workspace: w})
	d.write("cwd", "/work\n")
	b := d.pack()
	if p := accountOf(t, b); !p.Stale || len(p.Omitted) != 2 || p.Omitted[0].Path != "/work/AGENTS.md" {
		t.Errorf("stale %v, omitted %+v", p.Stale, p.Omitted)
	}
	w.fail = nil
	if p := accountOf(t, d.pack()); p.Stale || len(p.Omitted) != 0 {
		t.Errorf("stale %v, omitted %+v", p.Stale, p.Omitted)
	}
}

// In a shared space the group may write cwd; a guide read by the owner's rights could be anybody's secret.
func TestGroupWritableCwdIsNotFollowed(t *testing.T) {
	w := &workspace{files: map[string]string{"/work/AGENTS.md": "Run make test.\n"}}
	d := newDesk(t, Config{Budget: 4000, Workspace: w})
	d.share()
	d.write("cwd", "/work\n")
	for mode, want := range map[os.FileMode]bool{0o660: false, 0o640: true} {
		d.chmod("cwd", mode)
		if got := strings.Contains(string(d.pack().Markdown), "make test"); got != want {
			t.Errorf("mode %o: guide used %v", mode, got)
		}
	}
}

// mute is a workspace that answers nothing in time.
type mute struct{}

func (mute) ReadFiles(_ context.Context, _, _ uint32, paths []string, _ int64, _ time.Duration) ([]source.WorkspaceFile, error) {
	answers := make([]source.WorkspaceFile, len(paths))
	for i := range answers {
		answers[i] = source.WorkspaceFile{Stale: true, Reason: "not read in time"}
	}
	return answers, nil
}

// A file that must be there and could not be looked at in time is not missing; the pack names it.
func TestAWorkspaceThatIsLateFailsNoPack(t *testing.T) {
	d := newDesk(t, Config{})
	d.write("cwd", "/work\n")
	d.write("context/context.yaml", "sources: [{type: file, id: needed, path: f.md}, {type: journal}]\n")
	d.builder(Config{Budget: 2000, Workspace: mute{}})
	b, err := d.b.Current(context.Background(), d.x)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Stale || !strings.Contains(string(b.Markdown), "\nOut of date: needed omitted, no content yet\n") {
		t.Errorf("stale %v:\n%s", b.Stale, b.Markdown)
	}
}
