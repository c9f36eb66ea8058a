package fs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxfs/ctxfs/pack/builder"
	"github.com/ctxfs/ctxfs/session"
)

// mounted is a mount served by the test process. The process never touches it
// itself: a shell does, and the test looks at what it printed.
type mounted struct {
	t     *testing.T
	dir   string
	store *session.Store
	srv   *Server
}

func mountStore(t *testing.T) *mounted {
	t.Helper()
	return mountWith(t, builder.Config{Budget: 32000})
}

// mountWith is mountStore with packs of its own kind.
func mountWith(t *testing.T, c builder.Config) *mounted {
	t.Helper()
	dir := t.TempDir()
	store, err := session.Open(filepath.Join(dir, "store"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	packs, err := builder.NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	mnt := filepath.Join(dir, "mnt")
	if err := os.Mkdir(mnt, 0o755); err != nil {
		t.Fatal(err)
	}
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		os.Chmod(d, 0o755) // other uids walk through it
	}
	srv, err := Mount(context.Background(), Options{Store: store, Builder: packs, Mountpoint: mnt, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Shutdown(5 * time.Minute); err != nil {
			t.Error(err)
		}
	})
	return &mounted{t: t, dir: mnt, store: store, srv: srv}
}

// sh runs a script as uid with the mount as its directory, and gives what it printed.
func (m *mounted) sh(uid int, script string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "cd \"$M\" || exit 9\n"+script)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "M="+m.dir, "LC_ALL=C", fmt.Sprintf("UIDN=%d", uid), "HOME=/tmp")
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); ctx.Err() != nil {
		m.t.Fatalf("the script hangs: %v\n%s", err, out.String())
	}
	return out.String()
}

// py runs a python script in a new session of uid.
func (m *mounted) py(uid int, script string) string {
	m.t.Helper()
	return m.sh(uid, newSessionScript+"python3 - <<'PY'\nimport os, errno\n"+script+"\nPY")
}

// newSessionScript makes a session with one message and goes there.
const newSessionScript = `S=home/$(id -u)/agent/coder/session/s$RANDOM$RANDOM
mkdir -p $S && cd $S && echo '{"role":"user","content":"hi"}' >> messages.jsonl || exit 8
`

func (m *mounted) expect(got, want string) {
	m.t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		m.t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestMkdirOfAWholePathMakesASessionComplete(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`ls; ls context; cat context/pack.md; stat -c '%a %s %h' messages.jsonl . context/pack.md | head -1; ls $M/home; cd ..; mkdir 'a b' 2>&1 | grep -o 'Invalid.*'; ls $M/home/4294967295 $M/home/01 2>&1 | grep -c 'No such'`)
	m.expect(got, fmt.Sprintf(`context
created_at
cwd
events.jsonl
latest.md
messages.jsonl
meta.json
state
updated_at
at
budget
child
decisions.jsonl
dedup
errors.jsonl
facts.jsonl
gc.policy
gc.report
journal.jsonl
line
pack.anthropic.json
pack.gemini.json
pack.genai.json
pack.json
pack.md
pack.openai.json
pack.report.md
pack.responses.json
packs.jsonl
pinned
refs.jsonl
requests.md
search
search.recent
served
summaries
summary.md
summary.request
swap
todo.md
# Context Block: conversation
## 1 user
hi
600 31 1
%d
Invalid argument
2`, os.Geteuid()))
}

func TestHistoryIsAppendOnly(t *testing.T) {
	m := mountStore(t)
	got := m.py(os.Geteuid(), `
L = "messages.jsonl"
def want(what, fn):
    try: fn(); print(what, "ok")
    except OSError as e: print(what, errno.errorcode[e.errno])
good = b'{"role":"user","content":"%d"}\n'
def write(data, flags=os.O_APPEND, at=None):
    fd = os.open(L, os.O_WRONLY|flags)
    try:
        if at is not None: os.lseek(fd, at, 0)
        os.write(fd, data)
    finally: os.close(fd)
size = os.path.getsize(L)
want("append", lambda: write(good % 1))
want("at the end", lambda: write(good % 2, 0, os.path.getsize(L)))
want("below the end", lambda: write(good % 3, 0, 0))
want("O_TRUNC", lambda: os.close(os.open(L, os.O_WRONLY|os.O_TRUNC)))
want("O_TRUNC empty", lambda: os.close(os.open("events.jsonl", os.O_WRONLY|os.O_TRUNC)))
want("truncate", lambda: os.truncate(L, 0))
want("truncate to size", lambda: os.truncate(L, os.path.getsize(L)))
want("O_RDWR", lambda: os.close(os.open(L, os.O_RDWR)))
want("unlink", lambda: os.unlink(L))
want("rename", lambda: os.rename(L, "x"))
open("x.tmp", "w").close()
want("rename over", lambda: os.rename("x.tmp", L))
want("link", lambda: os.link(L, "l"))
want("chmod same", lambda: os.chmod(L, 0o600))
want("chmod", lambda: os.chmod(L, 0o644))
want("chown", lambda: os.chown(L, 7, 7))
want("utime", lambda: os.utime(L, (1, 1)))
want("touch", lambda: os.utime(L))
want("fallocate", lambda: os.posix_fallocate(os.open(L, os.O_WRONLY), 0, 1<<20))
import mmap
def shared():
    fd = os.open(L, os.O_RDONLY); mmap.mmap(fd, 10, mmap.MAP_SHARED, mmap.PROT_READ)
want("mmap shared", shared)
want("xattr", lambda: os.setxattr(L, "user.ctx.lines", b"1"))
want("rmdir", lambda: os.rmdir("context"))
print(open(L).read().count("\n"), os.getxattr(L, "user.ctx.lines").decode())
`)
	owned := "EPERM"
	m.expect(got, `append ok
at the end ok
below the end EPERM
O_TRUNC EPERM
O_TRUNC empty ok
truncate EPERM
truncate to size EPERM
O_RDWR ok
unlink EPERM
rename EPERM
rename over EPERM
link EPERM
chmod same ok
chmod EPERM
chown `+owned+`
utime EPERM
touch ok
fallocate EPERM
mmap shared ENODEV
xattr EPERM
rmdir EPERM
3 3`)
}

