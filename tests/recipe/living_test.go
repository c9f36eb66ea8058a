package recipetest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// A generator that writes to what it is a part of. Each read ends, and when nobody reads, nothing runs.
func TestAGeneratorThatChangesItsOwnSession(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, c := range map[string]struct{ script, says string }{
		"appends a message":                  {`echo '{"role":"assistant","content":"from the generator"}' >> "$CTX_SESSION/messages.jsonl"; echo made`, "from the generator"},
		"writes a pin":                       {`date +%N > "$CTX_SESSION/context/pinned/now"; echo made`, ""},
		"writes its output into the session": {`echo made > "$CTX_SESSION/context/pinned/made.md"; echo made`, ""},
		"edits the recipe":                   {`sed -i "s/round: [0-9]*/round: $(date +%N)/" "$DELTA_AGENT_HOME/context.yaml"; echo made`, ""},
		"removes the recipe":                 {`rm -f "$DELTA_AGENT_HOME/context.yaml"; echo made`, ""},
		"breaks the recipe":                  {`echo 'sources: [' > "$DELTA_AGENT_HOME/context.yaml"; echo made`, ""},
		"changes its input":                  {`date +%N > input; echo made`, ""},
		"changes cwd":                        {`mkdir -p sub; echo "$DELTA_CWD/sub" > "$CTX_SESSION/cwd"; echo made`, ""},
		"changes the budget":                 {`echo $((5000 + RANDOM % 1000)) > "$CTX_SESSION/context/budget"; echo made`, ""},
		"writes its env":                     {`echo "N=$(date +%N)" > "$CTX_SESSION/context/env"; echo made`, ""},
		"drops the build":                    {`rm -f "$CTX_SESSION"/context/pack.*; echo made`, ""},
		"renames its session":                {`mv "$CTX_SESSION" "$CTX_SESSION"x; mv "$CTX_SESSION"x "$CTX_SESSION"; echo made`, ""},
		"trusts itself":                      {`echo '{"path":"x","sha256":"y"}' >> "$DELTA_AGENT_HOME/../../trust.jsonl"; echo made`, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			s.putBytes("work/gen", "#!/bin/bash\necho run >> runs\n"+c.script+"\n")
			s.put("work/input", "x\n")
			s.recipe(`
wait_ms: 2000
env: {MARK: "$MARK"}
sources:
  # round: 0
  - {type: pinned}
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 20000}, cache: {strategy: file_hash, invalidate_on: [input]}}
  - {type: computed_file, id: turn, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 20000}}
  - {type: journal}
`)
			s.say("user", "Begin.")
			reads := suite.Pick(t, 5, 15)
			read := func() (md string) {
				t.Helper()
				harness.Eventually(t, "the session to be where it was", func() (there bool) { // a slow run renames it between two reads
					b, err := os.ReadFile(s.Path("context/pack.md"))
					if err != nil && !(os.IsNotExist(err) && name == "renames its session") {
						t.Fatal(err)
					}
					md = string(b)
					return err == nil
				})
				return md
			}
			for range reads {
				if md := read(); !strings.Contains(md, "Begin.") {
					t.Fatalf("the pack is\n%s", md)
				}
			}
			harness.Eventually(t, "the first run", func() bool { return s.lines("work/runs") > 0 }) // which all reads may have been too early for
			s.wantGone()
			n := s.lines("work/runs")
			if n > 4*(reads+2) {
				t.Errorf("%d runs of two generators for %d reads", n, reads)
			}
			if md := read(); !strings.Contains(md, c.says) {
				t.Errorf("the pack lacks %q:\n%s", c.says, md)
			}
			s.wantGone()
		})
	}
}

// Whoever reads first starts the generator, the others share the run.
func TestManyReadersShareOneRun(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/gen", "#!/bin/bash\necho run >> runs\n"+s.gated()+"\necho made\n")
	s.recipe("wait_ms: 60000\nsources: [{type: computed_file, id: gen, generator: {command: [\"$WORK/gen\"], timeout_ms: 60000}}, {type: journal}]\n")
	s.say("user", "Begin.")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			name := []string{"context/pack.md", "context/pack.json", "context/pack.report.md"}[i%3]
			if b, err := os.ReadFile(s.Path(name)); err != nil || !strings.Contains(string(b), "gen") {
				t.Errorf("%s: %v\n%s", name, err, b)
			}
		}()
	}
	s.pass()
	wg.Wait()
	s.want(s.pack(), "gen", "made\n")
	if n := s.lines("work/runs"); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// Two sessions of one agent share its recipe and nothing else.
