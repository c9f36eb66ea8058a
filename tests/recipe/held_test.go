package recipetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// crew is an agent of a shared space with a session of dev's, whose colleague is other.
type crew struct {
	t     *testing.T
	m     *harness.Mount
	agent string // its home
	work  string // the session's workspace, dev's
	gate  string // a FIFO there
}

func newCrew(t *testing.T, name string) *crew {
	t.Helper()
	harness.NeedRoot(t)
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	c := &crew{t: t, m: m, agent: filepath.Join(m.Dir, "shared/crew/agent", name), work: publicTemp(t)}
	c.gate = filepath.Join(c.work, "gate")
	if err := os.Chown(c.work, dev, dev); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(c.gate, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.gate, 0o666); err != nil {
		t.Fatal(err)
	}
	c.as(dev, `mkdir -p `+c.agent+`/session/s1 && cd `+c.agent+` && mkdir tools && cd session/s1 && echo '{"role":"user","content":"Begin."}' >> messages.jsonl && echo `+c.work+` > cwd && ctxfs trust cwd`).OK()
	return c
}

// as runs a script in the agent's home, once there is one.
func (c *crew) as(uid uint32, script string) harness.Result {
	c.t.Helper()
	return c.m.Run(c.t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Env: []string{"PATH=" + harness.UserPath(c.t), "WORK=" + c.work},
		Argv: []string{"bash", "-c", `umask 002; cd "$0" 2>/dev/null; ` + script, c.agent}})
}

// put writes a file of the agent's home.
func (c *crew) put(uid uint32, name, text string) {
	c.t.Helper()
	c.m.Run(c.t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Stdin: strings.NewReader(strings.ReplaceAll(text, "$WORK", c.work)),
		Argv: []string{"bash", "-c", `umask 002; name=$0/$1; { test -d "${name%/*}" || mkdir -p "${name%/*}"; } && cat > "$name" && case "$name" in *.sh) chmod 775 "$name";; esac`, c.agent, name}}).OK()
}

func (c *crew) file(name string) string {
	c.t.Helper()
	return c.as(dev, "cat session/s1/context/"+name).OK()
}

// evil is what a member puts in the place of a script: run as dev it leaves a mark in dev's workspace, where he cannot write himself.
const evil = "#!/bin/sh\nid -u > $WORK/evil.$$\necho by the member\n"

// wantNoEvil fails the test where a member's script ran.
func (c *crew) wantNoEvil(when string) {
	c.t.Helper()
	if ran, _ := filepath.Glob(filepath.Join(c.work, "evil.*")); len(ran) > 0 {
		who, _ := os.ReadFile(ran[0])
		c.t.Errorf("%s: the member's script ran %d times as uid %s", when, len(ran), strings.TrimSpace(string(who)))
	}
}