// A buffered writer that was refused sends its whole buffer again when it is closed.
func TestRefusedWriteSentAgainIsNotTakenTwice(t *testing.T) {
	m := mountStore(t)
	got := m.py(os.Geteuid(), `
f = open("messages.jsonl", "ab")
f.write(b'{"role":"user","content":"once"}\nnope\n')
for step in (f.flush, f.close):
    try: step(); print("ok")
    except OSError as e: print(errno.errorcode[e.errno])
print(open("messages.jsonl").read().count("once"))
`)
	m.expect(got, "EINVAL\nEINVAL\n1")
}

func TestRecordInPiecesAndForks(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`
exec 3>>messages.jsonl
printf '{"role":' >&3; (true); printf '"user","content":"split"}\n' >&3
printf '{"role":"user","content":"no newline"}' >&3
exec 3>&-
jq -r .content messages.jsonl
head -c 3000000 /dev/zero | tr '\0' x > /tmp/big.$$; { printf '{"role":"user","content":"'; cat /tmp/big.$$; printf '"}\n'; } > /tmp/rec.$$
cat /tmp/rec.$$ >> messages.jsonl; tail -n 1 messages.jsonl | cmp - /tmp/rec.$$ && echo whole; rm /tmp/big.$$ /tmp/rec.$$`)
	m.expect(got, "hi\nsplit\nno newline\nwhole")
}

// The tail of a record above the limit must not pass for something else: the kernel hides the errno
// of the request that crossed it.
func TestRecordAboveTheLimitInOneSplitWrite(t *testing.T) {
	m := mountStore(t)
	got := m.py(os.Geteuid(), `
fd = os.open("messages.jsonl", os.O_WRONLY|os.O_APPEND)
data = memoryview(b'{"role":"user","content":"' + b"x" * (17<<20) + b'"}\n')
try:
    while len(data): data = data[os.write(fd, data):]
    print("taken")
except OSError as e: print(errno.errorcode[e.errno])
print(os.write(fd, b'{"role":"user","content":"after"}\n'))
os.close(fd)
print(open("messages.jsonl").read().count("\n"))
`)
	m.expect(got, "EMSGSIZE\n34\n2")
}

func TestARenamedSessionGoesOnUnderItsNewName(t *testing.T) {
	m := mountStore(t)
	got := m.sh(os.Geteuid(), newSessionScript+`
A=$M/home/$(id -u)/agent; S=$PWD; name=${S##*/}
before=$(stat -c %i messages.jsonl)
exec 3>>messages.jsonl
echo keep > context/pinned/p.md
mkdir -p $A/other/session/taken
cd /
mv $S $S-new && ls ${S%/*} | sed s/$name/s1/
mv -T $S-new $A/other/session/moved && ls $A/other/session
echo '{"role":"user","content":"written under the old name"}' >&3; exec 3>&-
cd $A/other/session/moved
[ $before = $(stat -c %i messages.jsonl) ] && echo same inode
echo '{"role":"user","content":"and under the new one"}' >> messages.jsonl
echo active > state; cat state
grep -c . messages.jsonl; grep -A1 -E 'pinned|## ' context/pack.md
cd ..
mv -T moved taken 2>&1 | grep -o 'File exists'
mv moved 'a b' 2>&1 | grep -o 'cannot move' # mv takes EINVAL for a move into itself
mv moved $M/home/$(id -u)/agent/other/ 2>&1 | grep -o 'not permitted'
mv $A/other $A/third 2>&1 | grep -o 'not permitted'
rmdir moved 2>&1 | grep -o 'not permitted'; tail -n 1 moved/context/errors.jsonl | grep -o '"op.*'`)
	m.expect(got, `s1-new
moved
taken
same inode
active
3
# Context Block: pinned/p.md
keep
--
## 1 user
hi
## 2 user
written under the old name
## 3 user
and under the new one
File exists
cannot move
not permitted
not permitted
not permitted
"op":"rmdir","path":"","errno":"EPERM","reason":"a session is history; its owner removes it with ctxfs session rm"}`)
}
