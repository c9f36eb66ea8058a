package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/pack"
	"github.com/ctxfs/ctxfs/pack/packtest"
	"github.com/ctxfs/ctxfs/pack/source"
)

// insider is fakeGenerators of which one process is inside of a session.
type insider struct {
	*fakeGenerators
	pid     uint32
	session string
}

func (i *insider) Inside(pid uint32) (string, bool) { return i.session, pid == i.pid }

const mapRecipe = `
env: {COLOUR: never}
sources:
  - {type: computed_file, id: map, generator: {command: [make-map, "${CWD}", "${AGENT_HOME}", "${SESSION}/x", "$$HOME"]}, output_path: map.md}
  - {type: journal}
`

func computing(t *testing.T, auto func(source.Command) (source.Output, error)) (*desk, *fakeGenerators) {
	t.Helper()
	f := newFakeGenerators()
	f.auto = auto
	c := Config{Budget: 4000, Generators: f, Mountpoint: "/ctx", Wait: time.Minute, MapPath: func(p string) string {
		if rest, ok := strings.CutPrefix(p, "/work"); ok {
			return "/host/work" + rest
		}
		return p
	}}
	d := newDesk(t, c)
	t.Cleanup(func() { d.b.Close() })
	d.append(packtest.Message("user", "hi"))
	d.write("cwd", "/work\n")
	return d, f
}

func TestCommandsAreExpanded(t *testing.T) {
	d, f := computing(t, func(c source.Command) (source.Output, error) {
		return source.Output{Data: []byte("A map.\n"), Sandbox: "none at all"}, nil
	})
	d.write("../../context.yaml", mapRecipe)
	d.write("context/env", "EXTRA=1\n")
	b := d.pack()
	if !strings.Contains(string(b.Markdown), "# Context Block: map\nA map.\n") || !strings.Contains(string(b.Report), "none at all") {
		t.Fatalf("%s\n%s", b.Markdown, b.Report)
	}
	c := f.last().command
	home := "/ctx/" + deskRef.AgentHome()
	want := []string{"make-map", "/host/work", home, home + "/session/s1/x", "$HOME"}
	if !slices.Equal(c.Args, want) || c.Dir != "/host/work" || c.Output != "/host/work/map.md" || c.Session != d.x.ID() {
		t.Errorf("%+v, want args %q", c, want)
	}
	for _, want := range []string{"COLOUR=never", "EXTRA=1", "LANG=C.UTF-8", "DELTA_RUN_ID=s1", "DELTA_AGENT_HOME=" + home, "DELTA_CWD=/host/work",
		"CTX_SESSION=" + home + "/session/s1", "CTX_AGENT=coder", "CTX_BUDGET=4000"} {
		if !slices.Contains(c.Env, want) {
			t.Errorf("no %s in %q", want, c.Env)
		}
	}
	for range 10 {
		if d.pack() != b {
			t.Fatal("another build though nothing changed")
		}
	}
	if n := f.count(); n != 1 {
		t.Errorf("%d runs", n)
	}
	d.append(packtest.Message("assistant", "ok"))
	d.pack()
	if n := f.count(); n != 2 {
		t.Errorf("%d runs after the history grew", n)
	}
	if err := os.Remove(filepath.Join(d.x.Dir(), "cwd")); err != nil {
		t.Fatal(err)
	}
	d.pack()
	if c := f.last().command; c.Dir != home+"/session/s1" || c.Output != home+"/session/s1/map.md" {
		t.Errorf("without a cwd: %+v", c)
	}
}

func TestAFallbackRunsOnlyWhenItIsNeeded(t *testing.T) {
	d, f := computing(t, func(c source.Command) (source.Output, error) {
		if c.Args[0] == "first" {
			return source.Output{Failed: "exit status 3"}, nil
		}
		return source.Output{Data: []byte("From " + c.Args[0] + ".\n")}, nil
	})
	d.write("../../context.yaml", `
sources:
  - {type: file, path: "${AGENT_HOME}/near.md", fallback: [{type: computed_file, generator: {command: [first]}, output_path: o}, {type: computed_file, generator: {command: [second]}, output_path: o}]}
  - {type: journal}
`)
	d.write("../../near.md", "Near.\n")
	if b := d.pack(); f.count() != 0 || !strings.Contains(string(b.Markdown), "Near.") {
		t.Fatalf("%d runs:\n%s", f.count(), b.Markdown)
	}
	if err := os.Remove(filepath.Join(d.x.Dir(), "../../near.md")); err != nil {
		t.Fatal(err)
	}
	if b := d.pack(); f.count() != 2 || !strings.Contains(string(b.Markdown), "From second.") {
		t.Errorf("%d runs:\n%s\n%s", f.count(), b.Markdown, b.Report)
	}
}