func TestSessionsOfOneAgentHaveTheirOwnOutputs(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe(`wait_ms: 60000
sources: [{type: computed_file, id: gen, generator: {command: [sh, -c, 'basename "$CTX_SESSION"; wc -l < "$CTX_SESSION/messages.jsonl"']}}, {type: journal}]` + "\n")
	two := &stage{m.Session(t, s.UID, s.Agent, "s2"), t, s.work, s.mark}
	two.put("cwd", s.work)
	s.say("user", "Begin.")
	two.say("user", "One.")
	two.say("assistant", "Two.")
	for range 2 {
		s.want(s.pack(), "gen", "s1\n1\n")
		two.want(two.pack(), "gen", "s2\n2\n")
		m.Restart()
	}
}

// The daemon is told to stop, or dies, while a generator runs: nothing of it is left, and the next daemon serves.
func TestAGeneratorDoesNotOutliveTheDaemon(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, end := range map[string]func(){"stop": m.Stop, "kill": m.Kill} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, m, owner())
			s.recipe(`
wait_ms: 100
env: {MARK: "$MARK"}
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: [bash, -c, "trap '' TERM HUP INT; (setsid sleep 1000 &); while :; do sleep 1000; done"], timeout_ms: 600000}}
  - {type: computed_file, id: other, generator: {command: [cat, f.md]}}
  - {type: journal}
`)
			s.put("work/f.md", "The file.\n")
			s.say("user", "Begin.")
			s.pack()
			harness.Eventually(t, "the generator to run", func() bool { return len(s.alive()) >= 2 })
			end()
			s.wantGone()
			m.Restart()
			if b := s.pack(); !b.Stale {
				t.Error("not stale while the generator has given nothing")
			}
			harness.Eventually(t, "the other generator's output", func() bool { return s.pack().block("other") == "The file.\n" })
		})
	}
}

// The first look at a pack starts a generator that looks at it, too: neither waits for the other, so that the first
// reader, who would wait a minute, has what it made.
func TestAGeneratorsFirstLookAtItsOwnPackDoesNotWait(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	for name, c := range map[string]struct{ reader, script string }{
		"the same file":        {"pack.md", `cat "$CTX_SESSION/context/pack.md"`},
		"as JSON":              {"pack.json", `cat "$CTX_SESSION/context/pack.json"`},
		"a rendering":          {"pack.openai.json", `cat "$CTX_SESSION/context/pack.openai.json"`},
		"all files":            {"pack.report.md", `cat "$CTX_SESSION"/context/pack.*`},
		"its size":             {"pack.md", `stat "$CTX_SESSION/context/pack.md"`},
		"a child":              {"pack.md", `sh -c 'cat "$CTX_SESSION/context/pack.md" | wc -l'; true`},
		"a daemon":             {"pack.md", `setsid sh -c 'cat "$CTX_SESSION/context/pack.md" > got' & while ! [ -s got ]; do sleep 0.01; done; cat got`},
		"by another path":      {"pack.md", `cd "$CTX_SESSION/context/pinned" && cat ../../../s1/./context/pack.md`},
		"an earlier pack":      {"pack.md", `cat "$CTX_SESSION/context/at/1/pack.md"`},
		"what was served":      {"pack.md", `ls -R "$CTX_SESSION/context/served"; cat "$CTX_SESSION/context/packs.jsonl"`},
		"what was left out":    {"pack.md", `cat "$CTX_SESSION/context/swap/index.jsonl"; ls -lR "$CTX_SESSION/context"`},
		"a file beside it":     {"pack.md", `echo '- [ ] mine' > "$CTX_SESSION/context/todo.md"; rm "$CTX_SESSION/context/todo.md"`},
		"after a new message":  {"pack.md", `echo '{"role":"assistant","content":"mine"}' >> "$CTX_SESSION/messages.jsonl"; cat "$CTX_SESSION/context/pack.md"`},
		"the command line":     {"pack.md", `"$CTXFS" pack "$CTX_SESSION" || true`},
		"the command, by name": {"pack.md", `cd "$CTX_SESSION" && "$CTXFS" pack . --format json || true`},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, m, owner())
			s.putBytes("work/gen", "#!/bin/bash\necho run >> runs\n("+c.script+") > seen 2>&1\necho \"saw $?\"\n")
			s.recipe(`
wait_ms: 60000
env: {MARK: "$MARK", CTXFS: "` + harness.Binary(t) + `"}
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 120000}, cache: {strategy: file_hash, invalidate_on: [input]}}
  - {type: journal}
`)
			s.say("user", "Begin.")
			first := s.Read("context/" + c.reader)
			b := s.pack()
			if s.want(b, "gen", "saw 0\n"); b.Stale {
				t.Error("it is stale")
			}
			if !strings.Contains(first, "saw 0") && c.reader != "pack.json" && c.reader != "pack.report.md" || strings.Contains(first, `"stale":true`) {
				t.Errorf("the first reader got\n%s", first)
			}
			if n := s.lines("work/runs"); n != 1 {
				t.Errorf("%d runs", n)
			}
		})
	}
}

