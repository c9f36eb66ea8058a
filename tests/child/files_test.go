package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ctxfs/ctxfs/tests/harness"
)

func TestAChildIsMadeByMkdir(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	if got := s.Bash("ls context/child; mkdir context/child/rev-1; ls -F context/child context/child/rev-1; cat context/child/rev-1/*[a-z]l context/child/rev-1/{agent,session,status,handoff.md,result.md}").OK(); got !=
		"context/child:\nrev-1/\n\ncontext/child/rev-1:\nagent\nartifact/\nhandoff.md\nrefs.jsonl\nresult.md\nsession\nstatus\npending\n" {
		t.Errorf("a new child: %q", got)
	}
	if names, err := os.ReadDir(filepath.Join(s.InStore(), "context/child/rev-1")); err != nil || len(names) != 1 {
		t.Errorf("in the store stand %v, %v", names, err)
	}
	refused(t, s, "mkdir context/child/rev-1", "File exists")
	for _, name := range []string{".hidden", "-x", "a b", "é", "a:b", strings.Repeat("x", 129)} {
		if err := os.Mkdir(s.Path("context/child/"+name), 0o700); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("mkdir %q: %v", name, err)
		}
	}
	for _, script := range []string{"echo x > context/child/file", "ln -s /etc context/child/link", "mkfifo context/child/pipe", "rmdir context/child", "mv context/child context/kids"} {
		refused(t, s, script, "not permitted")
	}
}

func TestTheFilesOfAChildAreChecked(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.Session(t, harness.Self(), "coder", "s1")
	s.Bash("mkdir context/child/a").OK()
	for _, bad := range []struct{ file, text string }{
		{"agent", "two words"}, {"agent", "../../21002/agent/x"}, {"agent", "one\ntwo"}, {"session", ".."}, {"session", "a/b"}, {"session", "/abs"},
		{"status", "fine"}, {"status", "idle"}, {"refs.jsonl", "{}"}, {"refs.jsonl", `{"id":"r1","path":"x","kind":"thing"}`}, {"refs.jsonl", "no"},
		{"result.md", "\x80"}, {"handoff.md", "a\x00b"},
	} {
		before := len(s.Errors())
		err := os.WriteFile(s.Path("context/child/a/"+bad.file), []byte(bad.text+"\n"), 0o600)
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s %q: %v", bad.file, bad.text, err)
		}
		if rows := s.Errors(); len(rows) != before+1 || rows[before].Path != "context/child/a/"+bad.file || rows[before].Errno != "EINVAL" {
			t.Errorf("%s %q: errors.jsonl says %+v", bad.file, bad.text, rows[before:])
		}
	}
	harness.WantFile(t, s, "context/child/a/agent", "")
	harness.WantFile(t, s, "context/child/a/status", "pending\n")
	s.Bash(`cd context/child/a; echo rev > agent; : > agent; printf done > status; echo '{"id":"r1","path":"artifact/x","kind":"artifact","summary":"it"}' >> refs.jsonl
		echo one > handoff.md; echo two >> handoff.md; sed -i s/one/1/ handoff.md; printf x > .t; mv .t result.md`).OK()
	for file, want := range map[string]string{"agent": "", "status": "done", "handoff.md": "1\ntwo\n", "result.md": "x", "refs.jsonl": `{"id":"r1","path":"artifact/x","kind":"artifact","summary":"it"}` + "\n"} {
		harness.WantFile(t, s, "context/child/a/"+file, want)
	}
	s.Python(`
import os, pathlib
d = pathlib.Path("context/child/a")
(d / "result.md").write_text("from python\n")
tmp = d / "result.md.tmp"
tmp.write_text("by rename\n")
os.replace(tmp, d / "handoff.md")
with open(d / "status", "w") as f: f.write("error\n")
assert (d / "result.md").stat().st_size == 12, (d / "result.md").stat()
try:
    (d / "status").write_text("great\n")
    raise SystemExit("a bad status was taken")
except OSError as e:
    assert e.errno == 22, e
assert (d / "status").read_text() == "error\n"
`).OK()
	harness.WantFile(t, s, "context/child/a/handoff.md", "by rename\n")
}