// A generator that reads its own pack must not wait for itself.
func TestAGeneratorGetsThePreviousBuildAtOnce(t *testing.T) {
	d, f := computing(t, nil)
	in := &insider{fakeGenerators: f, pid: 77, session: d.x.ID()}
	inside := WithCaller(context.Background(), 77)
	inner := make(chan *pack.Build, 2)
	f.auto = func(source.Command) (source.Output, error) {
		b, err := d.b.Current(inside, d.x) // while the outer one holds the session
		if err != nil {
			t.Error(err)
		}
		inner <- b
		return source.Output{Data: []byte("A map.\n")}, nil
	}
	c := d.b.config
	c.Generators = in
	d.builder(c)
	d.write("../../context.yaml", mapRecipe)
	outer := d.pack()
	if b := <-inner; b == nil || strings.Contains(string(b.Markdown), "A map.") || !strings.Contains(string(b.Markdown), "hi") || !b.Stale {
		t.Errorf("the first build as its generator sees it: %+v", b)
	}
	d.append(packtest.Message("assistant", "ok"))
	d.pack()
	if b := <-inner; b != outer {
		t.Error("not the previous build")
	}
}

const hashedRecipe = `
sources:
  - {type: computed_file, id: map, generator: {command: [make-map]}, cache: {strategy: file_hash, invalidate_on: ["*"]}}
  - {type: journal}
`

// Somebody who looks and goes away while a generator runs does not hide from the next reader that its inputs changed.
func TestAReadThatIsGivenUpHidesNoChangedInput(t *testing.T) {
	d, f := computing(t, nil)
	input, ctx, cancel := "one", context.Background(), context.CancelFunc(nil)
	f.auto = func(source.Command) (source.Output, error) {
		if cancel != nil {
			cancel()
			<-ctx.Done()
		}
		return source.Output{Data: []byte(input + "\n")}, nil
	}
	f.files = map[string]inputs{"/host/work": {fingerprint: "1"}}
	d.write("../../context.yaml", hashedRecipe)
	for d.pack(); !isSettled(d); d.pack() {
	}
	input = "two"
	f.set(func() { f.files["/host/work"] = inputs{fingerprint: "2"} })
	ctx, cancel = context.WithCancel(context.Background())
	if _, err := d.b.Current(ctx, d.x); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	cancel = nil
	if b := d.pack(); !strings.Contains(string(b.Markdown), "two") {
		t.Errorf("the changed input is not seen:\n%s", b.Markdown)
	}
}

func TestImportedGeneratorsNeedTrust(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	pkg := "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: [make-map]}, output_path: map.md}\n"
	d.write("../../node_modules/pkg/context.yaml", pkg)
	d.write("../../context.yaml", "import: pkg\nsources:\n  - {type: journal}\n")
	b := d.pack()
	name := deskRef.AgentHome() + "/node_modules/pkg/context.yaml"
	if f.count() != 0 || !strings.Contains(string(b.Report), "ctxfs trust /ctx/"+name) {
		t.Fatalf("%d runs:\n%s", f.count(), b.Report)
	}
	row := func(sum string) []byte { return []byte(`{"path":"` + name + `","sha256":"` + sum + `"}` + "\n") }
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	for !isSettled(d) { // from here on nothing but the trust changes
		d.pack()
	}
	if err := d.store.SetTrust(uid, gid, row(strings.Repeat("0", 64))); err != nil {
		t.Fatal(err)
	}
	if d.pack(); f.count() != 0 {
		t.Fatal("run with a trust of other content")
	}
	if err := d.store.SetTrust(uid, gid, row(strings.TrimPrefix(ctxabi.ContentID([]byte(pkg)), "sha256-"))); err != nil {
		t.Fatal(err)
	}
	if b := d.pack(); f.count() != 1 || !strings.Contains(string(b.Markdown), "A map.") {
		t.Errorf("%d runs:\n%s", f.count(), b.Report)
	}
	chosen := d.b.entry(d.x.ID()).newest.Load().gathered.Chosen
	if d.pack(); d.b.entry(d.x.ID()).newest.Load().gathered.Chosen != chosen {
		t.Error("a recipe that did not change was read again")
	}
	d.write("../../node_modules/pkg/context.yaml", pkg+"# edited\n")
	if b := d.pack(); f.count() != 1 || strings.Contains(string(b.Markdown), "A map.") {
		t.Errorf("an edited package still runs:\n%s", b.Report)
	}
}