// A trusted script of a space was hashed, and run by its path after that: whoever put another file there in between ran it as
// the session's owner. Here the run stands still between the two until the other file is there.
func TestAMemberWhoSwapsATrustedScriptBeforeItRunsDoesNotRunHisOwn(t *testing.T) {
	t.Parallel()
	const recipe = `wait_ms: 60000
sources:
  - {type: pipeline, id: gen, on_missing: skip, stages: [%s]}
  - {type: journal}
`
	const waits = `{generator: [cat, "$WORK/gate"]}, {generator: [%s]}`
	for name, how := range map[string]struct {
		stages, swap string
		ran          bool // what was looked at
	}{
		"by rename":                      {fmt.Sprintf(waits, `sh, "${AGENT_HOME}/tools/x.sh"`), "mv evil.sh tools/x.sh", true},
		"executed":                       {fmt.Sprintf(waits, `"${AGENT_HOME}/tools/x.sh"`), "mv evil.sh tools/x.sh", true},
		"by a write":                     {fmt.Sprintf(waits, `sh, "${AGENT_HOME}/tools/x.sh"`), "cat evil.sh > tools/x.sh", true},
		"by its directory":               {fmt.Sprintf(waits, `sh, "${AGENT_HOME}/tools/x.sh"`), "mv tools was && mkdir tools && mv evil.sh tools/x.sh", true},
		"by a link":                      {fmt.Sprintf(waits, `sh, "${AGENT_HOME}/tools/x.sh"`), "ln -sf ../evil.sh tools/x.sh", true},
		"of the owner alone":             {fmt.Sprintf(waits, `sh, "${AGENT_HOME}/tools/own.sh"`), "mv evil.sh tools/own.sh", false},
		"in a text":                      {fmt.Sprintf(waits, `sh, -c, "cd ${AGENT_HOME}/tools && ./x.sh"`), "mv evil.sh tools/x.sh", true},
		"that was not there":             {fmt.Sprintf(waits, `sh, -c, "test -e ${AGENT_HOME}/tools/new.sh && . ${AGENT_HOME}/tools/new.sh; touch $WORK/ran"`), "mv evil.sh tools/new.sh", true},
		"in a new directory":             {fmt.Sprintf(waits, `sh, -c, "test -e ${AGENT_HOME}/more/new.sh && . ${AGENT_HOME}/more/new.sh; touch $WORK/ran"`), "mkdir more && mv evil.sh more/new.sh", true},
		"in place of a directory":        {fmt.Sprintf(waits, `sh, -c, "test -f ${AGENT_HOME}/lib && . ${AGENT_HOME}/lib; touch $WORK/ran"`), "rmdir lib && mv evil.sh lib", true},
		"by rename while it runs":        {`{generator: [sh, -c, "cat $WORK/gate; sh ${AGENT_HOME}/tools/x.sh"]}`, "mv evil.sh tools/x.sh", true},
		"by its directory while it runs": {`{generator: [sh, -c, "cat $WORK/gate; sh ${AGENT_HOME}/tools/x.sh"]}`, "mv tools was && mkdir tools && mv evil.sh tools/x.sh", true},
		"of the owner while it runs":     {`{generator: [sh, -c, "cat $WORK/gate; sh ${AGENT_HOME}/tools/own.sh"]}`, "mv evil.sh tools/own.sh", false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			c := newCrew(t, "coder")
			c.put(other, "tools/x.sh", "#!/bin/sh\ntouch $WORK/ran\necho by the owner\n")
			c.put(dev, "tools/own.sh", "#!/bin/sh\ntouch $WORK/ran\necho by the owner\n")
			c.put(other, "evil.sh", evil)
			c.put(dev, "context.yaml", fmt.Sprintf(recipe, how.stages))
			c.as(dev, "chmod 755 tools/own.sh; mkdir lib; ctxfs trust context.yaml && ctxfs trust tools/x.sh").OK()
			done := make(chan string)
			go func() { done <- c.file("pack.md") }()
			gate, err := os.OpenFile(c.gate, os.O_WRONLY, 0) // which the first stage opens
			if err != nil {
				t.Fatal(err)
			}
			c.as(other, how.swap).OK()
			if err := gate.Close(); err != nil {
				t.Fatal(err)
			}
			md := <-done
			c.wantNoEvil(name)
			if _, err := os.Stat(filepath.Join(c.work, "ran")); (err == nil) != how.ran || strings.Contains(md, "by the member") {
				t.Errorf("what was looked at ran: %v, want %v\n%s\n%s", err == nil, how.ran, md, c.file("pack.report.md"))
			}
		})
	}
}

// As it was found: a member swaps it in a loop, the owner only reads.
func TestAMemberWhoSwapsATrustedScriptInALoopNeverRunsHisOwn(t *testing.T) {
	t.Parallel()
	c := newCrew(t, "coder")
	c.put(other, "good.sh", "#!/bin/sh\necho by the owner\n")
	c.put(other, "evil.sh", evil)
	c.put(dev, "context.yaml", `wait_ms: 60000
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: [sh, "${AGENT_HOME}/tools/x.sh"], cache: {strategy: never}}
  - {type: journal}
`)
	c.as(other, "cp good.sh tools/x.sh").OK()
	c.as(dev, "ctxfs trust context.yaml && ctxfs trust tools/x.sh").OK()
	if md := c.file("pack.md"); !strings.Contains(md, "by the owner") {
		t.Errorf("before: the pack is\n%s", md)
	}
	done := make(chan harness.Result)
	go func() {
		done <- c.as(other, `while [ ! -e stop ]; do cp evil.sh e; mv e tools/x.sh; cp good.sh e; mv e tools/x.sh; done`)
	}()
	reads := suite.Pick(t, 20, 60)
	c.as(dev, fmt.Sprintf("for i in $(seq %d); do cat session/s1/context/pack.md || exit; done", reads)).OK()
	c.as(other, "touch stop").OK()
	(<-done).OK()
	c.wantNoEvil(fmt.Sprintf("%d reads", reads))
}

// What stands in for a script has its path, and its neighbours.
func TestAScriptOfASpaceFindsItsPathAndItsNeighbours(t *testing.T) {
	t.Parallel()
	c := newCrew(t, "coder")
	c.put(other, "tools/x.sh", `#!/bin/sh
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")" && ./more.sh "$1"
echo "this is $0"
cat link.txt
wc -l < ../session/s1/messages.jsonl
echo written > ../cache/out.txt
(echo lost > new.txt) 2>&1 | grep -o "Read-only file system"
`)
	c.put(other, "tools/lib.sh", "echo from lib\n")
	c.put(other, "tools/more.sh", "#!/bin/sh\necho \"more $1\"\n")
	c.put(other, "notes/deep.txt", "linked\n")
	c.as(other, "ln -s ../notes/deep.txt tools/link.txt; mkdir -m 2775 cache").OK()
	c.put(dev, "context.yaml", `wait_ms: 60000
sources:
  - {type: computed_file, id: gen, generator: ["${AGENT_HOME}/tools/x.sh", "two words"]}
  - {type: journal}
`)
	c.as(dev, "ctxfs trust context.yaml && ctxfs trust tools/x.sh").OK()
	want := "# Context Block: gen\nfrom lib\nmore two words\nthis is " + c.agent + "/tools/x.sh\nlinked\n1\nRead-only file system\n# Context"
	if md := c.file("pack.md"); !strings.HasPrefix(md, want) {
		t.Errorf("the pack is\n%s\nwant\n%s\n%s", md, want, c.file("pack.report.md"))
	}
	if got := c.as(other, "cat cache/out.txt; stat -c %u cache/out.txt; ls tools").OK(); got != fmt.Sprintf("written\n%d\nlib.sh\nlink.txt\nmore.sh\nx.sh\n", dev) {
		t.Errorf("what it wrote: %q", got)
	}
}