// While a generator runs, stat says what an open and a read give, and so does whoever has the file open.
func TestAnAwaitedPackIsAsLargeAsStatSays(t *testing.T) {
	t.Parallel()
	harness.Need(t, "python3")
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/input", "0\n")
	s.recipe(`wait_ms: 60000
sources: [{type: computed_file, id: gen, generator: {command: [cat, input]}, cache: {strategy: file_hash, invalidate_on: [input]}}, {type: journal}]` + "\n")
	s.say("user", "Begin.")
	for i := range 5 {
		s.put("work/input", strings.Repeat("more\n", 10*i)+"end\n")
		got := s.client("", `python3 - "$1" <<'END'
import mmap, os, sys
before = os.stat(sys.argv[1])
with open(sys.argv[1], "rb") as f:
    held = os.fstat(f.fileno())
    data = f.read()
    mapped = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)[:]
assert before.st_size == held.st_size == len(data), (before.st_size, held.st_size, len(data))
assert mapped == data, (len(mapped), len(data))
os.getxattr(sys.argv[1], "user.ctx.pack_id")
print(data.count(b"more"))
END`, s.Path("context/pack.md")).OK()
		if got != fmt.Sprintln(10*i) {
			t.Errorf("round %d: %s", i, got)
		}
	}
}

// ctxfs pack beside a daemon, and without one, gives the bytes that the mount gives; it waits for generators.
func TestPackOfTheCommandLineWaitsForGenerators(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.put("work/gen", "#!/bin/bash\nuntil [ -e go ]; do sleep 0.01; done\necho made\n") // a gate for two: the mount runs it, too
	s.recipe(`
wait_ms: 50
env: {MARK: "$MARK"}
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: {command: ["$WORK/gen"], timeout_ms: 60000}}
  - {type: journal}
`)
	s.say("user", "Begin.")
	if b := s.pack(); !b.Stale {
		t.Error("the mount waited for a generator that waits")
	}
	done := make(chan struct{})
	go func() { defer close(done); s.put("work/go", "") }()
	out := m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK()
	if !strings.Contains(out, "# Context Block: gen\nmade\n") {
		t.Errorf("ctxfs pack did not wait:\n%s", out)
	}
	<-done
	s.wantGone()
	harness.Eventually(t, "the output in the mount", func() bool { return s.pack().block("gen") == "made\n" })
	if md := s.Read("context/pack.md"); md != out {
		t.Errorf("the mount gives\n%s\nctxfs pack\n%s", md, out)
	}
	m.Stop()
	if again := m.CLI(t, "pack", "--store", m.Store, s.Ref()).OK(); again != out {
		t.Errorf("ctxfs pack without a daemon gives\n%s\nbefore\n%s", again, out)
	}
}

// Many sessions, each with a generator that hangs: each reader gets its answer, and so do those without generators.
func TestManyHangingGeneratorsLeaveOthersInPeace(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	var hanging []*stage
	for range 20 {
		s := newStage(t, m, dev)
		s.recipe("wait_ms: 50\nenv: {MARK: \"$MARK\"}\nsources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sleep, '1000'], timeout_ms: 600000}}, {type: file, id: f, path: f.md}, {type: journal}]\n")
		s.put("work/f.md", "The file.\n")
		s.say("user", "Begin.")
		hanging = append(hanging, s)
	}
	var wg sync.WaitGroup
	for _, s := range hanging {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var b built
			var err error
			harness.Eventually(t, "the file in "+s.Ref(), func() bool { b, err = s.tryPack(); return err != nil || b.block("f") != "" })
			if err != nil || !b.Stale || b.block("f") != "The file.\n" {
				t.Errorf("%s: stale %v, %v\n%s", s.Ref(), b.Stale, err, b.md)
			}
		}()
	}
	o := newStage(t, m, other)
	o.recipe("wait_ms: 60000\nsources: [{type: computed_file, id: gen, generator: {command: [echo, made]}}, {type: journal}]\n")
	o.say("user", "Begin.")
	o.want(o.pack(), "gen", "made\n")
	wg.Wait()
	// A second generator of the same user is served, too, as soon as one of the others ends.
	for _, s := range hanging {
		s.recipe("sources: [{type: journal}]\n")
		s.pack()
	}
	m.Stop()
	for _, s := range hanging {
		s.wantGone()
	}
}