// A package without a generator of its own could still have put its program first in the PATH of another's.
func TestPackageThatOnlySetsVariablesNeedsTrust(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	d.write("../../packages/pkg/context.yaml", "env: {PATH: /tmp/evil}\nsources:\n  - {type: todo}\n")
	d.write("../../context.yaml", "import: pkg\n"+strings.Replace(mapRecipe, "output_path", "on_missing: skip, output_path", 1))
	b := d.pack()
	if f.count() != 0 || !strings.Contains(string(b.Report), "ctxfs trust /ctx/"+deskRef.AgentHome()+"/packages/pkg/context.yaml") {
		t.Fatalf("%d runs:\n%s", f.count(), b.Report)
	}
	d.write("../../packages/pkg/context.yaml", "sources:\n  - {type: todo}\n")
	if d.pack(); f.count() != 1 {
		t.Errorf("%d runs of the agent's own generator", f.count())
	}
}

func TestWithoutARunnerTheReportSaysSo(t *testing.T) {
	d := newDesk(t, Config{Budget: 4000})
	d.append(packtest.Message("user", "hi"))
	d.write("../../context.yaml", strings.Replace(mapRecipe, "id: map,", "id: map, on_missing: skip,", 1))
	if b := d.pack(); !strings.Contains(string(b.Report), "commands are not run here") {
		t.Errorf("%s", b.Report)
	}
}

// In a shared space others may write the script that a trusted recipe names.
func TestAScriptOfASpaceNeedsTrust(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	d.share()
	d.append(packtest.Message("user", "hi"))
	d.write("../../gen.sh", "echo A map.\n")
	d.write("../../context.yaml", "sources:\n  - {type: computed_file, on_missing: skip, generator: {command: [sh, \"${AGENT_HOME}/gen.sh\"]}, output_path: map.md}\n  - {type: journal}\n")
	d.chmod("../../gen.sh", 0o660)
	d.trust("context.yaml")
	if b := d.pack(); f.count() != 0 || !strings.Contains(string(b.Report), "ctxfs trust /ctx/shared/team/agent/coder/gen.sh") {
		t.Fatalf("%d runs:\n%s", f.count(), b.Report)
	}
	d.trust("context.yaml", "gen.sh")
	if b := d.pack(); f.count() != 1 || !strings.Contains(string(b.Markdown), "A map.") {
		t.Fatalf("%d runs:\n%s", f.count(), b.Report)
	}
	d.write("../../gen.sh", "rm -rf ~\n")
	d.append(packtest.Message("assistant", "ok"))
	if d.pack(); f.count() != 1 {
		t.Error("an edited script was run")
	}
}