func TestAChildShowsItsSession(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	result, status := "context/child/rev-1/result.md", "context/child/rev-1/status"
	harness.WantFile(t, s, status, "pending\n")
	harness.WantFile(t, s, result, "")
	child.Append("messages.jsonl", harness.Message("user", "look at it"))
	harness.WantFile(t, s, status, "active\n")
	child.Append("messages.jsonl", harness.Message("assistant", "two bugs"))
	harness.WantFile(t, s, result, "two bugs\n")
	if got := s.Bash("stat -c %s " + result + " " + status + "; wc -c < " + result).OK(); got != "9\n7\n9\n" {
		t.Errorf("sizes: %q", got)
	}
	child.Write("state", "done\n")
	harness.WantFile(t, s, status, "done\n")
	if harness.Origin(t, s, result) != "derived" || harness.Origin(t, s, status) != "derived" {
		t.Errorf("origins %q %q", harness.Origin(t, s, result), harness.Origin(t, s, status))
	}
	s.Bash("echo more >> " + result + "; echo cancelled > " + status).OK()
	child.Append("messages.jsonl", harness.Message("assistant", "three bugs"))
	harness.WantFile(t, s, result, "two bugs\nmore\n")
	harness.WantFile(t, s, status, "cancelled\n")
	if harness.Origin(t, s, result) != "agent" || harness.Origin(t, s, status) != "agent" {
		t.Errorf("origins %q %q", harness.Origin(t, s, result), harness.Origin(t, s, status))
	}
	s.Bash("rm " + result + " " + status + " && rm context/child/rev-1/handoff.md").OK() // the last was never written
	harness.WantFile(t, s, result, "three bugs\n")
	harness.WantFile(t, s, status, "done\n")
	s.Bash("rm context/child/rev-1/session").OK()
	harness.WantFile(t, s, result, "")
	harness.WantFile(t, s, status, "pending\n")
	m.Restart()
	harness.WantFile(t, s, "context/child/rev-1/agent", "rev\n")
}

func TestArtifactsAreOrdinaryFiles(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, _ := family(t, m)
	got := s.Bash(`cd context/child/rev-1/artifact
		mkdir -p a/b; head -c 3000000 /dev/zero | tr '\0' x > a/b/big; ln -s a/b/big link; ln a/b/big hard; chmod 640 a/b/big; mkfifo pipe
		wc -c < link; stat -c '%a %h' hard; mv a c; ls -R | tr '\n' ' '; rm -r c; ls`).OK()
	if got != "3000000\n640 2\n.: c hard link pipe  ./c: b  ./c/b: big hard\nlink\npipe\n" {
		t.Errorf("%q", got)
	}
	refused(t, s, "mkdir context/child/rev-1/sub", "not permitted")
	refused(t, s, "rm -r context/child/rev-1/artifact && ln -s /etc context/child/rev-1/artifact", "not permitted")
	refused(t, s, "echo x > context/child/rev-1/artifact", "not permitted")
	s.Bash("cd context/child/rev-1; mkdir artifact; echo x > artifact/x; cat artifact/x").OK()
	refused(t, s, "mv context/child/rev-1/artifact context/child/rev-1/other", "not permitted")
	refused(t, s, "mv context/child/rev-1/artifact ../../mine", "not permitted")
}

