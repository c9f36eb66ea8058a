package nodestest

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ctxfs/ctxfs/ctxabi"
	"github.com/ctxfs/ctxfs/tests/harness"
)

const blobs = ctxabi.DedupBlobDir

func TestWhatRepeatsIsABlob(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	file, other := source(1, 300), source(2, 300)
	picture := strings.Repeat("\x89PNG\r\n\x1a\nnot really", 99)
	edited := file[:len(file)/2] + "func added() {}\n" + file[len(file)/2:]
	s.Append(ctxabi.MessagesFile, harness.Message("user", "hello")+
		harness.Message("tool", file)+harness.Message("tool", other)+harness.Message("tool", "short")+harness.Message("tool", "short")+
		harness.Message("tool", file)+
		harness.Record(map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "Look."},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte(picture))}}}}))
	got := dedupTree(t, s)
	row := got[harness.BlobID(file)]
	if row.Count != 2 || row.Kind != ctxabi.BlobText || row.Source != "messages:2" || row.Tokens == 0 {
		t.Errorf("a file read twice: %+v", row)
	}
	row = got[harness.BlobID(picture)]
	if row.Count != 1 || row.Kind != ctxabi.BlobImage || row.Source != "messages:7" {
		t.Errorf("an image: %+v", row)
	}
	if len(got) != 2 {
		t.Errorf("%d blobs", len(got))
	}
	// A reading after an edit is another content; the arguments of a call and an event repeat one.
	s.Append(ctxabi.MessagesFile, harness.Message("tool", edited)+
		harness.Record(map[string]any{"role": "assistant", "content": "", "tool_calls": []any{
			map[string]any{"id": "w", "name": "write", "arguments": other}}}))
	result := map[string]any{"type": "tool_result", "id": "elsewhere", "content": other}
	s.Append(ctxabi.EventsFile, harness.Record(result))
	if got = dedupTree(t, s); len(got) != 3 {
		t.Errorf("%d blobs", len(got))
	}
	if row := got[harness.BlobID(other)]; row.Count != 3 || row.Source != "messages:3" {
		t.Errorf("a result, a call and an event that say the same: %+v", row)
	}
	before := s.Read(dedupIndex)
	m.Restart()
	if after := s.Read(dedupIndex); after != before {
		t.Errorf("another daemon says\n%s\nthe one before said\n%s", after, before)
	}
	m.Stop()
	if err := os.RemoveAll(filepath.Join(s.InStore(), ".ctxfs", "dedup")); err != nil {
		t.Fatal(err)
	}
	if err := m.TryStart(); err != nil {
		t.Fatal(err)
	}
	if after := s.Read(dedupIndex); after != before {
		t.Errorf("gone through at once it is\n%s\nbit by bit\n%s", after, before)
	}
}

