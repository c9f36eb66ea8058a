// Package manifests reads the files for Kubernetes and compose in dist/docker as those programs do, and runs
// the commands in them. It is a module of its own: nothing else needs their types.
package manifests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// cluster makes the tokens as the comment at the beginning of a file says, and returns the directory that they
// are in.
func cluster(t *testing.T, file string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^#   ctxfs (cluster init .*)$`).FindStringSubmatch(file)
	if line == nil {
		t.Fatal("the file does not say how tokens are made")
	}
	dir := t.TempDir()
	if out, err := ctxfs(t, dir, strings.Fields(line[1])...); err != nil {
		t.Fatalf("%s: %v\n%s", line[1], err, out)
	}
	return dir
}

// joined runs a join with other directories, and returns the settings of the server that it makes, "" for a
// host.
func joined(t *testing.T, tokens string, args []string, machine string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "machine")
	own := slices.Clone(args)
	for i, a := range own {
		if _, ok := strings.CutPrefix(a, "--dir="); ok {
			own[i] = "--dir=" + dir
		}
		if file, ok := strings.CutPrefix(a, "--token-file="); ok {
			own[i] = "--token-file=" + filepath.Join(tokens, filepath.Base(file))
		}
	}
	for range 2 { // the second time after a restart
		out, err := ctxfs(t, ".", own...)
		if err != nil || !strings.Contains(out, " "+machine+" of cluster") {
			t.Fatalf("%q: %v\n%s", own, err, out)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "server.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(data))
}

// What the files call images is what the Dockerfiles build, with the programs where commands look for them.
func TestImages(t *testing.T) {
	for name, programs := range map[string][]string{"Dockerfile": {"ctxfs"}, "Dockerfile.cluster": {"ctxfs", "ctxfs-server"}} {
		text := read(t, name)
		if !strings.Contains(text, `ENTRYPOINT ["/ctxfs"]`) {
			t.Errorf("%s has another entry point", name)
		}
		for _, p := range programs {
			if !strings.Contains(text, "-o /out/"+p+" ") || !regexp.MustCompile(`mv .*/out/`+p+`\b.* /out/root/`).MatchString(text) {
				t.Errorf("%s has no /%s", name, p)
			}
		}
		cmd := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindStringSubmatch(text)
		if cmd == nil {
			t.Fatalf("%s has no CMD", name)
		}
		checkCommand(t, name, strings.Split(strings.ReplaceAll(strings.ReplaceAll(cmd[1], `"`, ""), " ", ""), ","))
	}
	make, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil || !strings.Contains(string(make), "CLUSTER=1") || !strings.Contains(string(make), "dist/image.sh "+clusterImage) {
		t.Errorf("make does not build %s: %v", clusterImage, err)
	}
}

// clusterImage is the name of the image of Dockerfile.cluster.
const clusterImage = "ctxfs-cluster"
