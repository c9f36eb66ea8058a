package builder

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
)

// What the report, pack.json and errors say of what is not there.

func reportHas(t *testing.T, b *pack.Build, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(string(b.Report), line) {
			t.Errorf("the report has no %q:\n%s", line, b.Report)
		}
	}
}

func TestTheReportShowedPathsWithVariables(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", `sources:
  - {type: pinned}
  - {type: file, id: home, path: "${AGENT_HOME}/a.md", on_missing: skip}
  - {type: file, id: beside, path: "${RECIPE_DIR}/b.md", on_missing: skip}
  - {type: file, id: work, path: c.md, on_missing: skip}
  - {type: journal}
  - {type: todo}
`)
	b := d.pack()
	reportHas(t, b, "| pinned: context/pinned |", "| home: ../../a.md |", "| beside: ../../b.md |", "| todo: context/todo.md |",
		"| work: c.md | 0 | 0 | 0 | missing: cwd names no workspace |")
	if strings.Contains(string(b.JSON()), "${") {
		t.Errorf("a path of pack.json leads nowhere:\n%s", b.JSON())
	}
	d.write("../../context.yaml", "sources:\n  - {type: file, id: rules, path: \"${AGENT_HOME}/rules.md\"}\n  - {type: journal}\n")
	if _, err := d.b.Current(t.Context(), d.x); !errors.Is(err, ctxabi.ErrNoData) || !strings.Contains(err.Error(), "missing (../../rules.md)") {
		t.Error(err)
	}
}

func TestPinsWereLeftOutWithoutAWord(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", "sources: [{type: journal}]\n")
	const note = "the pins in context/pinned are in no pack: the recipe context.yaml has no source of type pinned"
	if b := d.pack(); strings.Contains(string(b.Report), note) {
		t.Errorf("there is no pin:\n%s", b.Report)
	}
	d.write("context/pinned/rules.md", "Never push.\n")
	reportHas(t, d.pack(), note)
	d.write("../../context.yaml", "sources: [{type: pinned}, {type: journal}]\n")
	if b := d.pack(); strings.Contains(string(b.Report), note) {
		t.Errorf("the pins are listed:\n%s", b.Report)
	}
}

func TestASectionWithoutItsFileVanishedWithoutAReason(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", `strategy: translator
strategies:
  translator:
    sections: [{name: Glossary, path: "${AGENT_HOME}/glossary.md"}, {name: Reminder, text: Keep names.}]
sources: [{type: journal}]
`)
	reportHas(t, d.pack(), "| translator/Glossary: ../../glossary.md | 0 | 0 | 0 | missing |")
}

func TestAStaleCommandWasNotNamed(t *testing.T) {
	d, f := computing(t, says("one"))
	const text = "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: [make-map]}}\n  - {type: journal}\n"
	d.write("../../context.yaml", text)
	d.pack()
	f.set(func() { f.auto = fails("exit status 3") })
	d.append(packtest.Message("assistant", "ok"))
	reportHas(t, d.pack(), "- stale: map was not ready in time")
}

func TestOutputOfAnotherCommandStoodAsStale(t *testing.T) {
	d, f := computing(t, says("of the old command"))
	text := func(command string) {
		d.write("../../context.yaml", "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: ["+command+"]}}\n  - {type: journal}\n")
	}
	text("old")
	if b := d.pack(); !strings.Contains(string(b.Markdown), "of the old command") {
		t.Fatalf("%s", b.Markdown)
	}
	f.set(func() { f.auto = fails("exit status 3") })
	d.write("context/budget", "3000\n") // is in the environment, and does not make it another command
	if b := d.pack(); !strings.Contains(string(b.Markdown), "of the old command") || !b.Stale {
		t.Errorf("stale %v: %s", b.Stale, b.Markdown)
	}
	for _, change := range []func(){func() { text("new") }, func() { text("old"); d.write("context/env", "TARGET=b\n") },
		func() { d.write("context/env", ""); d.write("cwd", "/other\n") }} {
		change()
		b := d.pack()
		if strings.Contains(string(b.Markdown), "of the old command") {
			t.Errorf("what another command made: %s", b.Markdown)
		}
		reportHas(t, b, "| map | 0 | 0 | 0 | exit status 3 |")
	}
}

func TestASlowCommandThatFailsSeemedToRunForever(t *testing.T) {
	inBubble(t, func(b *outputsBench) {
		x, w := b.session("s"), plain("map")
		b.fake.auto = fails("exit status 3")
		b.expect(b.gather(x, time.Second, w), "(exit status 3)")
		time.Sleep(firstPause)
		b.fake.set(func() { b.fake.auto = nil }) // goes on until it is told to end
		got := b.gather(x, time.Second, w)
		b.expect(got, "(exit status 3; it is tried again)")
		if got[0].pending || got[0].note == "" {
			b.Errorf("%+v", got[0])
		}
		b.fake.last().answer <- source.Output{Data: []byte("one")}
		synctest.Wait()
		b.expect(b.gather(x, time.Second, w), "one")
	})
}
