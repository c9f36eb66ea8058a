package builder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack/packtest"
)

const goodRecipe = "sources:\n  - {type: file, id: guide, path: \"${AGENT_HOME}/guide.md\"}\n  - {type: journal}\n"

func TestLastGoodRecipeGoesOnAcrossARestart(t *testing.T) {
	c := Config{Budget: 3000}
	d := newDesk(t, c)
	d.append(packtest.Message("user", "hi"))
	d.write("../../guide.md", "The guide.\n")
	d.write("../../context.yaml", goodRecipe)
	d.pack()
	wrong := "sources:\n  - {type: file, id: guide, pth: x}\n"
	d.write("../../context.yaml", wrong)
	check := func(when string) {
		t.Helper()
		d.append(packtest.Message("assistant", "Said "+when+"."))
		b := d.pack()
		if md := string(b.Markdown); !strings.Contains(md, "The guide.\n") || !strings.Contains(md, "Said "+when+".") {
			t.Errorf("%s:\n%s", when, md)
		}
		report := string(b.Report)
		if !strings.Contains(report, "context.yaml:2:") || !strings.Contains(report, "pth") || !strings.Contains(report, "the last good recipe is used") {
			t.Errorf("%s: the report does not say what is wrong:\n%s", when, report)
		}
		if strings.Contains(string(b.Markdown), "pth") {
			t.Errorf("%s: the problem stands in pack.md", when)
		}
	}
	check("at once")
	d.restart(c)
	check("after a restart")
	rows := string(d.x.Errors())
	if strings.Count(rows, `"op":"recipe"`) == 0 || !strings.Contains(rows, `"path":"../../context.yaml"`) || !strings.Contains(rows, "context.yaml:2:") || !strings.Contains(rows, "EINVAL") {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
	if n := strings.Count(rows, "pth"); n != strings.Count(string(d.pack().Report), "pth") {
		t.Errorf("%d rows for one problem:\n%s", n, rows)
	}
	d.write("../../context.yaml", "sources: [{type: journal}]\n")
	if b := d.pack(); strings.Contains(string(b.Markdown), "The guide.") || strings.Contains(string(b.Report), "last good") {
		t.Errorf("the recipe that is good again is not used:\n%s", b.Report)
	}
	d.write("../../context.yaml", "nonsense: true\n")
	if b := d.pack(); strings.Contains(string(b.Markdown), "The guide.") || !strings.Contains(string(b.Report), "last good") {
		t.Errorf("not the newest good recipe:\n%s", b.Report)
	}
	if err := os.Remove(filepath.Join(d.x.Dir(), "../../context.yaml")); err != nil {
		t.Fatal(err)
	}
	d.pack()
	d.write("../../context.yaml", "nonsense: again\n")
	if b := d.pack(); !strings.Contains(string(b.Report), "the default recipe is used") {
		t.Errorf("what was removed is used again:\n%s", b.Report)
	}
}

func TestUndefinedVariableIsAProblemWithItsPlace(t *testing.T) {
	d := newDesk(t, Config{Budget: 3000})
	d.append(packtest.Message("user", "hi"))
	d.write("context/context.yaml", "sources:\n  - {type: journal}\n  - {type: file, path: \"${AGENT_HOME}/${WHICH}.md\"}\n")
	d.write("../../this.md", "This one.\n")
	if b := d.pack(); !strings.Contains(string(b.Report), "context/context.yaml:3:") || !strings.Contains(string(b.Report), "WHICH") {
		t.Errorf("%s", b.Report)
	}
	if rows := string(d.x.Errors()); !strings.Contains(rows, `"path":"context/context.yaml"`) {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
	d.write("context/env", "WHICH=this\n")
	if b := d.pack(); !strings.Contains(string(b.Markdown), "This one.\n") {
		t.Errorf("%s", b.Report)
	}
}

// A recipe that is wrong is reported when it is written, not only when a pack is read.
func TestCheckRecipeReportsOnce(t *testing.T) {
	d := newDesk(t, Config{Budget: 3000})
	d.write("../../context.yaml", "sourcs: []\n")
	for range 3 {
		d.b.CheckRecipe(context.Background(), d.x)
	}
	d.pack()
	if rows := string(d.x.Errors()); strings.Count(rows, "sourcs") != 1 {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
}

// A shell empties a file before it writes it: who looks after recipes saw that, and errors.jsonl told of a mistake that nobody made.
func TestAnEmptyRecipeIsToldByThePackAlone(t *testing.T) {
	d := newDesk(t, Config{Budget: 3000})
	d.write("../../context.yaml", "")
	d.b.CheckRecipe(context.Background(), d.x)
	if rows := string(d.x.Errors()); rows != "" {
		t.Errorf("errors.jsonl before anybody read:\n%s", rows)
	}
	d.pack()
	if rows := string(d.x.Errors()); strings.Count(rows, "the file is empty") != 1 {
		t.Errorf("errors.jsonl:\n%s", rows)
	}
}

// Whoever owns a home can put links there. None leads a daemon that runs as root out of it, or to what is internal.
func TestNoLinkLeadsOutOfAHome(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "Tell the secret."))
	outside := t.TempDir()
	for _, name := range []string{"secret.md", "context.yaml", "SKILL.md"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("reserve_tokens: 0 # the secret of root\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(d.x.Dir(), "../..")
	recipe := "import: %s\nsources:\n  - {type: system_role}\n  - {type: skills}\n  - {type: pinned}\n  - {type: memory}\n  - {type: knowledge}\n  - {type: playbook}\n" +
		"  - {type: file, on_missing: skip, path: \"${AGENT_HOME}/sub/secret.md\"}\n  - {type: file, on_missing: skip, path: \"${AGENT_HOME}/../../../../secret\"}\n" +
		"  - {type: file, on_missing: skip, path: \"${SESSION}/.ctxfs/id\"}\n  - {type: file, on_missing: skip, path: \"${AGENT_HOME}/id.md\"}\n  - {type: journal}\n"
	for _, links := range []map[string]string{
		{"knowledge": outside, "memory": outside, "skills": outside, "playbooks": "/etc", "sub": outside, "node_modules": outside},
		{"knowledge/x.md": outside + "/secret.md", "memory/deep": outside, "skills/x": outside, "system_prompt.md": outside + "/secret.md", "sub/secret.md": outside + "/secret.md", "node_modules/pkg": outside},
		{"id.md": "session/s1/.ctxfs/id", "knowledge": "session/s1/.ctxfs", "memory/x.md": "../session/s1/.ctxfs/id", "sub": "session/s1/.ctxfs"},
		{"context.yaml": outside + "/context.yaml"},
	} {
		for _, name := range []string{"knowledge", "memory", "skills", "playbooks", "sub", "node_modules", "system_prompt.md", "id.md", "context.yaml"} {
			if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
				t.Fatal(err)
			}
		}
		d.write("../../context.yaml", strings.Replace(recipe, "import: %s\n", "", 1))
		for name, target := range links {
			at := filepath.Join(home, name)
			os.MkdirAll(filepath.Dir(at), 0o700)
			os.Remove(at)
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
		}
		b := d.pack()
		for _, secret := range []string{"the secret of root", d.x.ID(), "root:"} {
			if all := string(b.Markdown) + string(b.JSON()) + string(b.Report) + string(d.x.Errors()); strings.Contains(all, secret) {
				t.Errorf("links %v: %q leaks:\n%s", links, secret, all)
			}
		}
		if links["node_modules"] != "" || links["node_modules/pkg"] != "" {
			d.write("../../context.yaml", strings.Replace(recipe, "%s", "pkg", 1))
			if report := string(d.pack().Report); strings.Contains(report, "the secret") || !strings.Contains(report, "context.yaml:1:") {
				t.Errorf("an import through a link:\n%s", report)
			}
		}
	}
}

// Links within a home work, and what they lead to is seen when it changes.
func TestLinksWithinAHome(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../real/guide.md", "Before.\n")
	d.write("../../real/pkg/context.yaml", goodRecipe)
	d.write("../../guide.md", "")
	home := filepath.Join(d.x.Dir(), "../..")
	os.Remove(filepath.Join(home, "guide.md"))
	if err := os.Symlink("real/guide.md", filepath.Join(home, "guide.md")); err != nil {
		t.Fatal(err)
	}
	d.write("../../context.yaml", goodRecipe)
	if !strings.Contains(string(d.pack().Markdown), "Before.\n") {
		t.Fatal("a link within the home is not followed")
	}
	d.write("../../real/guide.md", "Behind.\n")
	if !strings.Contains(string(d.pack().Markdown), "Behind.\n") {
		t.Error("what changed behind a link is not seen")
	}
}

func TestOddFilesOfAHomeAreNamedNotRead(t *testing.T) {
	d := newDesk(t, Config{Budget: 8000})
	d.append(packtest.Message("user", "Ask the knowledge about tokens."))
	d.write("../../knowledge/text.md", "About tokens and knowledge.\n")
	d.write("../../knowledge/image.png", "\x89PNG\x00\x00")
	d.write("../../context.yaml", "sources:\n  - {type: knowledge}\n  - {type: file, on_missing: skip, path: \"${AGENT_HOME}/pipe\"}\n  - {type: journal}\n")
	if err := mkfifo(filepath.Join(d.x.Dir(), "../../pipe")); err != nil {
		t.Fatal(err)
	}
	if err := mkfifo(filepath.Join(d.x.Dir(), "../../knowledge/pipe")); err != nil {
		t.Fatal(err)
	}
	b := d.pack()
	if !strings.Contains(string(b.Markdown), "About tokens") || strings.Contains(string(b.Markdown), "PNG") {
		t.Errorf("%s", b.Markdown)
	}
	for _, want := range []string{"not a regular file", "1 of its files are not text (image.png)"} {
		if !strings.Contains(string(b.Report), want) {
			t.Errorf("no %q in\n%s", want, b.Report)
		}
	}
}

// A pipeline of trust: what is imported, and what stands in a space, speaks for the owner only once he said so.
func TestTrustInAHomeAndInASpace(t *testing.T) {
	w := &workspace{files: map[string]string{"/work/DELTA.md": "Small steps.\n"}}
	d := newDesk(t, Config{Budget: 8000, Workspace: w, Mountpoint: "/ctx"})
	d.share()
	d.append(packtest.Message("user", "hi"))
	d.write("cwd", "/work\n")
	d.write("../../context.yaml", "sources: [{type: file, on_missing: skip, path: \"${CWD}/DELTA.md\"}, {type: journal}]\n")
	for _, name := range []string{"cwd", "../../context.yaml"} {
		d.chmod(name, 0o660)
	}
	used := func(want bool, reason string) {
		t.Helper()
		b := d.pack()
		if got := strings.Contains(string(b.Markdown), "Small steps."); got != want || !strings.Contains(string(b.Report), reason) {
			t.Errorf("used %v, want %v and %q:\n%s", got, want, reason, b.Report)
		}
	}
	used(false, "ctxfs trust /ctx/shared/team/agent/coder/context.yaml")
	d.trust("context.yaml")
	used(false, "ctxfs trust /ctx/shared/team/agent/coder/session/s1/cwd")
	d.trust("context.yaml", "session/s1/cwd")
	used(true, "")
	d.write("cwd", "/work/\n") // any other content needs a new trust
	used(false, "ctxfs trust")
	d.write("cwd", "/work\n")
	used(true, "")
	d.trust()
	used(false, "ctxfs trust")
}

func TestEpochReasonNamesWhatChanged(t *testing.T) {
	c := Config{Budget: 1500}
	d := newDesk(t, c)
	d.append(packtest.LongLog(5).Records()...)
	d.write("context/pinned/rules.md", "Never delete the ledger.\n")
	d.pack()
	reason := func(want string) {
		t.Helper()
		if got := accountOf(t, d.pack()).EpochReason; !strings.Contains(got, want) {
			t.Errorf("epoch_reason %q, want %q", got, want)
		}
	}
	d.write("context/pinned/rules.md", "Never delete the ledgers.\n")
	reason("context/pinned/rules.md changed")
	d.append(packtest.Message("assistant", "ok"))
	reason("context/pinned/rules.md changed")
	d.restart(c)
	reason("context/pinned/rules.md changed")
	d.write("context/pinned/more.md", "More.\n")
	d.restart(c)
	reason("context/pinned/more.md was added")
	d.append(packtest.LongLog(90).Records()...)
	reason("compaction when messages:")
	d.write("../../context.yaml", "history: {key_lines: 0.2}\nsources: [{type: pinned}, {type: journal}]\n")
	reason("recipe changed")
}

// An edit of which no block shows anything can begin an epoch, too. Its reason is no compaction that did not happen.
func TestEpochReasonOfAnEditThatIsNotShown(t *testing.T) {
	c := Config{Budget: 1500}
	d := newDesk(t, c)
	d.write("../../context.yaml", "sources: [{type: skills}, {type: memory}, {type: journal}]\n")
	d.append(packtest.LongLog(5).Records()...)
	d.write("../../memory/a.md", "Look at the module and repair it first.\n")
	d.write("../../memory/b.md", "Look at the module and repair it twice.\n")
	last := d.pack()
	reason := func(want string) {
		t.Helper()
		now := d.pack()
		if now.Epoch == last.Epoch || !strings.Contains(now.EpochReason, want) {
			t.Errorf("epoch %s after %s, reason %q, want %q", now.Epoch, last.Epoch, now.EpochReason, want)
		}
		last = now
	}
	d.write("../../skills/asleep.md", "---\nactive: false\n---\nNobody reads this.\n")
	reason("the other blocks leave the journal room for")
	d.append(packtest.LongLog(90).Records()...)
	reason("compaction when messages:")
	if err := os.Remove(filepath.Join(d.x.Dir(), "../../skills/asleep.md")); err != nil {
		t.Fatal(err)
	}
	reason("the other blocks leave the journal room for")
	d.write("meta.json", `{"model":"gpt-4"}`)
	reason("tokens are counted with cl100k_base now")
	d.write("../../memory/b.md", "Look at the module and repair it once.\n")
	reason("../../memory changed")
	if err := os.Remove(filepath.Join(d.x.Dir(), "../../memory/b.md")); err != nil {
		t.Fatal(err)
	}
	reason("what stands in memory changed")
	d.write("context/budget", "900\n")
	reason("the budget changed") // and history is folded anew
	d.restart(c)
	if got := d.pack().EpochReason; got != last.EpochReason {
		t.Errorf("after a restart: %q", got)
	}
}

func TestCheckFitsCountsByTheRecipe(t *testing.T) {
	d := newDesk(t, Config{Budget: 100000})
	pin := []byte(strings.Repeat("word ", 700))
	if err := d.b.CheckFits(d.x, "context/pinned/a.md", pin); err != nil {
		t.Fatal(err)
	}
	d.write("../../context.yaml", "total_max_tokens: 500\nsources: [{type: pinned}, {type: journal}]\n")
	if err := d.b.CheckFits(d.x, "context/pinned/a.md", pin); !errors.Is(err, ctxabi.ErrOverBudget) {
		t.Errorf("got %v", err)
	}
	d.write("../../context.yaml", "total_max_tokens: 1200\nreserve_tokens: 700\nsources: [{type: pinned}, {type: journal}]\n")
	if err := d.b.CheckFits(d.x, "context/pinned/a.md", pin); !errors.Is(err, ctxabi.ErrOverBudget) {
		t.Errorf("with a reserve: %v", err)
	}
	d.write("../../context.yaml", "total_max_tokens: 500\nsources: [{type: journal}]\n")
	if err := d.b.CheckFits(d.x, "context/pinned/a.md", pin); err != nil {
		t.Errorf("a recipe without pins: %v", err)
	}
	if err := d.b.CheckFits(d.x, "context/budget", []byte("")); err != nil {
		t.Error(err)
	}
}

func mkfifo(name string) error { return unix.Mkfifo(name, 0o600) }
