package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ctxfs/ctxfs/internal/suite"
	"github.com/ctxfs/ctxfs/tests/harness"
)

// documents are the ones whose console blocks are run, by their path below the repository's root: all that have
// some, but those that the command's own tests run.
func documents(t *testing.T) []string {
	t.Helper()
	var names []string
	elsewhere := []string{"README.md", "docs/tour.md", "docs/numbers.md", "docs/files.md", "docs/inspect.md"}
	for name, text := range markdown(t) {
		if len(harness.TourCommands(text)) > 0 && !slices.Contains(elsewhere, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// clone makes a directory like a fresh clone: everybody may read it, and it holds the examples.
func clone(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctxfs-test-clone-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(harness.Root(), "examples"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each document prints what it says: to root, to an ordinary user of root's mount, and to one who mounted
// for himself. CTXFS_UPDATE=1 writes what is printed into it.
func TestDocumentsPrintWhatTheySay(t *testing.T) {
	harness.Need(t, "python3")
	mounts := []struct{ daemon, uid uint32 }{{harness.Self(), harness.Self()}}
	first := suite.Pick(t, 1, 0)
	if harness.Self() == 0 {
		harness.NeedFusermount(t)
		nobody := harness.KnownUser(t, "nobody")
		mounts = append(mounts, struct{ daemon, uid uint32 }{0, 1000}, struct{ daemon, uid uint32 }{nobody, nobody})[first:]
	}
	for _, by := range mounts {
		m := harness.Start(t, harness.Options{UID: by.daemon, GID: by.daemon})
		redacting := harness.Start(t, harness.Options{UID: by.daemon, GID: by.daemon, Args: []string{"--redact"}})
		uid := by.uid
		for _, name := range documents(t) {
			m := m
			if name == "docs/redaction.md" {
				m = redacting
			}
			t.Run(fmt.Sprintf("%s as %d of %d", strings.ReplaceAll(name, "/", " "), uid, by.daemon), func(t *testing.T) {
				file := filepath.Join(harness.Root(), name)
				said, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if len(harness.TourCommands(string(said))) == 0 {
					t.Fatal("there is nothing to run in it")
				}
				printed := m.Tour(t, string(said), harness.Client{UID: uid, Dir: clone(t), Env: []string{"PATH=" + harness.UserPath(t), "CTXFS_MOUNT=" + m.Dir}})
				harness.CheckTour(t, file, string(said), printed)
			})
		}
	}
}

// The README of the team package says that npm can install it: what npm leaves in the
// agent's home is a package that its recipe imports.
func TestNpmInstallsARecipePackage(t *testing.T) {
	harness.Need(t, "npm")
	m := harness.Start(t, harness.Options{UID: harness.Self()})
	s := m.Session(t, harness.Self(), "billing", "s1")
	home := t.TempDir()
	r := m.Run(t, harness.Client{UID: harness.Self(), Dir: clone(t), Env: []string{"HOME=" + home, "npm_config_update_notifier=false", "agent=" + s.AgentHome()},
		Argv: []string{"bash", "-c", `
			set -e
			cp examples/team-package/agent/* $agent
			npm install --prefix $agent --install-links --offline --no-audit --no-fund ./examples/team-package/package
		`}})
	r.OK()
	s.Append("messages.jsonl", harness.Message("user", "How many invoices are open?"))
	pack := s.Read("context/pack.md")
	for _, want := range []string{"A change comes with a test", "Answer in one line. Numbers first."} {
		if !strings.Contains(pack, want) {
			t.Errorf("no %q in\n%s\n%s", want, pack, s.Read("context/errors.jsonl"))
		}
	}
	// An update of the package is in the very next pack.
	m.Run(t, harness.Client{UID: harness.Self(), Dir: clone(t), Env: []string{"HOME=" + home, "npm_config_update_notifier=false", "agent=" + s.AgentHome()},
		Argv: []string{"bash", "-c", `
			set -e
			cd examples/team-package/package
			sed -i 's/"version": *"[^"]*"/"version": "99.0.0"/' package.json
			sed -i 's/A change comes with a test/A change comes with two tests/' $(grep -rl 'A change comes with a test' .)
			tarball=$(npm pack --silent)
			npm install --prefix $agent --offline --no-audit --no-fund ./$tarball
		`}}).OK()
	if pack := s.Read("context/pack.md"); !strings.Contains(pack, "A change comes with two tests") {
		t.Errorf("the update is not in the pack:\n%s\n%s", pack, s.Read("context/errors.jsonl"))
	}
}