// An update of a package can replace the program and leave the recipe as it was.
func TestAnUpdatedScriptOfATrustedPackageNeedsTrustAgain(t *testing.T) {
	for _, command := range []string{
		`[sh, "${RECIPE_DIR}/map.sh"]`, `["${AGENT_HOME}/node_modules/pkg/map.sh"]`, `["/ctx/` + deskRef.AgentHome() + `/node_modules/pkg/map.sh"]`,
		`[tool, "--script=${RECIPE_DIR}/map.sh"]`, `["${RECIPE_DIR}/../.bin/map"]`,
		`[sh, -c, "exec sh '${RECIPE_DIR}'/map.sh | head"]`, `[sh, -c, "cd ${RECIPE_DIR} && ./map.sh"]`, `[sh, -c, 'cd "$$0"; sh map.sh', "${RECIPE_DIR}"]`,
	} {
		d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
		d.append(packtest.Message("user", "hi"))
		d.write("../../node_modules/pkg/map.sh", "echo A map.\n")
		if err := errors.Join(os.MkdirAll(filepath.Join(d.x.Dir(), "../../node_modules/.bin"), 0o755), os.Symlink("../pkg/map.sh", filepath.Join(d.x.Dir(), "../../node_modules/.bin/map"))); err != nil {
			t.Fatal(err)
		}
		d.write("../../node_modules/pkg/data.md", "one\n")
		d.write("../../node_modules/pkg/context.yaml", "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: "+command+"}}\n")
		d.write("../../context.yaml", "import: pkg\nsources:\n  - {type: journal}\n")
		d.trust("node_modules/pkg/context.yaml")
		script := "node_modules/pkg/map.sh"
		if strings.Contains(command, ".bin") {
			script = "node_modules/.bin/map"
		}
		if b := d.pack(); f.count() != 0 || !strings.Contains(string(b.Report), "ctxfs trust /ctx/"+deskRef.AgentHome()+"/"+script) {
			t.Fatalf("%s: %d runs:\n%s", command, f.count(), b.Report)
		}
		d.trust("node_modules/pkg/context.yaml", script)
		if b := d.pack(); f.count() != 1 || !strings.Contains(string(b.Markdown), "A map.") {
			t.Fatalf("%s: %d runs:\n%s", command, f.count(), b.Report)
		}
		d.write("../../node_modules/pkg/data.md", "two\n") // no command names it
		d.append(packtest.Message("assistant", "ok"))
		if d.pack(); f.count() != 2 {
			t.Errorf("%s: %d runs", command, f.count())
		}
		d.write("../../node_modules/pkg/map.sh", "rm -rf ~\n")
		d.append(packtest.Message("assistant", "ok"))
		if b := d.pack(); f.count() != 2 || strings.Contains(string(b.Markdown), "A map.") {
			t.Errorf("%s: an updated script was run:\n%s", command, b.Report)
		}
	}
}

// A script is found among any number of words, or nothing is run.
func TestAScriptIsNotHiddenAmongWords(t *testing.T) {
	for words, refused := range map[int]string{300: "node_modules/pkg/map.sh", 5000: "too many words"} {
		d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
		d.write("cwd", "")
		d.append(packtest.Message("user", "hi"))
		d.write("../../node_modules/pkg/map.sh", "echo A map.\n")
		var text strings.Builder
		for i := range words {
			fmt.Fprintf(&text, "echo w%d; ", i)
		}
		d.write("../../node_modules/pkg/context.yaml", "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: [sh, -c, \""+text.String()+"cd ${RECIPE_DIR} && ./map.sh\"]}}\n")
		d.write("../../context.yaml", "import: pkg\nsources:\n  - {type: journal}\n")
		d.trust("node_modules/pkg/context.yaml")
		if b := d.pack(); f.count() != 0 || !strings.Contains(string(b.Report), refused) {
			t.Errorf("%d words, %d runs:\n%s", words, f.count(), b.Report)
		}
	}
}

// What an agent's own recipe names in a package is its user's own choice, and a data file of the agent is no program of a package.
func TestNoScriptButAPackagesOwnNeedsTrust(t *testing.T) {
	d, f := computing(t, func(source.Command) (source.Output, error) { return source.Output{Data: []byte("A map.\n")}, nil })
	d.append(packtest.Message("user", "hi"))
	d.write("../../node_modules/pkg/map.sh", "echo A map.\n")
	d.write("../../notes.md", "one\n")
	d.write("../../context.yaml", "sources:\n  - {type: computed_file, id: map, generator: {command: [sh, \"${AGENT_HOME}/node_modules/pkg/map.sh\"]}}\n  - {type: journal}\n")
	if d.pack(); f.count() != 1 {
		t.Errorf("%d runs of the agent's own generator", f.count())
	}
	d.write("../../node_modules/pkg/context.yaml", "sources:\n  - {type: computed_file, id: map, on_missing: skip, generator: {command: [wc, \"${AGENT_HOME}/notes.md\"]}}\n")
	d.write("../../context.yaml", "import: pkg\nsources:\n  - {type: journal}\n")
	d.trust("node_modules/pkg/context.yaml")
	for i := range 2 {
		d.write("../../notes.md", strings.Repeat("more\n", i+2))
		d.append(packtest.Message("assistant", "ok"))
		if b := d.pack(); f.count() != i+2 {
			t.Errorf("%d runs:\n%s", f.count(), b.Report)
		}
	}
}