// The directories that lead to a held script take no new files while it runs; its declared output is made before.
func TestAScriptOfASpaceWritesItsDeclaredOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"written":     {`echo to the file > "$DELTA_AGENT_HOME/map.md"; echo to the output`, "to the file"},
		"not written": {"echo to the output", "to the output"},
		"neither":     {"true", "neither the output file nor standard output was written"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			crew := newCrew(t, "coder")
			crew.put(other, "tools/x.sh", c.script+"\n")
			crew.put(dev, "context.yaml", `wait_ms: 60000
sources:
  - {type: computed_file, id: gen, on_missing: skip, generator: [sh, "${AGENT_HOME}/tools/x.sh"], output_path: "${AGENT_HOME}/map.md"}
  - {type: journal}
`)
			crew.as(dev, "ctxfs trust context.yaml && ctxfs trust tools/x.sh").OK()
			for range 2 { // the second time it is there
				crew.file("pack.md")
				if got := crew.file("pack.report.md") + crew.file("pack.md"); !strings.Contains(got, c.want) {
					t.Errorf("want %q in\n%s", c.want, got)
				}
				crew.as(dev, `echo '{"role":"user","content":"Go on."}' >> session/s1/messages.jsonl`).OK()
			}
		})
	}
}

// ctxfs trust said "trusted as it is now" of a space's recipe, and the pack said "not trusted" of the script that it names.
func TestTrustOfASpacesRecipeNotesTheScriptsThatItNames(t *testing.T) {
	t.Parallel()
	c := newCrew(t, "coder")
	c.put(other, "tools/x.sh", "echo by x; sh \"$1\"\n")
	c.put(other, "tools/y.sh", "echo by y\n")
	c.put(other, "tools/beside.sh", "echo beside\n")
	c.put(dev, "tools/mine.sh", "echo by mine\n")
	c.put(other, "context.yaml", `wait_ms: 60000
sources:
  - {type: computed_file, id: one, on_missing: skip, generator: [sh, "${AGENT_HOME}/tools/x.sh", "${AGENT_HOME}/tools/y.sh"]}
  - {type: computed_file, id: two, on_missing: skip, generator: [sh, -c, "cd ${AGENT_HOME}/tools && sh mine.sh && sh ./y.sh"]}
  - {type: journal}
`)
	c.as(dev, "chmod 600 tools/mine.sh").OK()
	out := c.as(dev, "ctxfs trust context.yaml").OK()
	for _, name := range []string{"tools/x.sh", "tools/y.sh"} {
		if !strings.Contains(out, "and with it, as it is now: "+name+"\n") {
			t.Errorf("ctxfs trust does not tell of %s:\n%s", name, out)
		}
	}
	if list := c.as(dev, "ctxfs trust --list").OK(); strings.Contains(list, "beside") || strings.Contains(list, "mine") {
		t.Errorf("it noted what it need not:\n%s", list)
	}
	want := "# Context Block: one\nby x\nby y\n# Context Block: two\nby mine\nby y\n# Context"
	if md := c.file("pack.md"); !strings.HasPrefix(md, want) {
		t.Errorf("after trust the pack is\n%s\n%s", md, c.file("pack.report.md"))
	}
	c.put(other, "tools/y.sh", "echo by y, edited\n")
	if md := c.file("pack.md"); strings.Contains(md, "Block: one") {
		t.Errorf("after an edit of a script the pack is\n%s", md)
	}
	c.as(dev, `ctxfs trust context.yaml && echo '{"role":"user","content":"Go on."}' >> session/s1/messages.jsonl`).OK()
	if md := c.file("pack.md"); !strings.Contains(md, "by y, edited") {
		t.Errorf("trusted again, the pack is\n%s\n%s", md, c.file("pack.report.md"))
	}
	c.as(dev, "ctxfs trust --revoke context.yaml").OK()
	if list := c.as(dev, "ctxfs trust --list").OK(); strings.Contains(list, "tools/") || !strings.Contains(list, "/s1/cwd") {
		t.Errorf("after its trust was taken back:\n%s", list)
	}
}