func TestUsersStoreBlobs(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Append(ctxabi.MessagesFile, harness.Message("user", "hello")+harness.Message("tool", source(3, 90)))
	dir := t.TempDir()
	for i, c := range []struct{ how, script string }{
		{"cp", `cp "$F" "$B"`},
		{"cp -a", `cp -a "$F" "$B"`},
		{"cat", `cat "$F" > "$B"`},
		{"cat twice", `(head -c 1000 "$F" 2>/dev/null || true; tail -c +1001 "$F") > "$B"`},
		{"dd", `dd if="$F" of="$B" bs=777 status=none`},
		{"dd with fsync", `dd if="$F" of="$B" bs=4k conv=fsync status=none`},
		{"mv", `cp "$F" "$F.moved" && mv "$F.moved" "$B" && [ ! -e "$F.moved" ]`},
		{"mv within", `cp "$F" "$CTX_HOME/x" && mv "$CTX_HOME/x" "$B" && [ ! -e "$CTX_HOME/x" ]`},
		{"append", `{ head -c 10 "$F" >> "$B"; } 2>/dev/null || true; cat "$F" >> "$B"`},
		{"python", `python3 - "$F" "$B" <<'END'
import os, sys
data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "xb", buffering=100) as f:
    for i in range(0, len(data), 37):
        f.write(data[i:i+37])
END`},
		{"python backwards", `python3 - "$F" "$B" <<'END'
import os, sys
data = open(sys.argv[1], "rb").read()
fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_EXCL)
os.ftruncate(fd, len(data))
half = len(data) // 2
os.pwrite(fd, data[half:], half)
os.pwrite(fd, data[:half], 0)
os.close(os.dup(fd))
os.close(fd)
END`},
		{"install", `install -m 600 "$F" "$B"`},
	} {
		content := fmt.Sprintf("a blob stored by %s\n", c.how) + source(100+i, 60)
		from := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(from, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r := s.Bash(fmt.Sprintf("set -e; F=%q B=%q/%s CTX_HOME=%q\n%s",
			from, blobs, harness.BlobID(content), s.AgentHome(), c.script))
		if r.Code != 0 || strings.Contains(c.how, "mv") && r.Stderr != "" {
			t.Errorf("%s: %d, %s", c.how, r.Code, r.Stderr)
			continue
		}
		got := s.Read(blobs + "/" + harness.BlobID(content))
		if got != content {
			t.Errorf("%s: stored %d of %d bytes", c.how, len(got), len(content))
		}
	}
	s.Bash(fmt.Sprintf(": > %s/%s", blobs, harness.BlobID(""))).OK()
	before := dedupTree(t, s)
	if len(before) != 13 {
		t.Errorf("%d blobs", len(before))
	}
	m.Restart()
	after := dedupTree(t, s)
	for id, row := range before {
		if !reflect.DeepEqual(after[id], row) || row.Source != ctxabi.BlobOfUser || row.Kind != ctxabi.BlobFile || row.Count != 0 {
			t.Errorf("%+v became %+v", row, after[id])
		}
	}
	// What the history says, too, once and then twice.
	known := harness.BlobID(source(3, 90))
	s.Bash(fmt.Sprintf("cp /dev/stdin %s/%s <<'END'\n%sEND", blobs, known, source(3, 90))).OK()
	if row := dedupTree(t, s)[harness.BlobID(source(3, 90))]; row.Count != 1 || row.Source != ctxabi.BlobOfUser {
		t.Errorf("%+v", row)
	}
	s.Append(ctxabi.MessagesFile, harness.Message("tool", source(3, 90)))
	if row := dedupTree(t, s)[harness.BlobID(source(3, 90))]; row.Count != 2 || row.Source != ctxabi.BlobOfUser {
		t.Errorf("%+v", row)
	}
	s.Run("rm", s.Path(blobs+"/"+harness.BlobID(source(3, 90)))).OK()
	if row := dedupTree(t, s)[harness.BlobID(source(3, 90))]; row.Count != 2 || row.Source != "messages:2" {
		t.Errorf("%+v", row)
	}
	harness.WantErrno(t, "rm of what the history has", unix.Unlink(s.Path(blobs+"/"+known)), unix.EACCES)
	s.Run("rm", s.Path(blobs+"/"+harness.BlobID(""))).OK()
	if _, err := os.Stat(s.Path(blobs + "/" + harness.BlobID(""))); err == nil {
		t.Error("rm removed nothing")
	}
	for _, row := range s.Errors() {
		if row.Errno != "EACCES" && !(row.Errno == "EINVAL" && row.Op == "close") {
			t.Errorf("%+v", row)
		}
	}
}

func TestOtherContentIsNotStored(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	name := s.Path(blobs + "/" + harness.BlobID("this"))
	write := func(content string) error {
		fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT, 0o600)
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, []byte(content)); err != nil {
			return err
		}
		return unix.Close(fd)
	}
	harness.WantErrno(t, "close after other content", write("that"), unix.EINVAL)
	gone := func(what string) {
		t.Helper()
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s: something is there", what)
		}
		if left := ls(t, s, blobs); len(left) != 0 {
			t.Errorf("%s: %v is listed", what, left)
		}
	}
	gone("other content")
	if r := s.Bash("echo that > " + name); r.Code != 0 {
		t.Logf("the shell says so: %s", r.Stderr)
	}
	gone("echo")
	if r := s.Bash("cp /etc/hostname " + name); r.Code == 0 {
		t.Error("cp of other content succeeds")
	}
	gone("cp")
	s.Bash("exec 3> " + name + "; exec 3>&-") // nothing was written
	gone("nothing")
	harness.WantErrno(t, "then the content", write("this"), 0)
	if got := s.Read(blobs + "/" + harness.BlobID("this")); got != "this" {
		t.Errorf("stored %q", got)
	}
	for _, bad := range []string{"x", "sha256-12", strings.ToUpper(harness.BlobID("x")), ".tmp",
		"sha256-" + strings.Repeat("g", 64)} {
		_, err := os.Create(s.Path(blobs + "/" + bad))
		harness.WantErrno(t, "create of "+bad, err, unix.EINVAL)
	}
	_, err := unix.Open(name, unix.O_WRONLY, 0)
	harness.WantErrno(t, "open for writing", err, unix.EACCES)
	_, err = unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	harness.WantErrno(t, "O_EXCL", err, unix.EEXIST)
	harness.WantErrno(t, "chmod, which is not kept", unix.Chmod(name, 0o600), 0)
	harness.WantErrno(t, "truncate", unix.Truncate(name, 0), unix.EACCES)
	harness.WantErrno(t, "rename within", unix.Rename(name, s.Path(blobs+"/"+harness.BlobID("x"))), unix.EPERM)
	err = unix.Rename(s.Path(ctxabi.MetaFile), s.Path(blobs+"/"+harness.BlobID("x")))
	harness.WantErrno(t, "rename into", err, unix.EXDEV)
	harness.WantErrno(t, "rename out", unix.Rename(name, filepath.Join(s.AgentHome(), "x")), unix.EXDEV)
	harness.WantErrno(t, "mkdir", unix.Mkdir(s.Path(blobs+"/"+harness.BlobID("y")), 0o700), unix.EPERM)
	reported := 0
	for _, row := range s.Errors() {
		if row.Errno == "EINVAL" && row.Op == "close" && strings.Contains(row.Path, blobs) {
			reported++
		}
	}
	if reported < 4 {
		t.Errorf("%d rows:\n%s", reported, s.Read(ctxabi.ErrorsFile))
	}
}