func TestAChildCanBeRemovedAndRenamed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Append("messages.jsonl", harness.Message("assistant", "the answer"))
	s.Bash(`cd context/child; mkdir -p rev-1/artifact/deep; echo x > rev-1/artifact/deep/x
		mkdir empty; rmdir empty; mkdir other; ls`).OK()
	refused(t, s, "rmdir context/child/rev-1", "not empty")
	refused(t, s, "mv -T context/child/rev-1 context/child/other", "exist")
	refused(t, s, "mv context/child/rev-1 context/child/other", "not permitted") // into it
	if err := os.Rename(s.Path("context/child/rev-1"), s.Path("context/child/a b")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a bad name: %v", err)
	}
	refused(t, s, "mv context/child/rev-1 context/rev-1", "not permitted")
	refused(t, s, "mv context/child/rev-1 ../../rev-1", "not permitted")
	dir, err := os.Open(s.Path("context/child/rev-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	s.Bash(`cd context/child/rev-1 && mv ../rev-1 ../rev-2 && cat result.md && echo "kept" > handoff.md && cat artifact/deep/x && mkdir ../rev-1 && cat ../rev-1/agent`).OK()
	harness.WantFile(t, s, "context/child/rev-2/result.md", "the answer\n")
	harness.WantFile(t, s, "context/child/rev-2/handoff.md", "kept\n")
	harness.WantFile(t, s, "context/child/rev-1/agent", "")
	harness.WantFile(t, s, "context/child/rev-1/handoff.md", "")
	if names, err := dir.Readdirnames(-1); err != nil || len(names) != 7 {
		t.Errorf("the directory, opened under its first name, lists %v, %v", names, err)
	}
	got := s.Bash(`cd context/child; rm -r rev-2; rm -rf other; ls; find rev-1 -delete; ls`).OK()
	if got != "rev-1\n" {
		t.Errorf("%q", got)
	}
	s.Python("import shutil, os\nos.mkdir('context/child/x')\nopen('context/child/x/result.md','w').write('r')\nshutil.rmtree('context/child/x')").OK()
	if names, err := os.ReadDir(filepath.Join(s.InStore(), "context/child")); err != nil || len(names) != 0 {
		t.Errorf("in the store stand %v, %v", names, err)
	}
	if child.Read("latest.md") != "the answer\n" {
		t.Error("the child's session went with it")
	}
}

func TestToolsWalkOverChildren(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	child.Append("messages.jsonl", harness.Message("assistant", "the needle"))
	s.Bash("echo y > context/child/rev-1/artifact/y").OK()
	if got := s.Bash("grep -rl needle context/child; find context/child -type f | sort | tr '\n' ' '; find context -maxdepth 1 -name child").OK(); got !=
		"context/child/rev-1/result.md\ncontext/child/rev-1/agent context/child/rev-1/artifact/y context/child/rev-1/handoff.md context/child/rev-1/refs.jsonl context/child/rev-1/result.md context/child/rev-1/session context/child/rev-1/status context/child\n" {
		t.Errorf("%q", got)
	}
	out := t.TempDir()
	s.Bash("cp -a context/child " + out + "/copy && tar -cf " + out + "/t.tar context/child && mkdir context/child/rev-2 && cp " + out + "/copy/rev-1/[!a]* context/child/rev-2/").OK()
	if b, err := os.ReadFile(out + "/copy/rev-1/result.md"); err != nil || string(b) != "the needle\n" {
		t.Errorf("%q, %v", b, err)
	}
	harness.WantFile(t, s, "context/child/rev-2/result.md", "the needle\n")
	if harness.Origin(t, s, "context/child/rev-2/result.md") != "agent" {
		t.Error("a copy is not the agent's")
	}
}

func TestManyClientsWriteAChild(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s, child := family(t, m)
	s.Bash(`for i in $(seq 4); do (for j in $(seq 10); do mkdir -p context/child/c$i; echo "$i $j" > context/child/c$i/result.md; mv context/child/c$i context/child/d$i; cat context/child/d$i/result.md > /dev/null; rm -r context/child/d$i; done) & done
		for j in $(seq 20); do printf '{"role":"assistant","content":"%s"}\n' $j >> ` + child.Path("messages.jsonl") + `; cat context/child/rev-1/result.md context/pack.md > /dev/null; done; wait`).OK()
	if got := s.Bash("ls context/child").OK(); got != "rev-1\n" {
		t.Errorf("left are %q", got)
	}
	harness.WantFile(t, s, "context/child/rev-1/result.md", fmt.Sprintln(20))
}
