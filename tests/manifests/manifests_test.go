// Package manifests reads the files for Kubernetes and compose in dist/docker as those programs do, and runs
// the commands in them. It is a module of its own: nothing else needs their types.
package manifests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// root is the top of the repository.
const root = "../.."

// read returns a file of dist/docker.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "dist", "docker", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// program returns the path of ctxfs: CTXFS_BIN, or what is built at the first call.
var program = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("CTXFS_BIN"); bin != "" {
		return filepath.Abs(bin)
	}
	dir, err := os.MkdirTemp("", "ctxfs-manifests-")
	if err != nil {
		return "", err
	}
	built = dir
	bin := filepath.Join(dir, "ctxfs")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/ctxfs")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
})

var built string // what is removed at the end

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// ctxfs runs ctxfs in a directory and returns what it prints.
func ctxfs(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// checkCommand looks whether ctxfs has the verb and the flags of a command.
func checkCommand(t *testing.T, where string, args []string) {
	t.Helper()
	var verb []string
	for _, a := range args {
		if strings.HasPrefix(a, "-") || strings.HasPrefix(a, "/") {
			break
		}
		verb = append(verb, a)
	}
	help, err := ctxfs(t, ".", append(verb, "--help")...)
	if err != nil || len(verb) == 0 || !strings.Contains(help, "ctxfs "+strings.Join(verb, " ")) {
		t.Errorf("%s: %q is no command: %v\n%s", where, args, err, help)
		return
	}
	for _, a := range args {
		flag, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(flag, "--") && !regexp.MustCompile(`(?m)^ +(-\w, )?`+regexp.QuoteMeta(flag)+`\b`).MatchString(help) {
			t.Errorf("%s: ctxfs %s has no %s", where, strings.Join(verb, " "), flag)
		}
	}
}

// The Dockerfile builds what the files call image, with the program where commands look for it.
func TestImage(t *testing.T) {
	text := read(t, "Dockerfile")
	if !strings.Contains(text, `ENTRYPOINT ["/ctxfs"]`) {
		t.Error("it has another entry point")
	}
	if !strings.Contains(text, "-o /out/ctxfs ") || !regexp.MustCompile(`mv .*/out/ctxfs\b.* /out/root/`).MatchString(text) {
		t.Error("it has no /ctxfs")
	}
	cmd := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindStringSubmatch(text)
	if cmd == nil {
		t.Fatal("it has no CMD")
	}
	checkCommand(t, "Dockerfile", strings.Split(strings.ReplaceAll(strings.ReplaceAll(cmd[1], `"`, ""), " ", ""), ","))
}