// What a recipe gives to the environment does not reach what runs before the generator does.
func TestAnEnvironmentCannotChangeTheSandbox(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, dev)
	s.put("work/evil.c", "")
	s.recipe(`
wait_ms: 60000
env: {MARK: "$MARK", LD_PRELOAD: "$WORK/evil.so", GODEBUG: "gctrace=1", GOTRACEBACK: crash, BASH_ENV: "$WORK/evil.sh", CTX_SESSION: /nowhere, DELTA_CWD: /nowhere}
sources:
  - {type: computed_file, id: gen, generator: {command: [sh, -c, 'id -u; id -G; umask; ulimit -c; ls /proc/self/fd | wc -l; echo "$DELTA_CWD"']}}
  - {type: journal}
`)
	s.put("work/evil.sh", "echo evil\n")
	s.say("user", "Begin.")
	b := s.pack()
	got := b.block("gen")
	if !strings.HasPrefix(got, fmt.Sprintf("%d\n%d\n", dev, dev)) || strings.Contains(got, "gc ") {
		t.Errorf("the generator says\n%s\n%s", got, s.Read("context/pack.report.md"))
	}
	lines := strings.Split(got, "\n")
	if len(lines) > 5 && (lines[3] != "0" || lines[4] != "4") { // no core files; ls has 0, 1, 2 and the directory
		t.Errorf("core limit %s, %s descriptors", lines[3], lines[4])
	}
}

// Without cwd there is no place to run: a reason, not a hanging read.
func TestAGeneratorWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, owner())
	s.recipe("sources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [echo, made]}}, {type: file, id: f, path: f.md, on_missing: skip}, {type: journal}]\n")
	s.say("user", "Begin.")
	for _, cwd := range []string{"", "/no/such/directory", "/etc/passwd", "/root", "/"} {
		s.put("cwd", cwd)
		if b := s.pack(); !strings.Contains(b.md, "Begin.") {
			t.Errorf("cwd %q: the pack is\n%s", cwd, b.md)
		}
		if report := s.Read("context/pack.report.md"); !strings.Contains(report, "gen") {
			t.Errorf("cwd %q: the report is\n%s", cwd, report)
		}
	}
}

// What runs for one mount does not hold another one.
func TestAGeneratorDoesNotHoldTheMountOfAnotherDaemon(t *testing.T) {
	t.Parallel()
	one, two := harness.Start(t, harness.Options{}), harness.Start(t, harness.Options{})
	s := newStage(t, one, owner())
	s.recipe("wait_ms: 50\nenv: {MARK: \"$MARK\"}\nsources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sleep, '1000'], timeout_ms: 600000}}, {type: journal}]\n")
	s.say("user", "Begin.")
	s.pack()
	harness.Eventually(t, "the generator to run", func() bool { return len(s.alive()) > 0 })
	two.Stop() // checks that it ends well
	if len(s.alive()) == 0 {
		t.Error("the generator of the first mount ended")
	}
}

// Somebody else unmounts while a generator runs: it ends, and the daemon with it.
func TestAnUnmountEndsGenerators(t *testing.T) {
	t.Parallel()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	s := newStage(t, m, dev)
	s.recipe("wait_ms: 50\nenv: {MARK: \"$MARK\"}\nsources: [{type: computed_file, id: gen, on_missing: skip, generator: {command: [sleep, '1000'], timeout_ms: 600000}}, {type: journal}]\n")
	s.say("user", "Begin.")
	s.pack()
	harness.Eventually(t, "the generator to run", func() bool { return len(s.alive()) > 0 })
	if err := unix.Unmount(m.Dir, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	s.wantGone()
}