func TestABlobHasABound(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	fd, err := unix.Open(s.Path(blobs+"/"+harness.BlobID("x")), unix.O_WRONLY|unix.O_CREAT, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	harness.WantErrno(t, "ftruncate to 256 MiB", unix.Ftruncate(fd, ctxabi.MaxBlob), 0)
	_, err = unix.Pwrite(fd, []byte("x"), ctxabi.MaxBlob)
	harness.WantErrno(t, "a byte more", err, unix.EFBIG)
	other, err := unix.Open(s.Path(blobs+"/"+harness.BlobID("y")), unix.O_WRONLY|unix.O_CREAT, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = unix.Write(other, []byte("y"))
	harness.WantErrno(t, "another blob beside it", err, unix.EDQUOT)
	harness.WantErrno(t, "ftruncate back", unix.Ftruncate(fd, 0), 0)
	_, err = unix.Write(other, []byte("y"))
	harness.WantErrno(t, "once there is room", err, 0)
	harness.WantErrno(t, "close", unix.Close(other), 0)
	unix.Close(fd)
	if got := s.Read(blobs + "/" + harness.BlobID("y")); got != "y" {
		t.Errorf("stored %q", got)
	}
}

func TestASpoiltBlobIsNotServed(t *testing.T) {
	m := harness.Start(t, harness.Options{})
	s := m.NewSession(t)
	s.Bash("printf mine > " + blobs + "/" + harness.BlobID("mine")).OK()
	m.Stop()
	stored := filepath.Join(s.InStore(), ".ctxfs", "blobs", harness.BlobID("mine"))
	if err := os.WriteFile(stored, []byte("mine?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.TryStart(); err != nil {
		t.Fatal(err)
	}
	_, err := os.ReadFile(s.Path(blobs + "/" + harness.BlobID("mine")))
	harness.WantErrno(t, "read", err, unix.EIO)
	if rows := s.Errors(); len(rows) == 0 || rows[len(rows)-1].Errno != "EIO" {
		t.Errorf("%+v", rows)
	}
}

func TestBlobsAreTheirOwners(t *testing.T) {
	if harness.Self() != 0 {
		t.Skip("only root serves several users")
	}
	m := harness.Start(t, harness.Options{})
	mine, theirs := m.Session(t, 1001, "coder", "s"), m.Session(t, 1002, "coder", "s")
	file := blobs + "/" + harness.BlobID("secret")
	mine.Bash("printf secret > " + file).OK()
	if got := mine.Bash("cat " + file).OK(); got != "secret" {
		t.Errorf("the owner reads %q", got)
	}
	if r := m.Run(t, harness.Client{UID: 1002, Argv: []string{"cat", mine.Path(file)}}); r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") {
		t.Errorf("another user reads it: %d %s", r.Code, r.Stderr)
	}
	if r := theirs.Bash("cat " + file); r.Code == 0 || !strings.Contains(r.Stderr, "No such file") {
		t.Errorf("another session has it: %d %s", r.Code, r.Stderr)
	}
	if out := theirs.Bash("ls " + blobs + "; cat " + dedupIndex).OK(); out != "" {
		t.Errorf("another session lists %q", out)
	}
	theirs.Bash("printf secret > " + file + " && rm " + file).OK()
	mine.Bash("cat " + file + " && rm " + file).OK()
}

// In a shared space every member reads a blob, and who stored it may remove it.
func TestBlobsOfASpace(t *testing.T) {
	harness.NeedRoot(t)
	const team = 7001
	m := harness.Start(t, harness.Options{})
	m.CLI(t, "space", "new", "crew", "--group", fmt.Sprint(team), "--store", m.Store).OK()
	member := func(uid uint32, script string) harness.Result {
		return m.Run(t, harness.Client{UID: uid, GIDs: []uint32{uid, team}, Argv: []string{"bash", "-c", script}})
	}
	dir := "shared/crew/agent/coder/session/s1"
	file := dir + "/" + blobs + "/" + harness.BlobID("ours")
	member(1001, "mkdir -p "+dir).OK()
	if got := member(1002, "printf ours > "+file+" && stat -c '%a %u %g' "+file).OK(); got != fmt.Sprintf("440 1002 %d\n", team) {
		t.Errorf("stored as %q", got)
	}
	if got := member(1001, "cat "+file).OK(); got != "ours" {
		t.Errorf("another member reads %q", got)
	}
	if r := member(1001, "rm -f "+file); r.Code == 0 || !strings.Contains(r.Stderr, "Permission denied") {
		t.Errorf("another member removes it: %d %s", r.Code, r.Stderr)
	}
	member(1002, "rm -f "+file).OK()
	if r := member(1001, "cat "+file); r.Code == 0 {
		t.Error("it is not removed")
	}
}
